// formats.h - reading and writing the files people have.
//
// Layer: io/format. Bytes in, grids out; no world, no file access but read_model(). Every reader works in
// memory bounded by kMaxModelBytes, whatever the file claims, and names what is wrong and at which byte.
// Frame: the file's own grid, minimum corner at (0,0,0), +Y up; a .vox has z up, its (x, y, z) becomes (x, z,
// ymax - y). Tests: tests/io/, fuzz/
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

/// Blocks by name: a replaceable table of materials, shapes and densities.
/// A file for it is JSON (docs/formats/materials.md).
class BlockCatalog {
 public:
    BlockCatalog(BlockCatalog&&) noexcept;
    BlockCatalog& operator=(BlockCatalog&&) noexcept;
    ~BlockCatalog();

    /// The familiar block names, generated from public data; built in.
    static const BlockCatalog& blockgame();
    /// *blockgame* with entries of a materials file laid over it.
    static Result<BlockCatalog> from_json(std::string_view json, std::string_view where);

    /// The type for a name with its state ("minecraft:oak_stairs[facing=east,half=bottom]"; the namespace may
    /// be missing). Air names give nullopt and known = true. An unknown name gives the default block and
    /// known = false.
    struct Found {
        bool known = false;
        bool air = false;
        BlockType type;
    };
    Found find(std::string_view name) const;
    /// The type for a .vox palette entry (1..255) and its colour: stone unless the materials file maps the
    /// entry.
    BlockType palette_entry(int index, std::uint32_t color) const;
    /// A pre-1.13 numeric block id and data value as a name, "" when there is none.
    std::string legacy_name(int id, int data) const;

 private:
    friend struct CatalogBuilder;
    BlockCatalog();
    struct Data;
    std::unique_ptr<Data> data_;
};

struct Model {
    std::string format;                 ///< "vox", "schem 2", ...
    Cell size;                          ///< of the file's own grid
    std::unique_ptr<BlockTable> table;  ///< made first, so that `grid` may point to it
    Grid grid;
    int palette = 0;  ///< entries of the file's palette (used colours for a .vox)
    std::map<std::string, std::size_t> unknown_blocks;  ///< name to count of cells

    Model() : table(std::make_unique<BlockTable>()), grid(*table) {}
};

/// Decides by content, not by name. `where` names the input in errors.
Result<Model> parse_model(std::span<const std::uint8_t> bytes, std::string_view where,
                          const BlockCatalog& catalog);
Result<Model> parse_vox(std::span<const std::uint8_t> bytes, std::string_view where,
                        const BlockCatalog& catalog);
Result<Model> parse_schem(std::span<const std::uint8_t> bytes, std::string_view where,
                          const BlockCatalog& catalog);
/// Reads the file, then parse_model().
Result<Model> read_model(const std::string& path, const BlockCatalog& catalog);

/// Sponge .schem version 2 (gzip). Size is grid.bounds(); error when over 65,535 on an axis or empty.
Result<std::vector<std::uint8_t>> write_schem(const Grid& grid);

}  // namespace talus
