// mesh.h - triangles to draw for the blocks of a grid.
//
// Layer: mesh. Metres, right-handed, +Y up; triangles wind counter-clockwise seen from outside.
// Faces that a full neighbour hides are left out. Visible faces of full cubes are merged greedily into
// rectangles wherever block colour and ambient occlusion agree (M. Lysenko, Meshing in a Minecraft Game,
// 2012); other shapes are drawn box by box, blocks without a box (plants, torches) as two crossed quads. A
// face is two triangles split along its brighter diagonal, so that occlusion fades evenly. Vertices are four
// a quad, never shared between quads: each has the normal of its face. Merging stops at borders of kMeshChunk
// cells, counted from the grid's origin: a chunk can be meshed again alone and gives the same triangles. An
// edit changes chunks up to one cell away from it. Determinism: the same grid gives the same bytes. Tests:
// tests/mesh/block_mesh_test.cpp
#pragma once

#include "talus/grid.h"
#include "talus/terrain.h"

#include <cstdint>
#include <vector>

namespace talus {

constexpr int kMeshChunk = 16;

/// Vertices side by side, ready to upload.
struct Mesh {
    std::vector<float> positions;      ///< x y z
    std::vector<float> normals;        ///< x y z, unit
    std::vector<std::uint8_t> colors;  ///< r g b a; a is ambient occlusion, 255 open .. 0 closed
    std::vector<std::uint32_t> indices;

    std::size_t vertex_count() const { return positions.size() / 3; }
    bool empty() const { return indices.empty(); }
    void clear();
    void append(const Mesh& other);
};

/// Appends the triangles of every block inside `cells`; neighbours outside hide and darken as they should.
/// @param cell_size  metres
/// @param origin  the cell whose minimum corner is the mesh's (0, 0, 0)
void mesh_blocks(const Grid& grid, float cell_size, const CellBox& cells, Cell origin, Mesh& out);

/// Appends the surface of a density field where grid edges that begin in `cells` cross it: surface nets, one
/// vertex a cell at the mean of its crossings. Chunks side by side fit without a gap; a field that is ground
/// at no border of `cells` gives a closed surface. Normals are those of the field. Tests:
/// tests/mesh/surface_nets_test.cpp. Source: S. Gibson, Constrained Elastic Surface Nets (1998).
/// @param samples  a DensityField, say; a sample each cell_size metres
/// @param origin  world position of the mesh's (0, 0, 0)
void mesh_surface(const DensitySource& samples, float cell_size, const CellBox& cells, DVec3 origin,
                  std::uint32_t color, Mesh& out);

/// The whole grid, in its own frame.
Mesh mesh_blocks(const Grid& grid, float cell_size);

}  // namespace talus
