// packed_grid.cpp - small grids that nobody looks into, as a string of bits.
//
//     bounds | number of ids, ids | a bit for each cell of the bounds | which id each block is
//
// Numbers come in groups of seven bits with an eighth that says whether more follow.
#include "talus/grid.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace talus {

namespace {

constexpr std::size_t kMostBricks = 4;     // packed: Grid has no hash for so few
constexpr std::int64_t kMostCells = 2048;  // of the bounds
constexpr std::size_t kMostIds = 64;

struct BitWriter {
    std::vector<std::uint8_t> bytes;
    int used = 8;  // bits of the last byte
    void bit(bool on) {
        if (used == 8) {
            bytes.push_back(0);
            used = 0;
        }
        bytes.back() = std::uint8_t(bytes.back() | int(on) << used++);
    }
    void bits(std::uint32_t value, int count) {
        for (int i = 0; i < count; i++) bit(value >> i & 1);
    }
    void number(std::uint32_t value) {
        for (; value >= 128; value >>= 7) bits(value | 128, 8);
        bits(value, 8);
    }
    void number(std::int32_t value) { number(std::uint32_t(value) << 1 ^ std::uint32_t(value >> 31)); }
};

struct BitReader {
    const std::uint8_t* bytes;
    std::size_t at = 0;
    std::uint32_t bits(int count) {
        std::uint32_t value = 0;
        for (int i = 0; i < count; i++, at++) value |= std::uint32_t(bytes[at >> 3] >> (at & 7) & 1) << i;
        return value;
    }
    std::uint32_t number() {
        std::uint32_t value = 0;
        for (int shift = 0;; shift += 7) {
            const std::uint32_t group = bits(8);
            value |= (group & 127) << shift;
            if (group < 128) return value;
        }
    }
    std::int32_t signed_number() {
        const std::uint32_t v = number();
        return std::int32_t(v >> 1 ^ (0 - (v & 1)));
    }
};

/// f(cell) for each cell of a box.
template <class F>
void each_cell(const CellBox& box, F&& f) {
    for (int y = box.min.y; y <= box.max.y; y++)
        for (int z = box.min.z; z <= box.max.z; z++)
            for (int x = box.min.x; x <= box.max.x; x++) f(Cell{x, y, z});
}

CellBox read_bounds(BitReader& in) {
    CellBox box;
    for (int* v : {&box.min.x, &box.min.y, &box.min.z}) *v = in.signed_number();
    box.max.x = box.min.x + int(in.number());
    box.max.y = box.min.y + int(in.number());
    box.max.z = box.min.z + int(in.number());
    return box;
}

/// One thread at a time: several may look into a packed grid at once.
class Turn {
 public:
    Turn() {
        while (taken.test_and_set(std::memory_order_acquire)) {
        }
    }
    ~Turn() { taken.clear(std::memory_order_release); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

 private:
    static inline std::atomic_flag taken = ATOMIC_FLAG_INIT;
};

}  // namespace

Grid::~Grid() { delete[] packed_.load(std::memory_order_relaxed); }

void Grid::pack() {
    if (bricks_.all.empty() || bricks_.all.size() > kMostBricks) return;
    const CellBox box = bounds();
    auto edge = [](int lo, int hi) { return std::int64_t(hi) - lo + 1; };
    if (edge(box.min.x, box.max.x) * edge(box.min.y, box.max.y) * edge(box.min.z, box.max.z) > kMostCells)
        return;
    std::vector<BlockId> ids;
    for_each([&](Cell, BlockId id) {
        if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
    });
    if (ids.size() > kMostIds) return;
    BitWriter out;
    for (const int v : {box.min.x, box.min.y, box.min.z}) out.number(v);
    for (const int v : {box.max.x - box.min.x, box.max.y - box.min.y, box.max.z - box.min.z})
        out.number(std::uint32_t(v));
    out.number(std::uint32_t(ids.size()));
    for (const BlockId id : ids) out.number(std::uint32_t(id));
    each_cell(box, [&](Cell c) { out.bit(has(c)); });
    const int width = int(std::bit_width(ids.size() - 1));
    each_cell(box, [&](Cell c) {
        const BlockId id = get(c);
        if (id != kAir) out.bits(std::uint32_t(std::find(ids.begin(), ids.end(), id) - ids.begin()), width);
    });
    auto* bytes = new std::uint8_t[out.bytes.size()];
    std::memcpy(bytes, out.bytes.data(), out.bytes.size());
    bricks_ = BrickList();
    std::vector<Brick*>().swap(slots_);
    last_written_ = nullptr;
    packed_.store(bytes, std::memory_order_release);
}

std::optional<CellBox> Grid::packed_bounds() const {
    const Turn turn;
    BitReader in{packed_.load(std::memory_order_relaxed)};
    if (!in.bytes) return std::nullopt;
    return read_bounds(in);
}

void Grid::unpack() const {
    const Turn turn;
    BitReader in{packed_.load(std::memory_order_relaxed)};
    if (!in.bytes) return;
    const CellBox box = read_bounds(in);
    std::vector<BlockId> ids(in.number());
    for (BlockId& id : ids) id = BlockId(in.number());
    std::vector<Cell> cells;
    cells.reserve(blocks_);
    each_cell(box, [&](Cell c) {
        if (in.bits(1)) cells.push_back(c);
    });
    Grid whole(*table_);
    const int width = int(std::bit_width(ids.size() - 1));
    for (const Cell c : cells) whole.set(c, ids[in.bits(width)]);
    whole.bricks_.sort();
    bricks_.swap(whole.bricks_);
    delete[] in.bytes;
    packed_.store(nullptr, std::memory_order_release);
}

}  // namespace talus
