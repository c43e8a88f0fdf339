#include "talus/grid.h"

#include "base/hash.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace talus {

namespace {

constexpr std::size_t kFew = 4;        // so many bricks need no hash
constexpr std::size_t kLongTail = 32;  // bricks out of order before they are sorted in

bool in_order(const Brick* a, const Brick* b) { return a->coord < b->coord; }

std::uint64_t hash_coord(Cell c) {
    return mix64((std::uint64_t(std::uint32_t(c.x)) << 32 | std::uint32_t(c.z)) ^
                 mix64(std::uint64_t(std::uint32_t(c.y)) + 0x9e3779b97f4a7c15ull));
}

/// What a block adds to the hash of the content.
std::uint64_t hash_block(Cell c, BlockId id) {
    return mix64((std::uint64_t(std::uint32_t(c.x)) << 32 | std::uint32_t(c.y)) ^
                 mix64((std::uint64_t(std::uint32_t(c.z)) << 32 | id) + 0x9e3779b97f4a7c15ull));
}

}  // namespace

void BrickIds::write(int index, std::uint64_t code) {
    const int bits = words_.size() == kPacked ? 4 : 16, per_word = 64 / bits;
    std::uint64_t& word = words_[std::size_t(index / per_word)];
    const int shift = bits * (index % per_word);
    word = (word & ~(((std::uint64_t(1) << bits) - 1) << shift)) | code << shift;
}

void BrickIds::widen(const std::uint64_t (&any)[8]) {
    const BrickIds packed = *this;
    words_.assign(kWide, 0);
    for (int y = 0; y < 8; y++)
        for (std::uint64_t bits = any[y]; bits; bits &= bits - 1) {
            const int i = 64 * y + __builtin_ctzll(bits);
            write(i, packed[i]);
        }
}

void BrickIds::set(int index, BlockId id, const std::uint64_t (&any)[8]) {
    if (words_.size() == kWide) return write(index, id);
    int code = 0;
    while (code < used_ && palette_[code] != id) code++;
    if (code == 16) {
        widen(any);
        return write(index, id);
    }
    if (code == used_) palette_[used_++] = id;
    if (code > 0 && words_.empty()) words_.assign(kPacked, 0);  // all are the first
    if (!words_.empty()) write(index, std::uint64_t(code));
}

Grid::BrickList::~BrickList() {
    for (Brick* brick : all) delete brick;
}

void Grid::BrickList::add(Brick* brick) {
    const bool in_order = sorted == all.size() && (all.empty() || all.back()->coord < brick->coord);
    all.push_back(brick);
    if (in_order) sorted++;
    if (all.size() - sorted > kLongTail + all.size() / 8) sort();
}

void Grid::BrickList::remove(Brick* brick) {
    const auto end = all.begin() + std::ptrdiff_t(sorted);
    auto at = std::lower_bound(all.begin(), end, brick, in_order);
    if (at != end && *at == brick)
        sorted--;
    else
        at = std::find(end, all.end(), brick);
    all.erase(at);
    delete brick;
}

void Grid::BrickList::sort() {
    const auto middle = all.begin() + std::ptrdiff_t(sorted);
    std::sort(middle, all.end(), in_order);
    std::inplace_merge(all.begin(), middle, all.end(), in_order);
    sorted = all.size();
}

Grid::Grid(const Grid& other)
    : table_(other.table_),
      blocks_(other.blocks_),
      solids_(other.solids_),
      version_(other.version_),
      content_(other.content_) {
    if (other.packed_.load(std::memory_order_acquire)) other.unpack();
    bricks_.all.reserve(other.bricks_.all.size());
    for (const Brick* brick : other.bricks_.all) bricks_.all.push_back(new Brick(*brick));
    bricks_.sorted = other.bricks_.sorted;
    hash_all(other.slots_.size());
}

Grid& Grid::operator=(const Grid& other) {
    if (this != &other) *this = Grid(other);
    return *this;
}

void Grid::swap(Grid& other) noexcept {
    std::swap(table_, other.table_);
    bricks_.swap(other.bricks_);
    slots_.swap(other.slots_);
    std::swap(last_written_, other.last_written_);
    std::swap(blocks_, other.blocks_);
    std::swap(solids_, other.solids_);
    std::swap(version_, other.version_);
    std::swap(content_, other.content_);
    packed_.store(other.packed_.exchange(packed_.load()));
}

Brick* Grid::find(Cell coord) const {
    if (slots_.empty()) {
        if (packed_.load(std::memory_order_acquire)) unpack();
        for (Brick* brick : bricks_.all)
            if (brick->coord == coord) return brick;
        return nullptr;
    }
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = hash_coord(coord) & mask;; i = (i + 1) & mask) {
        Brick* brick = slots_[i];
        if (!brick || brick->coord == coord) return brick;
    }
}

const Brick* Grid::find_brick(Cell coord) const { return find(coord); }

void Grid::hash(Brick* brick) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = hash_coord(brick->coord) & mask;
    while (slots_[i]) i = (i + 1) & mask;
    slots_[i] = brick;
}

void Grid::hash_all(std::size_t slots) {
    slots_ = std::vector<Brick*>(slots);
    if (slots > 0)
        for (Brick* brick : bricks_.all) hash(brick);
}

Brick* Grid::find_for_write(Cell coord) {
    if (last_written_ && last_written_->coord == coord) return last_written_;
    Brick* brick = find(coord);
    if (brick) last_written_ = brick;
    return brick;
}

Brick* Grid::make_brick(Cell coord) {
    auto* brick = new Brick;
    brick->coord = coord;
    bricks_.add(brick);
    const std::size_t n = bricks_.all.size();
    if (n > kFew && n * 2 > slots_.size())
        hash_all(std::bit_ceil(n * 3));
    else if (!slots_.empty())
        hash(brick);
    return last_written_ = brick;
}

void Grid::drop_brick(Brick* brick) {
    if (!slots_.empty()) {
        const std::size_t mask = slots_.size() - 1;
        std::size_t hole = hash_coord(brick->coord) & mask;
        while (slots_[hole] != brick) hole = (hole + 1) & mask;
        // What lies behind moves up, unless that is before its own place.
        for (std::size_t i = (hole + 1) & mask; slots_[i]; i = (i + 1) & mask) {
            const std::size_t home = hash_coord(slots_[i]->coord) & mask;
            if (((i - home) & mask) < ((i - hole) & mask)) continue;
            slots_[hole] = slots_[i];
            hole = i;
        }
        slots_[hole] = nullptr;
    }
    if (last_written_ == brick) last_written_ = nullptr;
    bricks_.remove(brick);
    if (!slots_.empty() && bricks_.all.size() * 16 < slots_.size())
        hash_all(bricks_.all.size() > kFew ? std::bit_ceil(bricks_.all.size() * 3) : 0);
}

BlockId Grid::get(Cell cell) const {
    const Brick* brick = find(brick_of(cell));
    return brick ? brick->id_at(index_in_brick(cell)) : kAir;
}

bool Grid::is_solid(Cell cell) const {
    const Brick* brick = find(brick_of(cell));
    return brick && bit_at(brick->solid, index_in_brick(cell));
}

bool Grid::is_full(Cell cell) const {
    const Brick* brick = find(brick_of(cell));
    return brick && bit_at(brick->full, index_in_brick(cell));
}

BlockId Grid::set(Cell cell, BlockId id) {
    assert(id < table_->size());
    const Cell coord = brick_of(cell);
    Brick* found = find_for_write(coord);
    if (!found && id == kAir) return kAir;
    Brick& brick = found ? *found : *make_brick(coord);
    const int i = index_in_brick(cell);
    const BlockId old = brick.id_at(i);
    if (old == id) return old;
    version_++;
    if (old != kAir) content_ -= hash_block(cell, old);
    if (id != kAir) content_ += hash_block(cell, id);
    if (id != kAir) brick.ids.set(i, id, brick.any);
    const std::uint64_t bit = std::uint64_t(1) << (i & 63);
    auto put = [&](std::uint64_t(&layers)[8], bool on) {
        if (on)
            layers[i >> 6] |= bit;
        else
            layers[i >> 6] &= ~bit;
    };
    const BlockTable::Flags& was = table_->flags(old);
    const BlockTable::Flags& now = table_->flags(id);
    put(brick.any, id != kAir);
    put(brick.solid, now.solid);
    put(brick.full, now.full_cube);
    solids_ += std::size_t(now.solid);
    solids_ -= std::size_t(was.solid);
    if (old == kAir) {
        brick.count++;
        blocks_++;
    } else if (id == kAir) {
        brick.count--;
        blocks_--;
        if (brick.count == 0) drop_brick(&brick);
    }
    return old;
}

std::span<const Brick* const> Grid::bricks() const {
    if (packed_.load(std::memory_order_acquire)) unpack();
    if (bricks_.sorted < bricks_.all.size()) bricks_.sort();
    return {bricks_.all.data(), bricks_.all.size()};
}

CellBox Grid::bounds() const {
    if (blocks_ == 0) return {};
    if (packed_.load(std::memory_order_acquire))
        if (const std::optional<CellBox> box = packed_bounds()) return *box;
    CellBox box{{INT32_MAX, INT32_MAX, INT32_MAX}, {INT32_MIN, INT32_MIN, INT32_MIN}};
    for (const Brick* brick : bricks_.all) {
        std::uint64_t columns = 0;
        int y0 = 8, y1 = -1;
        for (int y = 0; y < 8; y++) {
            if (!brick->any[y]) continue;
            columns |= brick->any[y];
            if (y0 == 8) y0 = y;
            y1 = y;
        }
        const int z0 = __builtin_ctzll(columns) >> 3, z1 = (63 - __builtin_clzll(columns)) >> 3;
        std::uint64_t row = columns | columns >> 32;
        row |= row >> 16;
        row = (row | row >> 8) & 255;
        const int x0 = __builtin_ctzll(row), x1 = 63 - __builtin_clzll(row);
        const Cell o = brick->origin();
        box.min = {std::min(box.min.x, o.x + x0), std::min(box.min.y, o.y + y0),
                   std::min(box.min.z, o.z + z0)};
        box.max = {std::max(box.max.x, o.x + x1), std::max(box.max.y, o.y + y1),
                   std::max(box.max.z, o.z + z1)};
    }
    return box;
}

}  // namespace talus
