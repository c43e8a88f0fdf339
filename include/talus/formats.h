// formats.h - reading and writing the files people have.
//
// Layer: io/format. Bytes in, grids out; no world, no file access but read_model(). Whatever a file claims, a
// reader stays within the limits below, and its error names what is wrong and where (a byte offset, a tag
// path, a key). Thread-safe: no shared state but the built-in catalog, made once. Frame: the file's own grid,
// minimum corner at (0,0,0), +Y up; a .vox has z up, its (x, y, z) becomes (x, z, ymax - y), which keeps
// handedness. Source of the formats: docs/formats/. Tests: tests/io/, fuzz/
#pragma once

#include "talus/grid.h"
#include "talus/result.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace talus {

// Limits: a file that goes over one is refused with ErrorCode::too_large.
constexpr std::size_t kMaxFileBytes = 256u << 20;      ///< of a file as it lies on the disk
constexpr std::size_t kMaxInflatedBytes = 384u << 20;  ///< of its content after decompression
constexpr std::size_t kMaxModelCells = 1u << 27;       ///< cells of a schematic; voxels placed by a .vox
constexpr std::size_t kMaxModelBytes = 1u << 30;       ///< of bricks in the grid
constexpr int kMaxModelEdge = 65'535;                  ///< cells on an axis
constexpr int kMaxNbtDepth = 512;                      ///< compounds and lists inside each other
constexpr std::size_t kMaxMaterialsBytes = 4u << 20;   ///< of a materials file
constexpr int kMaxVoxEdge = 256;                       ///< of one .vox model
constexpr int kMaxVoxDepth = 256;                      ///< nodes above a node of the scene graph
constexpr int kMaxVoxInstances = 1 << 20;              ///< nodes of the scene graph, and paths to them

/// Blocks by name: a replaceable table of materials, shapes and densities.
/// A file for it is JSON (docs/formats/materials.md).
class BlockCatalog {
 public:
    BlockCatalog(BlockCatalog&&) noexcept;
    BlockCatalog& operator=(BlockCatalog&&) noexcept;
    ~BlockCatalog();

    /// The familiar block names, generated from public data; built in.
    static const BlockCatalog& blockgame();
    /// *blockgame* with a materials file laid over it. `where` names the file in errors.
    static Result<BlockCatalog> from_json(std::string_view json, std::string_view where);
    /// Reads the file, then from_json().
    static Result<BlockCatalog> read(const std::string& path);

    struct Found {
        bool known = false;
        bool air = false;  ///< leaves its cell empty; `type` says nothing then
        BlockType type;
    };
    /// The type for a name with its state ("minecraft:oak_stairs[facing=east,half=bottom]"; "minecraft:" may
    /// be missing). A state that is not given, or has a value the table does not know, is that of a block
    /// just placed. An unknown name gives a full cube of blockgame_stone() under its own name, known = false.
    Found find(std::string_view name) const;
    /// The type for a .vox palette entry (1..255) in its colour 0xRRGGBB: stone unless the materials file
    /// maps the entry or its MagicaVoxel material ("diffuse", "metal", "glass", "emit", ...; may be empty).
    Found palette_entry(int index, std::uint32_t color, std::string_view vox_material = {}) const;
    /// Number of block names known.
    std::size_t size() const;

 private:
    friend struct CatalogBuilder;
    BlockCatalog();
    struct Data;
    std::unique_ptr<Data> data_;
};

struct Model {
    std::string format;                 ///< "vox", "schem 1", "schem 2", "schem 3"
    Cell size;                          ///< of the file's own grid
    std::unique_ptr<BlockTable> table;  ///< made first, so that `grid` may point to it
    Grid grid;
    int palette = 0;  ///< entries of the file's palette (used colours for a .vox)
    std::map<std::string, std::size_t> unknown_blocks;  ///< name without state to count of cells

    Model() : table(std::make_unique<BlockTable>()), grid(*table) {}
};

/// Decides by content, not by name. `where` names the input in errors.
Result<Model> parse_model(std::span<const std::uint8_t> bytes, std::string_view where,
                          const BlockCatalog& catalog);
/// MagicaVoxel .vox. Where models overlap, the later in the file wins.
Result<Model> parse_vox(std::span<const std::uint8_t> bytes, std::string_view where,
                        const BlockCatalog& catalog);
/// Sponge .schem version 1, 2 or 3; gzip, zlib or plain NBT.
Result<Model> parse_schem(std::span<const std::uint8_t> bytes, std::string_view where,
                          const BlockCatalog& catalog);
/// Reads the file, then parse_model().
Result<Model> read_model(const std::string& path, const BlockCatalog& catalog);

/// Sponge .schem version 2 (gzip). The size is that of grid.bounds(), whose corner goes to (0,0,0). Names
/// without a namespace get "minecraft:". The same grid gives the same bytes with one version of zlib.
/// Error when the grid is empty or over a limit.
Result<std::vector<std::uint8_t>> write_schem(const Grid& grid);

}  // namespace talus
