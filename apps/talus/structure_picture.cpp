#include "structure_picture.h"

#include "common.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace talus {

namespace {

struct Color {
    int r, g, b;
};
constexpr Color kFalling{150, 40, 170};
constexpr Color kFallingDark{95, 15, 120};
constexpr Color kPaper{250, 250, 247};
constexpr Color kInk{40, 40, 40};

// Grey-blue, green, yellow, red: at 0, 1/3, 2/3 and 1 of the limit.
Color color_of(double share) {
    constexpr std::array<Color, 4> stops{{{150, 175, 200}, {95, 175, 95}, {245, 205, 70}, {215, 40, 35}}};
    const double at = std::clamp(share, 0.0, 1.0) * 3;
    const std::size_t i = at < 2 ? std::size_t(at) : 2;
    const double t = at - double(i);
    const auto mix = [t](int a, int b) { return int(a + (b - a) * t); };
    return {mix(stops[i].r, stops[i + 1].r), mix(stops[i].g, stops[i + 1].g),
            mix(stops[i].b, stops[i + 1].b)};
}

struct CellHash {
    std::size_t operator()(Cell c) const {
        return std::size_t(c.x) * 73856093u ^ std::size_t(c.y) * 19349663u ^ std::size_t(c.z) * 83492791u;
    }
};

class Canvas {
 public:
    Canvas(int width, int height) : width_(width), height_(height), pixels_(std::size_t(width * height * 3)) {
        fill(0, 0, width, height, kPaper);
    }
    void set(int x, int y, Color c) {
        if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
        std::uint8_t* p = &pixels_[std::size_t((y * width_ + x) * 3)];
        p[0] = std::uint8_t(c.r);
        p[1] = std::uint8_t(c.g);
        p[2] = std::uint8_t(c.b);
    }
    void fill(int x0, int y0, int x1, int y1, Color c) {
        for (int y = y0; y < y1; y++)
            for (int x = x0; x < x1; x++) set(x, y, c);
    }
    // Digits, % and what the scale needs, in 3 x 5 dots.
    void text(int x, int y, const std::string& words, int dot) {
        static const std::unordered_map<char, std::array<int, 5>> glyphs{
            {'0', {7, 5, 5, 5, 7}}, {'1', {2, 6, 2, 2, 7}}, {'2', {7, 1, 7, 4, 7}}, {'3', {7, 1, 7, 1, 7}},
            {'4', {5, 5, 7, 1, 1}}, {'5', {7, 4, 7, 1, 7}}, {'6', {7, 4, 7, 5, 7}}, {'7', {7, 1, 2, 2, 2}},
            {'8', {7, 5, 7, 5, 7}}, {'9', {7, 5, 7, 1, 7}}, {'%', {5, 1, 2, 4, 5}}, {'A', {7, 5, 7, 5, 5}},
            {'F', {7, 4, 7, 4, 4}}, {'L', {4, 4, 4, 4, 7}}, {'S', {7, 4, 7, 1, 7}}};
        for (const char c : words) {
            if (const auto at = glyphs.find(c); at != glyphs.end())
                for (int r = 0; r < 5; r++)
                    for (int k = 0; k < 3; k++)
                        if (at->second[std::size_t(r)] >> (2 - k) & 1)
                            fill(x + k * dot, y + r * dot, x + (k + 1) * dot, y + (r + 1) * dot, kInk);
            x += 4 * dot;
        }
    }
    bool write(const std::string& path) const {
        return stbi_write_png(path.c_str(), width_, height_, 3, pixels_.data(), width_ * 3) != 0;
    }
    int width() const { return width_; }
    int height() const { return height_; }

 private:
    int width_, height_;
    std::vector<std::uint8_t> pixels_;
};

}  // namespace

void draw_structure(const std::string& path, std::span<const StructureBlock> blocks,
                    const StructureSolver& solver, const StructureReport& report, Axis up) {
    // Pictures have y up: the grid's axes are turned so that they have it too.
    const auto upright = [up](Cell c) {
        const int v[3] = {c.x, c.y, c.z}, a = int(up) / 2;
        return Cell{v[(a + 2) % 3], int(up) & 1 ? -v[a] : v[a], v[(a + 1) % 3]};
    };
    struct Look {
        double share = 0;
        bool falls = false;
    };
    std::unordered_map<Cell, Look, CellHash> looks;
    looks.reserve(blocks.size());
    for (const StructureBlock& b : blocks) looks[b.cell] = {};
    solver.for_each_bond(
        [](void* context, const BondState& state) {
            auto& map = *static_cast<std::unordered_map<Cell, Look, CellHash>*>(context);
            for (const Cell c : {state.force.bond.first, state.force.bond.second})
                if (const auto at = map.find(c); at != map.end())
                    at->second.share = std::max(at->second.share, state.utilisation);
        },
        &looks);
    for (const auto& part : report.parts)
        for (const Cell c : part) looks[c].falls = true;

    Cell low{0, 0, 0}, high{0, 0, 0};
    for (std::size_t i = 0; i < blocks.size(); i++) {
        const Cell c = upright(blocks[i].cell);
        low = i ? Cell{std::min(low.x, c.x), std::min(low.y, c.y), std::min(low.z, c.z)} : c;
        high = i ? Cell{std::max(high.x, c.x), std::max(high.y, c.y), std::max(high.z, c.z)} : c;
    }
    // A cell is 2s wide and 2s high on paper: top rhombus s high, sides s high. As large as fits into 1200 x
    // 900.
    const int nx = high.x - low.x + 1, ny = high.y - low.y + 1, nz = high.z - low.z + 1;
    int s = 16;
    while (s > 2 && ((nx + nz) * s > 1200 || (nx + nz) * s / 2 + ny * s > 900)) s -= 2;
    const int margin = 16, foot = 48;
    Canvas canvas(std::max((nx + nz) * s + 2 * margin, 320), (nx + nz) * s / 2 + ny * s + 2 * margin + foot);
    const auto has = [&](Cell inner) {
        // Back from upright axes.
        const int v[3] = {inner.x, inner.y, inner.z}, a = int(up) / 2;
        int out[3];
        out[(a + 2) % 3] = v[0];
        out[a] = int(up) & 1 ? -v[1] : v[1];
        out[(a + 1) % 3] = v[2];
        return looks.find({out[0], out[1], out[2]});
    };
    // Painter's order: far to near, low to high.
    std::vector<std::pair<Cell, Look>> order;
    order.reserve(blocks.size());
    for (const StructureBlock& b : blocks) {
        const Cell c = upright(b.cell);
        const auto covered = [&](Cell d) { return has(c + d) != looks.end(); };
        if (covered({1, 0, 0}) && covered({0, 1, 0}) && covered({0, 0, 1})) continue;
        order.push_back({c, looks[b.cell]});
    }
    std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
        const int da = a.first.x + a.first.y + a.first.z, db = b.first.x + b.first.y + b.first.z;
        return da != db ? da < db : a.first < b.first;
    });
    for (const auto& [cell, look] : order) {
        const int x = cell.x - low.x, y = cell.y - low.y, z = cell.z - low.z;
        // The corner of the top rhombus farthest from the eye.
        const int cx = margin + (x - z + nz) * s, cy = margin + (x + z) * s / 2 + (ny - 1 - y) * s;
        const Color plain = color_of(look.share);
        const auto paint = [&](int px, int py, int percent) {
            Color c = look.falls ? ((px + py) / 2 % 2 ? kFalling : kFallingDark) : plain;
            c = {c.r * percent / 100, c.g * percent / 100, c.b * percent / 100};
            canvas.set(px, py, c);
        };
        for (int row = 0; row < s; row++) {  // top
            const int half = 2 * std::min(row + 1, s - row);
            for (int k = -half; k < half; k++)
                if (k >= -s && k < s) paint(cx + k, cy + row, 100);
        }
        for (int k = 0; k < s; k++)  // sides: left faces +z, right faces +x
            for (int row = 0; row < s; row++) {
                paint(cx - s + k, cy + s / 2 + k / 2 + row, 78);
                paint(cx + k, cy + s - k / 2 - (k & 1) + row, 62);
            }
    }
    // The scale: 0 to 100 % of the limit, and what falls.
    const int y0 = canvas.height() - foot + 8, x0 = margin, width = 200;
    for (int k = 0; k < width; k++)
        canvas.fill(x0 + k, y0, x0 + k + 1, y0 + 12, color_of(k / double(width - 1)));
    canvas.text(x0, y0 + 18, "0", 2);
    canvas.text(x0 + width / 2 - 11, y0 + 18, "50%", 2);
    canvas.text(x0 + width - 30, y0 + 18, "100%", 2);
    for (int y = 0; y < 12; y++)
        for (int x = 0; x < 24; x++)
            canvas.set(x0 + width + 24 + x, y0 + y, (x + y) / 2 % 2 ? kFalling : kFallingDark);
    canvas.text(x0 + width + 24, y0 + 18, "FALLS", 2);
    if (!canvas.write(path)) throw BadInput(path + ": cannot be written");
}

}  // namespace talus
