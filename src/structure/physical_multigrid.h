// physical_multigrid.h - the lattice on ever coarser levels, and one cycle over them.
//
// Layer: structure (internal). A node of a coarse level is a group of nodes that moves as one rigid body:
// 4^3 cells at first, then 2^3 groups, cut where bonds do not hold them together. What lies between two
// groups is a bundle of faces, and all that counts of them is six sums (number, first and second moments of
// their places, each face weighted with its stiffness), which add up level by level. Coarse operators are
// halved at each level: rigid groups make a lattice too stiff, and so the correction comes out about right.
//
// A cycle: smooth, restrict what is left, solve coarse, add, smooth. The smoother is a Chebyshev polynomial
// of degree 3 over [0.1, 1] of the system reduced to the black nodes, framed by exact half sweeps. On the
// finest level of a large structure it works chunk by chunk, so that a chunk is smoothed in the cache: each
// half sweep as far as neighbours in later chunks do not matter yet; what had to wait in earlier chunks goes
// on with the chunk that it waited for. Threads share a few *waves* of chunks; along their borders the rest
// is done at the end. That gives the same as sweeps over all. Each coarse level is solved by two steps of
// conjugate gradients with the next cycle as preconditioner (a K-cycle), the coarsest by its inverse.
//
// After an edit the bundles it touches are changed on every level, and the matrices they are part of: groups
// stay as they are. Where an edit would need other groups or bundles than there are, the levels are *stale*:
// still good enough around the edit, but to be built anew before the next solve of the whole.
//
// A *region* is a set of bricks that may move while all else is held. A cycle over it goes through its nodes
// on the two finest levels, with the matrices there are: what is held counts like the ground.
//
// Rejected: V-cycles (twice the iterations), groups of 2^3 from the start (more work a cycle), smoothed
// aggregation (coarse operators lose their short form). Source: Notay, "An aggregation-based algebraic
// multigrid method", ETNA 37 (2010); Briggs et al., A Multigrid Tutorial.
// Numbers: float; what is summed up over nodes is double, in fixed chunks, so that threads do not matter.
// Tests: tests/structure/physical_solver_test.cpp
#pragma once

#include "math/simd.h"
#include "structure/physical_lattice.h"

#include <vector>

namespace talus::physical {

/// Six numbers of a node.
struct alignas(32) Six {
    float v[8];
};
using Field = std::vector<Six, Unset<Six>>;
/// A 6 x 6 matrix as six columns of eight.
struct alignas(32) Matrix6 {
    float column[6][8];
};

/// A run of red nodes and a run of black ones.
struct Chunk {
    std::uint32_t red, red_end, black, black_end;
};

/// Bricks that may move while all else is held, as runs of nodes.
struct Region {
    std::vector<Chunk> nodes, groups;          // of the finest level, of the next
    std::vector<Chunk> border, border_groups;  // of bricks bonded to these
};

class Multigrid {
 public:
    void build(const Lattice& lattice, JobSystem* jobs);
    /// x = about K^-1 b on the finest level, or on a region of it: outside b is not read nor x written, x
    /// must be zero on the border.
    void precondition(const Six* b, Six* x, const Region* region = nullptr);
    /// Scratch on the border of a region becomes zero, as cycles over the region need it.
    void clear_border(const Region& region);

    // Edits. After a lattice was relinked: first adopt() what came back, then change() for every face that
    // came or went, then refresh().
    /// A node that came back joins the group of a block it is bonded to.
    void adopt(std::uint32_t brick, int bit);
    /// Adds (sign 1) or takes away (-1) a face.
    void change(const Link& link, double sign);
    void refresh(std::uint32_t brick);
    /// Whether the levels should be built anew before the whole is solved.
    bool stale() const { return stale_; }
    /// The groups of a brick on the second level; empty when there are none.
    Chunk groups_of(std::uint32_t brick) const;
    std::size_t bytes() const;
    std::size_t levels() const { return levels_.size(); }

 private:
    // All bonds between two groups in one plane.
    struct Bundle {
        std::uint32_t node, other;  // other: kGroundEnd for what does not move. node is on the low side, or
                                    // the only one
        std::uint32_t next;         // of the same node
        std::uint32_t entry, other_entry;  // halves of `pulls`
        std::int32_t faces;
        std::uint8_t axis;
        bool changed;
        double plane;                     // coordinate along the axis
        double weight, b, c, bb, cc, bc;  // sums over the faces of s, s b, s c, s b b, s c c, s b c
        bool joins(const Bundle& o) const {
            return node == o.node && other == o.other && axis == o.axis && plane == o.plane;
        }
        void add(const Bundle& o) {
            faces += o.faces;
            weight += o.weight;
            b += o.b;
            c += o.c;
            bb += o.bb;
            cc += o.cc;
            bc += o.bc;
        }
    };
    struct Point {  // a pin
        std::uint32_t node;
        double at[3], stiffness[3];
    };
    struct alignas(16) Arm {
        float v[4];
    };
    // What two neighbours along one axis do to a node: one in the lower four lanes, one in the upper; weight
    // 0 where there is none. Arms reach from the ends to the middle of the bundle's faces.
    struct alignas(32) Pull {
        float from[8];  // arm of the neighbour, weight
        float mine[8];  // arm of the node, what turning across one way does to the other
        float turn[8];  // own springs for turning, zero
    };
    struct Level {
        std::uint32_t nodes = 0, reds = 0;
        std::vector<Chunk> chunks;  // no group of the next level is in two of them
        // Scratch: steps of red nodes and of black ones, and a zero; the residual of black ones, and a zero.
        Field d, s;
        // To the next level.
        std::vector<std::uint32_t> parent;
        std::vector<Arm> arm;  // from the parent's place
        // All but the finest.
        Field b;
        std::vector<std::uint32_t> natural;  // in Morton order
        std::vector<Cell> brick;
        std::vector<double> place;  // 3 a node
        std::vector<Bundle> bundles;
        std::vector<Point> points;
        std::vector<std::uint32_t> row;               // of `pulls`, for each node and axis
        std::vector<std::uint32_t> column;            // two for each pull
        std::vector<std::uint32_t> touch_row, touch;  // the bundles of each node
        std::vector<std::uint32_t> changed;           // bundles, since the last refresh
        std::vector<Pull> pulls;
        std::vector<Matrix6> inverse, matrix;
        Field z1, q1, z2, q2;
    };
    struct Kind {         // of a class of the lattice
        Matrix6 inverse;  // of the own stiffness
        Six diagonal;     // the inverse where it is diagonal, lane 3 then says so
        Six scale;        // as Lattice::Class
    };
    struct Fine;
    struct Coarse;
    struct Wave;
    template <class View>
    struct Sweeps;

    void cut_chunks();
    void cut_waves();
    void plan(Wave& wave, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& beside);
    void coarsen_finest();
    void coarsen(std::size_t l);
    void add_bundle(Level& coarse, std::vector<std::uint32_t>& first, Bundle bundle);
    void place_nodes(Level& fine, Level& coarse, const std::vector<std::uint32_t>& child_parent);
    Bundle bundle_of(const Link& link) const;
    void assemble(Level& level);
    void couple(Level& level, const Bundle& bundle);
    void set_own(Level& level, std::size_t node);
    void add_kind();
    void invert_coarsest();
    template <int Last, class F>
    void half_sweeps(std::size_t l, const Region* region, const F& f);
    template <class View>
    void cycle(const View& view, std::size_t l, const Six* b, Six* x, Six* q, const Region* region);
    void cycle(std::size_t l, const Six* b, Six* x, Six* q, const Region* region);
    const Six* solve_coarse(std::size_t l, const Region* region);
    void solve_dense(const Six* b, Six* x);
    template <class F>
    void over(std::size_t l, const Region* region, F&& f);
    void dots(std::size_t l, const Region* region, const Six* a, const Six* b, const Six* c, const Six* d,
              double& ab, double& cd);

    const Lattice* lattice_ = nullptr;
    JobSystem* jobs_ = nullptr;
    std::vector<Level> levels_;
    std::vector<Kind> kinds_;
    // Large structures: a run of chunks that are smoothed one after the other.
    static constexpr int kHalfSweeps = 9;  // at most, see half_sweeps()
    struct Wave {
        std::size_t chunk = 0, chunk_end = 0;
        // Nodes that wait for a chunk after their own, by that chunk and half sweep; then those that wait for
        // other waves, by half sweep. And where each of these runs begins.
        std::vector<std::uint32_t> late, row;
    };
    std::vector<Wave> waves_;
    std::vector<std::uint8_t> early_;  // of each node: half sweeps that go with its own chunk
    std::vector<Chunk> groups_;        // on the second level, for each brick
    std::vector<float> dense_;         // inverse of the coarsest level
    std::vector<double> dense_work_;
    std::vector<float> dense_sum_;
    std::vector<double> partial_;
    bool stale_ = false, dense_old_ = false;
};

/// Inverse of a symmetric positive 6 x 6 matrix (row-major). @return false when it has none
bool invert6(const double (&a)[36], double (&out)[36]);
/// The part of the stiffness matrix that a block has from its own motion, pins included.
void own_stiffness(const Lattice& lattice, const Lattice::Class& c, double (&out)[36]);

}  // namespace talus::physical
