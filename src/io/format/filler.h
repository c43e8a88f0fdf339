// filler.h - sets cells of a new grid while watching how much memory its bricks take.
//
// Layer: io/format. Tests: tests/io/hostile_test.cpp
#pragma once

#include "talus/formats.h"

namespace talus {

class GridFiller {
 public:
    explicit GridFiller(Grid& grid) : grid_(grid) {}

    /// @return false, and nothing is set, when one more brick would go over kMaxModelBytes
    bool set(Cell cell, BlockId id) {
        const Cell brick = brick_of(cell);
        if (!(brick == last_)) {
            if (!grid_.find_brick(brick)) {
                if (bricks_ == kMaxModelBytes / sizeof(Brick)) return false;
                bricks_++;
            }
            last_ = brick;
        }
        grid_.set(cell, id);
        return true;
    }

 private:
    Grid& grid_;
    Cell last_{INT32_MIN, INT32_MIN, INT32_MIN};  // no brick lies there: brick coordinates are an eighth
    std::size_t bricks_ = 0;
};

}  // namespace talus
