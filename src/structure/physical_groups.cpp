// How the levels are made: groups of nodes, bundles of faces, coarse matrices.
#include "structure/physical_multigrid.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace talus::physical {

namespace {

constexpr double kCoarseScale = 0.5;
constexpr std::uint32_t kChunkNodes = 2048;
constexpr std::uint32_t kCacheNodes = 100'000;  // with more, the finest level goes chunk by chunk
constexpr std::uint32_t kCacheChunk = 12'000;
constexpr std::size_t kWaves = 8;
constexpr std::uint32_t kCoarsest = 32;
constexpr std::size_t kPiece = 256;  // nodes or bundles, for threads
constexpr std::uint32_t kNoBundle = 0xffffffffu;

// Lane of a component in eight.
constexpr int lane_of(int k) { return k < 3 ? k : k + 1; }

void store6(Matrix6& out, const double* m) {
    std::memset(&out, 0, sizeof out);
    for (int c = 0; c < 6; c++)
        for (int r = 0; r < 6; r++) out.column[c][lane_of(r)] = float(m[6 * r + c]);
}

// out += T(p)^T k T(q), with T(a) the motion at arm a of a body (u + theta x a, theta): the force on a body
// with arm p from the motion of one with arm q. k: three springs, and a symmetric 3 x 3 for turning.
void add_springs(const double (&k)[3], const double (&turn)[3][3], const double (&p)[3], const double (&q)[3],
                 double* out) {
    for (int j = 0; j < 6; j++) {
        double u[3] = {}, theta[3] = {};
        (j < 3 ? u[j] : theta[j - 3]) = 1;
        const double f[3] = {k[0] * (u[0] + theta[1] * q[2] - theta[2] * q[1]),
                             k[1] * (u[1] + theta[2] * q[0] - theta[0] * q[2]),
                             k[2] * (u[2] + theta[0] * q[1] - theta[1] * q[0])};
        const double m[3] = {p[1] * f[2] - p[2] * f[1], p[2] * f[0] - p[0] * f[2], p[0] * f[1] - p[1] * f[0]};
        for (int i = 0; i < 3; i++) {
            out[6 * i + j] += f[i];
            out[6 * (3 + i) + j] +=
                m[i] + turn[i][0] * theta[0] + turn[i][1] * theta[1] + turn[i][2] * theta[2];
        }
    }
}

template <class V>
void release(V& v) {
    V().swap(v);
}

// What is joined to the first place of `rest` inside a brick, over bonds `inner` towards +x, +y, +z.
Word held_together(Word rest, Word free, const Word (&inner)[3]) {
    Word group = rest & (~rest + 1), before = 0;
    while (group != before) {
        before = group;
        for (int a = 0; a < 3; a++) {
            group |= (group & inner[a]) << kShift[a];
            group |= (group >> kShift[a]) & inner[a];
        }
        group &= free;
    }
    return group;
}

std::uint32_t root_of(std::vector<std::uint32_t>& up, std::uint32_t i) {
    while (up[i] != i) i = up[i] = up[up[i]];
    return i;
}

}  // namespace

bool invert6(const double (&a)[36], double (&out)[36]) {
    double m[6][12];
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            m[i][j] = a[6 * i + j];
            m[i][6 + j] = i == j;
        }
    for (int c = 0; c < 6; c++) {
        if (!(m[c][c] > 1e-12)) return false;
        const double s = 1 / m[c][c];
        for (int j = 0; j < 12; j++) m[c][j] *= s;
        for (int r = 0; r < 6; r++) {
            if (r == c) continue;
            const double t = m[r][c];
            for (int j = 0; j < 12; j++) m[r][j] -= t * m[c][j];
        }
    }
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) out[6 * i + j] = m[i][6 + j];
    return true;
}

void own_stiffness(const Lattice& lattice, const Lattice::Class& c, double (&out)[36]) {
    std::memset(out, 0, sizeof out);
    for (int k = 0; k < 6; k++) {
        const double s = c.all_scale[k];
        if (s == 0) continue;
        const int axis = k / 2;
        double arm[3] = {}, springs[3] = {s * kShear, s * kShear, s * kShear}, turn[3][3] = {};
        arm[axis] = k & 1 ? -0.5 : 0.5;
        springs[axis] = s * kAxial;
        for (int i = 0; i < 3; i++) turn[i][i] = s * (i == axis ? kTwist : kBend);
        add_springs(springs, turn, arm, arm, out);
    }
    if (c.pinned == kGroundEnd) return;
    for (const Pin& pin : lattice.pins) {
        if (pin.node != c.pinned) continue;
        const Cell at = lattice.cell[pin.node];
        const double arm[3] = {pin.at[0] - at.x - 0.5, pin.at[1] - at.y - 0.5, pin.at[2] - at.z - 0.5};
        add_springs(pin.stiffness, {}, arm, arm, out);
    }
}

void Multigrid::build(const Lattice& lattice, JobSystem* jobs) {
    lattice_ = &lattice;
    jobs_ = jobs;
    levels_.clear();
    dense_.clear();
    groups_.assign(lattice.bricks.size(), {});
    stale_ = dense_old_ = false;
    kinds_.clear();
    kinds_.reserve(lattice.classes.capacity());
    while (kinds_.size() < lattice.classes.size()) add_kind();
    levels_.emplace_back();
    levels_.reserve(24);  // references stay valid
    Level& finest = levels_[0];
    finest.nodes = lattice.nodes;
    finest.reds = lattice.reds;
    cut_chunks();
    clear_field(jobs, finest.d, lattice.nodes + 1);
    clear_field(jobs, finest.s, lattice.nodes - lattice.reds + 1);
    if (lattice.nodes > 1) coarsen_finest();
    for (std::size_t l = 1; l < levels_.size() && levels_[l].nodes > kCoarsest && l < 20; l++) coarsen(l);
    if (levels_.size() > 1) invert_coarsest();
    // Needed to make the next level only.
    for (Level& level : levels_) {
        release(level.natural);
        release(level.brick);
    }
}

void Multigrid::add_kind() {
    const Lattice::Class& c = lattice_->classes[kinds_.size()];
    Kind& kind = kinds_.emplace_back();
    kind = {};
    double own[36], inverse[36] = {};
    own_stiffness(*lattice_, c, own);
    if (!invert6(own, inverse)) std::memset(inverse, 0, sizeof inverse);
    store6(kind.inverse, inverse);
    bool is_diagonal = true;
    for (int r = 0; r < 6; r++)
        for (int k = 0; k < 6; k++) is_diagonal = is_diagonal && (r == k || inverse[6 * r + k] == 0);
    for (int k = 0; k < 6 && is_diagonal; k++) kind.diagonal.v[lane_of(k)] = float(inverse[7 * k]);
    kind.diagonal.v[3] = is_diagonal ? 1 : 0;
    for (int k = 0; k < 6; k++) kind.scale.v[k] = c.scale[k];
}

// Of the finest level: runs of bricks.
void Multigrid::cut_chunks() {
    const Lattice& lattice = *lattice_;
    std::vector<Chunk>& chunks = levels_[0].chunks;
    const std::uint32_t size = lattice.nodes > kCacheNodes ? kCacheChunk : kChunkNodes;
    chunks.push_back({0, 0, lattice.reds, 0});
    for (const Brick& b : lattice.bricks) {
        Chunk& last = chunks.back();
        if (!b.node || b.red - last.red + b.black - last.black < size) continue;
        last.red_end = b.red;
        last.black_end = b.black;
        chunks.push_back({b.red, 0, b.black, 0});
    }
    chunks.back().red_end = lattice.reds;
    chunks.back().black_end = lattice.nodes;
    waves_.clear();
    early_.clear();
    if (lattice.nodes > kCacheNodes) cut_waves();
}

// What each half sweep waits for: a node may take its k-th when all that lies up to k steps from it can be
// seen, so with the last of these chunks.
void Multigrid::cut_waves() {
    const std::vector<Chunk>& chunks = levels_[0].chunks;
    waves_.resize(kWaves < chunks.size() ? kWaves : chunks.size());
    for (std::size_t w = 0; w < waves_.size(); w++) {
        waves_[w].chunk = chunks.size() * w / waves_.size();
        waves_[w].chunk_end = chunks.size() * (w + 1) / waves_.size();
    }
    // A place without a block counts as if there were one: it may come back.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> beside;
    for (std::uint32_t i = 0; i + 1 < lattice_->bricks.size(); i++)
        for (Word w = lattice_->bricks[i].node & ~lattice_->bricks[i].free; w; w &= w - 1)
            for (int k = 0; k < 6; k++) {
                const Brick& b = lattice_->bricks[i];
                const int bit = std::countr_zero(w);
                const auto [to, at] = lattice_->beside({i, bit}, k);
                const Brick& other = lattice_->bricks[to];
                if (!(other.node >> at & 1)) continue;
                const std::uint32_t n = lattice_->node_of(b, bit), o = lattice_->node_of(other, at);
                beside.push_back({n, o});
                beside.push_back({o, n});
            }
    std::sort(beside.begin(), beside.end());
    early_.assign(lattice_->nodes, 0);
    in_parallel(jobs_, waves_.size(), [&](std::size_t w) { plan(waves_[w], beside); });
}

void Multigrid::plan(Wave& wave, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& beside) {
    const std::vector<Chunk>& chunks = levels_[0].chunks;
    const std::size_t count = wave.chunk_end - wave.chunk;
    const Chunk first = chunks[wave.chunk], last = chunks[wave.chunk_end - 1];
    // For both colours, of each node: the chunk, counted in the wave, that it waits for; `count` for others.
    const std::uint32_t begin[2] = {first.red, first.black}, end[2] = {last.red_end, last.black_end};
    std::vector<std::uint16_t> own[2], waits[2];
    for (int colour = 0; colour < 2; colour++) {
        own[colour].resize(end[colour] - begin[colour]);
        for (std::size_t c = 0; c < count; c++) {
            const Chunk& chunk = chunks[wave.chunk + c];
            const std::uint32_t from = colour ? chunk.black : chunk.red;
            const std::uint32_t to = colour ? chunk.black_end : chunk.red_end;
            for (std::uint32_t i = from; i < to; i++) own[colour][i - begin[colour]] = std::uint16_t(c);
        }
        waits[colour] = own[colour];
    }
    struct Late {
        std::uint32_t node;
        std::uint16_t chunk, half_sweep;
    };
    std::vector<Late> late;
    wave.row.assign((count + 1) * kHalfSweeps + 1, 0);
    const std::uint32_t none = lattice_->nodes;
    for (int k = 0; k < kHalfSweeps; k++) {
        const int colour = k & 1;
        const std::uint32_t low = begin[1 - colour], size = end[1 - colour] - low;
        const std::uint16_t* const seen = waits[1 - colour].data();
        auto extra = std::lower_bound(beside.begin(), beside.end(), std::pair{begin[colour], 0u});
        for (std::uint32_t i = begin[colour]; i < end[colour]; i++) {
            std::uint16_t& wait = waits[colour][i - begin[colour]];
            const std::uint16_t mine = own[colour][i - begin[colour]];
            const auto look = [&](std::uint32_t n) {
                if (n == none) return;
                const std::uint16_t there = n - low < size ? seen[n - low] : std::uint16_t(count);
                wait = there > wait ? there : wait;
            };
            if (k)
                for (const std::uint32_t* n = &lattice_->neighbour[6 * std::size_t(i)];
                     n != &lattice_->neighbour[6 * std::size_t(i)] + 6; n++)
                    look(*n);
            for (; extra != beside.end() && extra->first == i; ++extra)
                if (k) look(extra->second);
            if (wait == mine) {
                early_[i] = std::uint8_t(k + 1);
            } else {
                late.push_back({i, wait, std::uint16_t(k)});
                wave.row[std::size_t(wait) * kHalfSweeps + std::size_t(k) + 1]++;
            }
        }
    }
    for (std::size_t r = 1; r < wave.row.size(); r++) wave.row[r] += wave.row[r - 1];
    std::vector<std::uint32_t> to(wave.row.begin(), wave.row.end() - 1);
    wave.late.resize(late.size());
    for (const Late& l : late) wave.late[to[std::size_t(l.chunk) * kHalfSweeps + l.half_sweep]++] = l.node;
}

// Nodes come in Morton order; `child_parent` in the same order, numbered in the order of first sight.
void Multigrid::place_nodes(Level& fine, Level& coarse, const std::vector<std::uint32_t>& child_parent) {
    const bool finest = &fine == &levels_[0];
    // Colours: red first.
    std::vector<std::uint32_t> storage(coarse.nodes);
    const auto is_red = [&](std::size_t i) {
        const Cell c = coarse.brick[i];
        return ((c.x ^ c.y ^ c.z) & 1) == 0;
    };
    coarse.reds = 0;
    for (std::size_t i = 0; i < coarse.nodes; i++) coarse.reds += is_red(i);
    std::uint32_t red = 0, black = coarse.reds;
    for (std::size_t i = 0; i < coarse.nodes; i++) storage[i] = is_red(i) ? red++ : black++;
    std::vector<Cell> brick(coarse.nodes);
    for (std::size_t i = 0; i < coarse.nodes; i++) brick[storage[i]] = coarse.brick[i];

    coarse.brick.swap(brick);
    coarse.natural = storage;
    coarse.place.assign(std::size_t(coarse.nodes) * 3, 0);
    fine.parent.resize(fine.nodes);
    fine.arm.resize(fine.nodes);
    std::vector<std::uint32_t> count(coarse.nodes, 0);
    std::vector<std::uint32_t> order;
    if (finest) {
        order.reserve(fine.nodes);
        for (const Brick& b : lattice_->bricks)
            for (Word w = b.node; w; w &= w - 1) order.push_back(lattice_->node_of(b, std::countr_zero(w)));
    }
    const std::vector<std::uint32_t>& nodes = finest ? order : fine.natural;
    const auto place = [&](std::uint32_t n, double* p) {
        if (finest) {
            const Cell c = lattice_->cell[n];
            p[0] = c.x + 0.5;
            p[1] = c.y + 0.5;
            p[2] = c.z + 0.5;
        } else {
            for (int k = 0; k < 3; k++) p[k] = fine.place[3 * std::size_t(n) + std::size_t(k)];
        }
    };
    double p[3];
    for (std::size_t i = 0; i < nodes.size(); i++) {
        const std::uint32_t to = storage[child_parent[i]];
        fine.parent[nodes[i]] = to;
        place(nodes[i], p);
        for (std::size_t k = 0; k < 3; k++) coarse.place[3 * std::size_t(to) + k] += p[k];
        count[to]++;
    }
    for (std::size_t i = 0; i < coarse.nodes; i++)
        for (std::size_t k = 0; k < 3; k++) coarse.place[3 * i + k] /= count[i];
    for (std::uint32_t n = 0; n < fine.nodes; n++) {
        place(n, p);
        const double* q = &coarse.place[3 * std::size_t(fine.parent[n])];
        for (int k = 0; k < 3; k++) fine.arm[n].v[k] = float(p[k] - q[k]);
        fine.arm[n].v[3] = 0;
    }
}

void Multigrid::add_bundle(Level& coarse, std::vector<std::uint32_t>& first, Bundle bundle) {
    std::uint32_t at = first[bundle.node];
    while (at != kNoBundle && !coarse.bundles[at].joins(bundle)) at = coarse.bundles[at].next;
    if (at == kNoBundle) {
        bundle.next = first[bundle.node];
        first[bundle.node] = std::uint32_t(coarse.bundles.size());
        coarse.bundles.push_back(bundle);
    } else {
        coarse.bundles[at].add(bundle);
    }
}

void Multigrid::coarsen_finest() {
    const Lattice& lattice = *lattice_;
    levels_.emplace_back();
    Level &fine = levels_[0], &coarse = levels_[1];
    std::vector<std::uint32_t> child_parent(fine.nodes);
    std::size_t next = 0;
    std::vector<std::uint32_t> first_group(lattice.bricks.size() + 1);
    for (std::size_t i = 0; i < lattice.bricks.size(); i++) {
        const Brick& b = lattice.bricks[i];
        const std::uint32_t begin = coarse.nodes;
        first_group[i] = begin;
        if (!b.node) continue;
        Word inner[3];
        for (int a = 0; a < 3; a++) inner[a] = lattice.bonds(b, a) & ~kLast[a] & b.free;
        for (Word rest = b.free; rest;) {
            const Word group = held_together(rest, b.free, inner);
            // Children in order of bits; their places in the Morton order are base + rank.
            for (Word w = group; w; w &= w - 1) {
                const int bit = std::countr_zero(w);
                child_parent[next + std::size_t(std::popcount(b.node & ((Word(1) << bit) - 1)))] =
                    coarse.nodes;
            }
            coarse.nodes++;
            coarse.brick.push_back(b.coord);
            rest &= ~group;
        }
        // What may come back counts with the first group until it does.
        for (Word w = b.node & ~b.free; w; w &= w - 1)
            child_parent[next + std::size_t(std::popcount(b.node & ((w & (~w + 1)) - 1)))] = begin;
        next += std::size_t(std::popcount(b.node));
    }
    first_group.back() = coarse.nodes;
    place_nodes(fine, coarse, child_parent);
    for (std::size_t i = 0; i < lattice.bricks.size(); i++) {
        const std::uint32_t count = first_group[i + 1] - first_group[i];
        if (!count) continue;
        const std::uint32_t at = coarse.natural[first_group[i]];  // all of a brick have its colour
        if (at < coarse.reds)
            groups_[i] = {at, at + count, 0, 0};
        else
            groups_[i] = {0, 0, at, at + count};
    }

    // All faces of a bundle have their low end in the same brick.
    std::vector<std::vector<Bundle>> bundles((lattice.bricks.size() + kPiece - 1) / kPiece);
    in_parallel(jobs_, bundles.size(), [&](std::size_t piece) {
        std::vector<Bundle>& found = bundles[piece];
        for (std::size_t b = piece * kPiece; b + 1 < lattice.bricks.size() && b < (piece + 1) * kPiece; b++) {
            const std::size_t begin = found.size();
            lattice.for_each_link_in(std::uint32_t(b), [&](const Link& link) {
                const Bundle bundle = bundle_of(link);
                if (bundle.node == bundle.other) return;
                std::size_t at = found.size();
                while (at > begin && !found[at - 1].joins(bundle)) at--;
                if (at > begin)
                    found[at - 1].add(bundle);
                else
                    found.push_back(bundle);
            });
        }
    });
    std::size_t total = 0;
    for (const auto& found : bundles) total += found.size();
    coarse.bundles.reserve(total);
    for (const auto& found : bundles) coarse.bundles.insert(coarse.bundles.end(), found.begin(), found.end());
    for (const Pin& pin : lattice.pins) {
        Point p{fine.parent[pin.node], {}, {}};
        for (int k = 0; k < 3; k++) {
            p.at[k] = pin.at[k];
            p.stiffness[k] = pin.stiffness[k] * kCoarseScale;
        }
        coarse.points.push_back(p);
    }
    assemble(coarse);
}

// A face as a bundle of the second level; node == other when it lies inside a group.
Multigrid::Bundle Multigrid::bundle_of(const Link& link) const {
    const Level& fine = levels_[0];
    const bool low_moves = !(link.low & kFixedEnd), high_moves = !(link.high & kFixedEnd);
    const std::uint32_t i = low_moves ? fine.parent[link.low] : kGroundEnd;
    const std::uint32_t j = high_moves ? fine.parent[link.high] : kGroundEnd;
    const Cell c = cell_of(lattice_->bricks[link.brick].coord, link.bit);
    const int whole[3] = {c.x, c.y, c.z};
    Bundle bundle{};
    bundle.node = low_moves ? i : j;
    bundle.other = low_moves && high_moves ? j : kGroundEnd;
    bundle.faces = 1;
    bundle.axis = std::uint8_t(link.axis);
    bundle.plane = whole[link.axis] + (link.low == kGroundEnd ? 0 : 1);
    const double b = whole[next_axis(link.axis)] + 0.5, d = whole[third_axis(link.axis)] + 0.5;
    const double s = link.scale * kCoarseScale;
    bundle.weight = s;
    bundle.b = s * b;
    bundle.c = s * d;
    bundle.bb = s * b * b;
    bundle.cc = s * d * d;
    bundle.bc = s * b * d;
    return bundle;
}

void Multigrid::coarsen(std::size_t l) {
    Level& fine = levels_[l];
    std::vector<std::uint32_t> up(fine.nodes);
    for (std::uint32_t i = 0; i < fine.nodes; i++) up[i] = i;
    const auto cell = [&](std::uint32_t n) {
        const Cell c = fine.brick[n];
        return Cell{c.x >> 1, c.y >> 1, c.z >> 1};
    };
    for (const Bundle& bundle : fine.bundles) {
        if (bundle.other == kGroundEnd || cell(bundle.node) != cell(bundle.other)) continue;
        const std::uint32_t a = root_of(up, bundle.node), b = root_of(up, bundle.other);
        if (a < b)
            up[b] = a;
        else
            up[a] = b;
    }
    Level coarse;
    std::vector<std::uint32_t> number(fine.nodes, kGroundEnd), child_parent(fine.nodes);
    for (std::size_t i = 0; i < fine.nodes; i++) {
        const std::uint32_t n = fine.natural[i], root = root_of(up, n);
        if (number[root] == kGroundEnd) {
            number[root] = coarse.nodes++;
            coarse.brick.push_back(cell(n));
        }
        child_parent[i] = number[root];
    }
    // Chunks end where the cell of the next level does.
    std::uint32_t red = 0, black = fine.reds;
    fine.chunks.push_back({0, 0, black, 0});
    for (std::size_t i = 0; i < fine.nodes; i++) {
        const std::uint32_t n = fine.natural[i];
        if (i && cell(n) != cell(fine.natural[i - 1])) {
            Chunk& last = fine.chunks.back();
            if (red - last.red + black - last.black >= kChunkNodes) {
                last.red_end = red;
                last.black_end = black;
                fine.chunks.push_back({red, 0, black, 0});
            }
        }
        (n < fine.reds ? red : black)++;
    }
    fine.chunks.back().red_end = fine.reds;
    fine.chunks.back().black_end = fine.nodes;
    if (coarse.nodes * 10 > fine.nodes * 9) return;  // it does not get coarser: many parts, no bonds
    levels_.push_back(std::move(coarse));
    Level &below = levels_[l], &above = levels_[l + 1];
    place_nodes(below, above, child_parent);
    std::vector<std::uint32_t> first(above.nodes, kNoBundle);
    for (Bundle bundle : below.bundles) {
        bundle.node = below.parent[bundle.node];
        if (bundle.other != kGroundEnd) bundle.other = below.parent[bundle.other];
        if (bundle.node == bundle.other) continue;
        for (double* v : {&bundle.weight, &bundle.b, &bundle.c, &bundle.bb, &bundle.cc, &bundle.bc})
            *v *= kCoarseScale;
        add_bundle(above, first, bundle);
    }
    for (Point point : below.points) {
        point.node = below.parent[point.node];
        for (double& s : point.stiffness) s *= kCoarseScale;
        above.points.push_back(point);
    }
    assemble(above);
}

void Multigrid::assemble(Level& level) {
    const std::size_t n = level.nodes;
    // First how many neighbours each node has along each axis, then where its pulls are, two to each.
    std::vector<std::uint32_t> at(3 * n, 0);
    level.touch_row.assign(n + 1, 0);
    for (const Bundle& b : level.bundles) {
        level.touch_row[b.node + 1]++;
        if (b.other == kGroundEnd) continue;
        level.touch_row[b.other + 1]++;
        at[3 * std::size_t(b.node) + b.axis]++;
        at[3 * std::size_t(b.other) + b.axis]++;
    }
    level.row.assign(3 * n + 1, 0);
    for (std::size_t i = 0; i < 3 * n; i++) {
        level.row[i + 1] = level.row[i] + (at[i] + 1) / 2;
        at[i] = 2 * level.row[i];
    }
    for (std::size_t i = 0; i < n; i++) level.touch_row[i + 1] += level.touch_row[i];
    std::vector<std::uint32_t> to(level.touch_row.begin(), level.touch_row.end() - 1);
    level.pulls.assign(level.row[3 * n], {});
    level.column.resize(2 * level.pulls.size());
    level.touch.resize(level.touch_row[n]);
    for (std::uint32_t i = 0; i < level.bundles.size(); i++) {
        Bundle& bundle = level.bundles[i];
        bundle.changed = false;
        level.touch[to[bundle.node]++] = i;
        if (bundle.other == kGroundEnd) continue;
        level.touch[to[bundle.other]++] = i;
        bundle.entry = at[3 * std::size_t(bundle.node) + bundle.axis]++;
        bundle.other_entry = at[3 * std::size_t(bundle.other) + bundle.axis]++;
        level.column[bundle.entry] = bundle.other;
        level.column[bundle.other_entry] = bundle.node;
    }
    // The half without a neighbour looks at the same one, without weight.
    for (std::size_t i = 0; i < 3 * n; i++)
        if (at[i] & 1) level.column[at[i]] = level.column[at[i] - 1];
    level.inverse.resize(n);
    level.matrix.resize(n);
    const auto pieces = [](std::size_t count) { return (count + kPiece - 1) / kPiece; };
    const auto piece = [](std::size_t p, std::size_t count, auto&& f) {
        for (std::size_t i = p * kPiece; i < count && i < (p + 1) * kPiece; i++) f(i);
    };
    in_parallel(jobs_, pieces(level.bundles.size()), [&](std::size_t p) {
        piece(p, level.bundles.size(), [&](std::size_t i) { couple(level, level.bundles[i]); });
    });
    in_parallel(jobs_, pieces(n),
                [&](std::size_t p) { piece(p, n, [&](std::size_t i) { set_own(level, i); }); });
    for (Field* f : {&level.b, &level.z1, &level.q1, &level.z2, &level.q2}) clear_field(jobs_, *f, n);
    clear_field(jobs_, level.d, n + 1);
    clear_field(jobs_, level.s, n - level.reds + 1);
    level.changed.reserve(64);
}

namespace {

// The springs of a bundle, at the middle of its faces.
struct Joint {
    double middle[3], springs[3], turn[3][3] = {};
    void arm(const double* place, double (&out)[3]) const {
        for (int k = 0; k < 3; k++) out[k] = middle[k] - place[k];
    }
};
template <class Bundle>
Joint joint_of(const Bundle& bundle) {
    Joint j;
    const int a = bundle.axis, b = next_axis(a), c = third_axis(a);
    const double w = bundle.weight;
    j.middle[a] = bundle.plane;
    j.middle[b] = bundle.b / w;
    j.middle[c] = bundle.c / w;
    const double bb = bundle.bb - w * j.middle[b] * j.middle[b];
    const double cc = bundle.cc - w * j.middle[c] * j.middle[c];
    const double bc = bundle.bc - w * j.middle[b] * j.middle[c];
    j.springs[a] = kAxial * w;
    j.springs[b] = j.springs[c] = kShear * w;
    j.turn[a][a] = kTwist * w + kShear * (bb + cc);
    j.turn[b][b] = kBend * w + kAxial * cc;
    j.turn[c][c] = kBend * w + kAxial * bb;
    j.turn[b][c] = j.turn[c][b] = -kAxial * bc;
    return j;
}

}  // namespace

// What the ends of a bundle do to each other.
void Multigrid::couple(Level& level, const Bundle& bundle) {
    if (bundle.other == kGroundEnd) return;
    Joint j{};
    double p[3] = {}, q[3] = {}, weight = 0;
    if (bundle.faces > 0) {
        j = joint_of(bundle);
        j.arm(&level.place[3 * std::size_t(bundle.node)], p);
        j.arm(&level.place[3 * std::size_t(bundle.other)], q);
        weight = bundle.weight;
    }
    const int b = next_axis(bundle.axis), c = third_axis(bundle.axis);
    for (const auto& [entry, mine, from] : {std::tuple{bundle.entry, p, q}, {bundle.other_entry, q, p}}) {
        Pull& pull = level.pulls[entry / 2];
        const std::uint32_t half = 4 * (entry & 1);
        for (std::uint32_t k = 0; k < 3; k++) {
            pull.from[half + k] = float(from[k]);
            pull.mine[half + k] = float(mine[k]);
            pull.turn[half + k] = float(j.turn[k][k]);
        }
        pull.from[half + 3] = float(weight);
        pull.mine[half + 3] = float(j.turn[b][c]);
    }
}

// What a node's own motion does to it.
void Multigrid::set_own(Level& level, std::size_t node) {
    double m[36] = {}, inverse[36] = {}, p[3];
    for (std::uint32_t e = level.touch_row[node]; e < level.touch_row[node + 1]; e++) {
        const Bundle& bundle = level.bundles[level.touch[e]];
        if (bundle.faces == 0) continue;
        const Joint j = joint_of(bundle);
        j.arm(&level.place[3 * node], p);
        add_springs(j.springs, j.turn, p, p, m);
    }
    for (const Point& point : level.points) {
        if (point.node != node) continue;
        for (std::size_t k = 0; k < 3; k++) p[k] = point.at[k] - level.place[3 * node + k];
        add_springs(point.stiffness, {}, p, p, m);
    }
    if (!invert6(m, inverse)) std::memset(inverse, 0, sizeof inverse);
    store6(level.matrix[node], m);
    store6(level.inverse[node], inverse);
}

Chunk Multigrid::groups_of(std::uint32_t brick) const {
    return brick < groups_.size() ? groups_[brick] : Chunk{};
}

void Multigrid::adopt(std::uint32_t brick, int bit) {
    if (levels_.size() < 2) return;
    const Brick& b = lattice_->bricks[brick];
    const std::uint32_t n = lattice_->node_of(b, bit);
    Level &fine = levels_[0], &coarse = levels_[1];
    bool found = false;
    lattice_->for_each_side(brick, bit, [&](const Link&, std::uint32_t other, int at) {
        if (found || other != brick || !(b.free >> at & 1)) return;
        fine.parent[n] = fine.parent[lattice_->node_of(b, at)];
        found = true;
    });
    if (!found) stale_ = true;
    const Cell c = lattice_->cell[n];
    const double p[3] = {c.x + 0.5, c.y + 0.5, c.z + 0.5};
    for (int k = 0; k < 3; k++)
        fine.arm[n].v[k] = float(p[k] - coarse.place[3 * std::size_t(fine.parent[n]) + std::size_t(k)]);
}

void Multigrid::change(const Link& link, double sign) {
    if (levels_.size() < 2) return;
    static constexpr double Bundle::*kSums[] = {&Bundle::weight, &Bundle::b,  &Bundle::c,
                                                &Bundle::bb,     &Bundle::cc, &Bundle::bc};
    Bundle face = bundle_of(link);
    for (std::size_t l = 1; l < levels_.size() && face.node != face.other; l++) {
        Level& level = levels_[l];
        Bundle* sum = nullptr;
        for (std::uint32_t e = level.touch_row[face.node]; e < level.touch_row[face.node + 1]; e++) {
            Bundle& have = level.bundles[level.touch[e]];
            if (have.joins(face)) {
                sum = &have;
                if (!have.changed) level.changed.push_back(level.touch[e]);
                break;
            }
        }
        if (!sum) {
            stale_ = true;
            return;
        }
        sum->changed = true;
        sum->faces += sign > 0 ? 1 : -1;
        const bool none = sum->faces == 0;
        for (double Bundle::*v : kSums) sum->*v = none ? 0 : sum->*v + sign * face.*v;
        if (none) stale_ = true;
        if (level.parent.empty()) break;
        face.node = level.parent[face.node];
        if (face.other != kGroundEnd) face.other = level.parent[face.other];
        for (double Bundle::*v : kSums) face.*v *= kCoarseScale;
    }
}

// Matrices of what changed; whether groups still hold together in the brick of an edit.
void Multigrid::refresh(std::uint32_t brick) {
    while (kinds_.size() < lattice_->classes.size()) add_kind();
    if (levels_.size() < 2) return;
    for (std::size_t l = 1; l < levels_.size(); l++) {
        Level& level = levels_[l];
        for (const std::uint32_t i : level.changed) couple(level, level.bundles[i]);
        for (const std::uint32_t i : level.changed) {
            Bundle& bundle = level.bundles[i];
            bundle.changed = false;
            set_own(level, bundle.node);
            if (bundle.other != kGroundEnd) set_own(level, bundle.other);
        }
        if (!level.changed.empty() && l + 1 == levels_.size()) dense_old_ = true;
        level.changed.clear();
    }
    const Brick& b = lattice_->bricks[brick];
    Word inner[3];
    for (int a = 0; a < 3; a++) inner[a] = lattice_->bonds(b, a) & ~kLast[a] & b.free;
    std::uint32_t seen[64];
    int count = 0;
    for (Word rest = b.free; rest && !stale_;) {
        const Word group = held_together(rest, b.free, inner);
        const std::uint32_t parent = levels_[0].parent[lattice_->node_of(b, std::countr_zero(group))];
        for (int i = 0; i < count; i++)
            if (seen[i] == parent) stale_ = true;
        seen[count++] = parent;
        rest &= ~group;
    }
}

// The inverse by elimination; a little on the diagonal for what is held by too few pins.
void Multigrid::invert_coarsest() {
    const Level& level = levels_.back();
    dense_old_ = false;
    if (level.nodes > kCoarsest * 4) return;
    const std::size_t n = level.nodes, m = 6 * n;
    dense_work_.assign(m * m, 0.0);
    dense_sum_.resize(m);
    std::vector<double>& a = dense_work_;
    for (std::size_t i = 0; i < n; i++) {
        for (std::size_t c = 0; c < 6; c++)
            for (std::size_t r = 0; r < 6; r++)
                a[(6 * i + r) * m + 6 * i + c] = double(level.matrix[i].column[c][lane_of(int(r))]);
    }
    for (const Bundle& bundle : level.bundles) {
        if (bundle.other == kGroundEnd || bundle.faces == 0) continue;
        const Joint j = joint_of(bundle);
        const std::size_t i = bundle.node, o = bundle.other;
        double p[3], q[3], pq[36] = {};
        j.arm(&level.place[3 * i], p);
        j.arm(&level.place[3 * o], q);
        add_springs(j.springs, j.turn, p, q, pq);
        for (std::size_t r = 0; r < 6; r++)
            for (std::size_t c = 0; c < 6; c++) {
                a[(6 * i + r) * m + 6 * o + c] -= pq[6 * r + c];
                a[(6 * o + c) * m + 6 * i + r] -= pq[6 * r + c];
            }
    }
    double largest = 0;
    for (std::size_t i = 0; i < m; i++) largest = a[i * m + i] > largest ? a[i * m + i] : largest;
    for (std::size_t i = 0; i < m; i++) a[i * m + i] += 1e-9 * largest;
    for (std::size_t k = 0; k < m; k++) {
        double* pivot_row = &a[k * m];
        const double pivot = 1 / pivot_row[k];
        pivot_row[k] = 1;
        for (std::size_t j = 0; j < m; j++) pivot_row[j] *= pivot;
        for (std::size_t i = 0; i < m; i++) {
            if (i == k) continue;
            double* row = &a[i * m];
            const double t = row[k];
            if (t == 0) continue;
            row[k] = 0;
            for (std::size_t j = 0; j < m; j++) row[j] -= t * pivot_row[j];
        }
    }
    dense_.resize(m * m);
    for (std::size_t i = 0; i < m * m; i++) dense_[i] = float(a[i]);
}

}  // namespace talus::physical
