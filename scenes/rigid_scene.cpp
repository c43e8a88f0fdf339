#include "scenes/rigid_scene.h"

#include <charconv>
#include <string>

namespace talus::scenes {

namespace {

/// Words of a text, one after another.
class Words {
 public:
    explicit Words(std::string_view text) : text_(text) {}

    std::string_view next() {
        skip_space();
        const std::size_t from = at_;
        while (at_ < text_.size() && !is_space(text_[at_])) at_++;
        return text_.substr(from, at_ - from);
    }
    void skip_line() {
        while (at_ < text_.size() && text_[at_] != '\n') at_++;
    }
    int line() const { return line_; }

    template <class T>
    bool number(T& out) {
        const std::string_view w = next();
        const auto r = std::from_chars(w.data(), w.data() + w.size(), out);
        return r.ec == std::errc() && r.ptr == w.data() + w.size() && !w.empty();
    }

 private:
    static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
    void skip_space() {
        while (at_ < text_.size() && is_space(text_[at_])) line_ += text_[at_++] == '\n';
    }
    std::string_view text_;
    std::size_t at_ = 0;
    int line_ = 1;
};

Error bad(const Words& words, const char* what) {
    return {ErrorCode::bad_value, "scene, line " + std::to_string(words.line()) + ": " + what};
}

}  // namespace

DVec3 RigidPiece::local_center() const {
    DVec3 sum;
    for (const Cell c : cubes) sum += DVec3{c.x + 0.5, c.y + 0.5, c.z + 0.5};
    return cubes.empty() ? sum : sum / double(cubes.size());
}

Result<RigidScene> parse_rigid_scene(std::string_view text) {
    constexpr int kMostColumns = 4096, kMostCubes = 1 << 20;
    Words words(text);
    if (words.next() != "talus-scene" || words.next() != "1")
        return Error{ErrorCode::bad_format, "scene: does not begin with 'talus-scene 1'"};
    RigidScene s;
    for (std::string_view key = words.next(); !key.empty(); key = words.next()) {
        bool ok = true;
        if (key[0] == '#') {
            words.skip_line();
        } else if (key == "friction") {
            ok = words.number(s.friction);
        } else if (key == "density") {
            ok = words.number(s.density);
        } else if (key == "dt") {
            ok = words.number(s.dt) && s.dt > 0;
        } else if (key == "steps") {
            ok = words.number(s.steps) && s.steps >= 0;
        } else if (key == "terrain") {
            const std::string_view kind = words.next();
            s.flat = kind == "flat";
            if (s.flat) {
                ok = words.number(s.ground);
            } else {
                ok = kind == "columns" && words.number(s.columns_x) && words.number(s.columns_z) &&
                     words.next() == "origin" && words.number(s.origin_x) && words.number(s.origin_z) &&
                     words.next() == "bottom" && words.number(s.bottom) && s.columns_x > 0 &&
                     s.columns_z > 0 && s.columns_x <= kMostColumns && s.columns_z <= kMostColumns;
                for (int i = 0; ok && i < s.columns_x * s.columns_z; i++) {
                    int top = 0;
                    ok = words.number(top);
                    s.tops.push_back(top);
                }
            }
        } else if (key == "piece") {
            RigidPiece p;
            int n = 0;
            ok = words.number(p.center.x) && words.number(p.center.y) && words.number(p.center.z) &&
                 words.number(p.rotation.x) && words.number(p.rotation.y) && words.number(p.rotation.z) &&
                 words.number(p.rotation.w) && words.number(n) && n > 0 && n <= kMostCubes;
            for (int i = 0; ok && i < n; i++) {
                Cell c;
                ok = words.number(c.x) && words.number(c.y) && words.number(c.z);
                p.cubes.push_back(c);
            }
            p.rotation = normalized(p.rotation);
            s.pieces.push_back(std::move(p));
        } else {
            return bad(words, "unknown word");
        }
        if (!ok) return bad(words, "bad or missing number");
    }
    return s;
}

BodyShape shape_of(const RigidPiece& piece, float density) {
    BlockTable table;
    Material m;
    m.density = density;
    const BlockId id = table.add(m);
    Grid grid(table);
    for (const Cell c : piece.cubes) grid.set(c, id);
    return BodyShape::from_grid(grid, 1);
}

PlacedScene place(const RigidScene& scene, const SpaceSettings& settings, DVec3 shift) {
    PlacedScene out;
    out.table = std::make_unique<BlockTable>();
    out.space = std::make_unique<Space>(settings);
    Material ground;
    ground.friction = scene.friction;
    const BlockId id = out.table->add(ground);
    if (scene.flat) {
        out.space->set_ground(scene.ground + shift.y, scene.friction);
    } else {
        out.terrain = std::make_unique<Grid>(*out.table);
        const Cell by{int(shift.x), int(shift.y), int(shift.z)};
        for (int z = 0; z < scene.columns_z; z++)
            for (int x = 0; x < scene.columns_x; x++)
                for (int y = scene.bottom; y < scene.tops[std::size_t(z * scene.columns_x + x)]; y++)
                    out.terrain->set(Cell{x + scene.origin_x, y, z + scene.origin_z} + by, id);
        out.space->set_terrain(out.terrain.get());
    }
    for (const RigidPiece& p : scene.pieces) {
        BodySettings b;
        b.pose.rotation = p.rotation;
        b.pose.position = p.center + shift - to_double(rotate(p.rotation, to_float(p.local_center())));
        b.friction = scene.friction;
        b.density = scene.density;
        out.body_of.push_back(out.space->add_body(shape_of(p, scene.density), b));
    }
    return out;
}

RigidScene column_scene(int height) {
    RigidScene s;
    for (int i = 0; i < height; i++) s.pieces.push_back({{0, i + 0.5, 0}, {}, {Cell{0, 0, 0}}});
    return s;
}

RigidScene pyramid_scene(int base) {
    RigidScene s;
    for (int row = 0; row < base; row++)
        for (int i = 0; i < base - row; i++)
            s.pieces.push_back({{i - (base - row - 1) * 0.5, row + 0.5, 0}, {}, {Cell{0, 0, 0}}});
    return s;
}

}  // namespace talus::scenes
