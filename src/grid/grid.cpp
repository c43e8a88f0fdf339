#include "talus/grid.h"

#include "base/hash.h"

#include <algorithm>
#include <cassert>

namespace talus {

namespace {

std::uint64_t hash_coord(Cell c) {
    return mix64((std::uint64_t(std::uint32_t(c.x)) << 32 | std::uint32_t(c.z)) ^
                 mix64(std::uint64_t(std::uint32_t(c.y)) + 0x9e3779b97f4a7c15ull));
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

Grid::Grid(const Grid& other)
    : table_(other.table_),
      free_(other.free_),
      slots_(other.slots_),
      used_slots_(other.used_slots_),
      blocks_(other.blocks_),
      solids_(other.solids_),
      version_(other.version_),
      sorted_valid_(false) {
    store_.reserve(other.store_.size());
    for (const auto& brick : other.store_)
        store_.push_back(brick ? std::make_unique<Brick>(*brick) : nullptr);
}

Grid& Grid::operator=(const Grid& other) {
    if (this != &other) *this = Grid(other);
    return *this;
}

std::int32_t Grid::find_index(Cell coord) const {
    if (slots_.empty()) return -1;
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = hash_coord(coord) & mask;; i = (i + 1) & mask) {
        const Slot& slot = slots_[i];
        if (slot.brick == -1) return -1;
        if (slot.brick >= 0 && slot.coord == coord) return slot.brick;
    }
}

const Brick* Grid::find_brick(Cell coord) const {
    const std::int32_t i = find_index(coord);
    return i < 0 ? nullptr : store_[std::size_t(i)].get();
}

void Grid::insert_slot(Cell coord, std::int32_t index) {
    if ((used_slots_ + 1) * 2 > slots_.size()) rehash(std::max<std::size_t>(4, store_.size() * 4));
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = hash_coord(coord) & mask;
    while (slots_[i].brick >= 0) i = (i + 1) & mask;
    if (slots_[i].brick == -1) used_slots_++;  // a removed slot is counted already
    slots_[i] = {coord, index};
}

void Grid::rehash(std::size_t wanted) {
    std::size_t size = 4;
    while (size < wanted) size *= 2;
    std::vector<Slot> old(size);
    old.swap(slots_);
    used_slots_ = 0;
    const std::size_t mask = size - 1;
    for (const Slot& slot : old) {
        if (slot.brick < 0) continue;
        std::size_t i = hash_coord(slot.coord) & mask;
        while (slots_[i].brick >= 0) i = (i + 1) & mask;
        slots_[i] = slot;
        used_slots_++;
    }
}

Brick* Grid::find_for_write(Cell coord) {
    if (std::size_t(last_written_) < store_.size()) {
        Brick* last = store_[std::size_t(last_written_)].get();
        if (last && last->coord == coord) return last;
    }
    const std::int32_t index = find_index(coord);
    if (index < 0) return nullptr;
    last_written_ = index;
    return store_[std::size_t(index)].get();
}

Brick& Grid::make_brick(Cell coord) {
    std::int32_t index;
    if (!free_.empty()) {
        index = free_.back();
        free_.pop_back();
    } else {
        index = std::int32_t(store_.size());
        store_.emplace_back();
    }
    store_[std::size_t(index)] = std::make_unique<Brick>();
    store_[std::size_t(index)]->coord = coord;
    insert_slot(coord, index);
    last_written_ = index;
    sorted_valid_ = false;
    return *store_[std::size_t(index)];
}

void Grid::drop_brick(Cell coord) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = hash_coord(coord) & mask;
    while (slots_[i].brick < 0 || !(slots_[i].coord == coord)) i = (i + 1) & mask;
    const std::int32_t index = slots_[i].brick;
    slots_[i].brick = -2;
    store_[std::size_t(index)].reset();
    free_.push_back(index);
    sorted_valid_ = false;
}

BlockId Grid::get(Cell cell) const {
    const Brick* brick = find_brick(brick_of(cell));
    return brick ? brick->id_at(index_in_brick(cell)) : kAir;
}

bool Grid::is_solid(Cell cell) const {
    const Brick* brick = find_brick(brick_of(cell));
    return brick && bit_at(brick->solid, index_in_brick(cell));
}

bool Grid::is_full(Cell cell) const {
    const Brick* brick = find_brick(brick_of(cell));
    return brick && bit_at(brick->full, index_in_brick(cell));
}

BlockId Grid::set(Cell cell, BlockId id) {
    assert(id < table_->size());
    const Cell coord = brick_of(cell);
    Brick* found = find_for_write(coord);
    if (!found && id == kAir) return kAir;
    Brick& brick = found ? *found : make_brick(coord);
    const int i = index_in_brick(cell);
    const BlockId old = brick.id_at(i);
    if (old == id) return old;
    version_++;
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
        if (brick.count == 0) drop_brick(coord);
    }
    return old;
}

std::span<const Brick* const> Grid::bricks() const {
    if (!sorted_valid_) {
        sorted_.clear();
        for (const auto& brick : store_)
            if (brick) sorted_.push_back(brick.get());
        std::sort(sorted_.begin(), sorted_.end(),
                  [](const Brick* a, const Brick* b) { return a->coord < b->coord; });
        sorted_valid_ = true;
    }
    return sorted_;
}

CellBox Grid::bounds() const {
    if (blocks_ == 0) return {};
    CellBox box{{INT32_MAX, INT32_MAX, INT32_MAX}, {INT32_MIN, INT32_MIN, INT32_MIN}};
    for (const auto& brick : store_) {
        if (!brick) continue;
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
