#include "io/format/fail.h"
#include "io/format/filler.h"
#include "talus/formats.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <map>
#include <new>
#include <optional>

namespace talus {

namespace {

using Bytes = std::span<const std::uint8_t>;

struct VoxModel {
    int size[3] = {};
    Bytes voxels;  ///< x y z index, four bytes each
};

/// A rotation or mirror, row by row: row i of the result is sign[i] times component axis[i].
struct Turn {
    int axis[3] = {0, 1, 2};
    int sign[3] = {1, 1, 1};
};

struct Placement {
    Turn turn;
    std::int64_t move[3] = {};
};

struct Node {
    enum class Kind : std::uint8_t { transform, group, shape } kind = Kind::group;
    std::size_t byte = 0;  ///< where its chunk begins
    bool hidden = false;
    std::int32_t layer = -1;
    Placement placement;
    std::vector<std::int32_t> children;
    std::int32_t model = -1;
    bool has_parent = false, reached = false, on_path = false;
};

struct Instance {
    std::int32_t model = 0;
    std::size_t byte = 0;   ///< of its shape node
    std::size_t order = 0;  ///< in which the scene graph was walked
    Placement placement;
    std::int64_t low[3] = {}, high[3] = {};  ///< of its box, both inside
};

/// First b, then a.
Placement combined(const Placement& a, const Placement& b) {
    Placement out;
    for (int i = 0; i < 3; i++) {
        const int k = a.turn.axis[i];
        out.turn.axis[i] = b.turn.axis[k];
        out.turn.sign[i] = a.turn.sign[i] * b.turn.sign[k];
        out.move[i] = a.turn.sign[i] * b.move[k] + a.move[i];
    }
    return out;
}

/// The cell of voxel p of a model. A model turns about the corner of cells at size / 2, rounded down. Doubled
/// coordinates keep the middle of a voxel a whole number.
void place(const Placement& placement, const int (&size)[3], const int (&p)[3], std::int64_t (&out)[3]) {
    for (int i = 0; i < 3; i++) {
        const int k = placement.turn.axis[i];
        const int doubled = placement.turn.sign[i] * (2 * p[k] + 1 - 2 * (size[k] / 2));
        out[i] = (doubled - 1) / 2 + placement.move[i];  // doubled is odd: exact
    }
}

/// The palette of a file that has none: a cube of 6 x 6 x 6 colours without black, then four ramps.
std::array<std::uint32_t, 256> default_palette() {
    std::array<std::uint32_t, 256> colors{};
    std::size_t at = 1;
    for (std::uint32_t r = 0; r < 6; r++)
        for (std::uint32_t g = 0; g < 6; g++)
            for (std::uint32_t b = 0; b < 6; b++)
                if (r + g + b < 15)
                    colors[at++] = (0xff - 0x33 * r) << 16 | (0xff - 0x33 * g) << 8 | (0xff - 0x33 * b);
    for (const std::uint32_t channels : {0x010000u, 0x000100u, 0x000001u, 0x010101u})
        for (const std::uint32_t level :
             {0xeeu, 0xddu, 0xbbu, 0xaau, 0x88u, 0x77u, 0x55u, 0x44u, 0x22u, 0x11u})
            colors[at++] = level * channels;
    return colors;
}

/// Reads one chunk's content; keeps the first error.
class ChunkReader {
 public:
    ChunkReader(Bytes file, std::size_t begin, std::size_t end, std::string_view id, std::string_view where)
        : file_(file), begin_(begin), at_(begin), end_(end), id_(id), where_(where) {}

    std::int32_t int32() {
        Bytes raw = take(4);
        if (raw.empty()) return 0;
        return std::int32_t(std::uint32_t(raw[0]) | std::uint32_t(raw[1]) << 8 | std::uint32_t(raw[2]) << 16 |
                            std::uint32_t(raw[3]) << 24);
    }
    std::string_view string() {
        const std::int32_t length = int32();
        if (length < 0) fail_here(ErrorCode::corrupt, "a text of length " + std::to_string(length));
        const Bytes raw = take(std::size_t(length));
        return {reinterpret_cast<const char*>(raw.data()), raw.size()};
    }
    /// f(key, value) for each entry of a DICT.
    template <class F>
    void dict(F&& f) {
        const std::int32_t count = int32();
        if (count < 0) fail_here(ErrorCode::corrupt, "a dictionary of " + std::to_string(count) + " entries");
        for (std::int32_t i = 0; i < count && !error_; i++) {
            const std::string_view key = string(), value = string();
            if (!error_) f(key, value);
        }
    }
    Bytes take(std::size_t count) {
        if (error_) return {};
        if (count > end_ - at_) {
            fail_here(ErrorCode::truncated, "needs " + std::to_string(count) + " bytes where " +
                                                std::to_string(end_ - at_) + " are left");
            return {};
        }
        at_ += count;
        return file_.subspan(at_ - count, count);
    }
    std::size_t left() const { return end_ - at_; }
    std::size_t begin() const { return begin_; }
    void fail_here(ErrorCode code, std::string_view what) {
        if (!error_)
            error_ = fail(
                code, where_,
                "chunk " + std::string(id_) + ": " + std::string(what) + ", at byte " + std::to_string(at_));
    }
    const std::optional<Error>& error() const { return error_; }

 private:
    Bytes file_;
    std::size_t begin_, at_, end_;
    std::string_view id_, where_;
    std::optional<Error> error_;
};

/// One whole number from text such as a rotation byte.
bool parse_int(std::string_view text, std::int32_t& out) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc() && end == text.data() + text.size();
}

class VoxFile {
 public:
    VoxFile(Bytes bytes, std::string_view where, const BlockCatalog& catalog)
        : bytes_(bytes), where_(where), catalog_(catalog), colors_(default_palette()) {}

    Result<Model> read() {
        if (const auto error = read_chunks()) return *error;
        if (const auto error = collect_instances()) return *error;
        return fill();
    }

 private:
    Error bad(ErrorCode code, std::string_view what) const { return fail(code, where_, what); }

    std::optional<Error> read_chunks() {
        ChunkReader header(bytes_, 0, bytes_.size(), "header", where_);
        const Bytes magic = header.take(4);
        const std::int32_t version = header.int32();
        const Bytes main_id = header.take(4);
        const std::int32_t content = header.int32(), children = header.int32();
        if (header.error()) return header.error();
        if (std::memcmp(magic.data(), "VOX ", 4) != 0)
            return bad(ErrorCode::bad_format, "not a .vox: does not begin with \"VOX \"");
        if (version < 100 || version > 999)
            return bad(ErrorCode::unsupported, "version " + std::to_string(version) + " of .vox, at byte 4");
        if (std::memcmp(main_id.data(), "MAIN", 4) != 0)
            return bad(ErrorCode::corrupt, "the first chunk is not MAIN, at byte 8");
        if (content < 0 || children < 0 || std::uint64_t(content) + std::uint64_t(children) > header.left())
            return bad(ErrorCode::truncated,
                       "chunk MAIN claims " + std::to_string(std::int64_t(content) + children) +
                           " bytes where " + std::to_string(header.left()) + " are left, at byte 8");
        std::size_t at = 20 + std::size_t(content);
        const std::size_t end = at + std::size_t(children);
        while (at < end) {
            ChunkReader head(bytes_, at, end, "header", where_);
            const Bytes id_bytes = head.take(4);
            const std::int32_t size = head.int32(), inner = head.int32();
            if (head.error()) return head.error();
            const std::string id = printable(id_bytes);
            if (size < 0 || inner < 0 || std::uint64_t(size) + std::uint64_t(inner) > head.left())
                return bad(ErrorCode::truncated, "chunk " + id + " claims " +
                                                     std::to_string(std::int64_t(size) + inner) +
                                                     " bytes where " + std::to_string(head.left()) +
                                                     " are left, at byte " + std::to_string(at));
            ChunkReader in(bytes_, at + 12, at + 12 + std::size_t(size), id, where_);
            read_chunk(id, in, at);
            if (in.error()) return in.error();
            at += 12 + std::size_t(size) + std::size_t(inner);
        }
        if (pending_size_)
            return bad(ErrorCode::truncated,
                       "the last chunk SIZE has no chunk XYZI after it, at byte " + std::to_string(end));
        if (models_.empty()) return bad(ErrorCode::corrupt, "holds no model (no chunk XYZI)");
        return std::nullopt;
    }

    static std::string printable(Bytes id) {
        std::string out;
        for (const std::uint8_t c : id) out += c < 0x20 || c >= 0x7f ? '?' : char(c);
        return out;
    }

    void read_chunk(const std::string& id, ChunkReader& in, std::size_t byte) {
        if (id == "SIZE") return read_size(in);
        if (id == "XYZI") return read_voxels(in);
        if (id == "RGBA") return read_colors(in);
        if (id == "IMAP") return read_index_map(in);
        if (id == "MATL") return read_material(in);
        if (id == "LAYR") return read_layer(in);
        if (id == "nTRN") return read_transform(in, byte);
        if (id == "nGRP") return read_group(in, byte);
        if (id == "nSHP") return read_shape(in, byte);
        // PACK only repeats the number of models; the rest is about light, cameras and notes.
    }

    void read_size(ChunkReader& in) {
        if (pending_size_) return in.fail_here(ErrorCode::corrupt, "follows another SIZE without XYZI");
        VoxModel model;
        for (int& edge : model.size) {
            edge = in.int32();
            if (in.error()) return;
            if (edge <= 0) return in.fail_here(ErrorCode::bad_value, "an edge of " + std::to_string(edge));
            if (edge > kMaxVoxEdge)
                return in.fail_here(
                    ErrorCode::too_large,
                    "an edge of " + std::to_string(edge) + ", the limit is " + std::to_string(kMaxVoxEdge));
        }
        pending_size_ = model;
    }

    void read_voxels(ChunkReader& in) {
        if (!pending_size_) return in.fail_here(ErrorCode::corrupt, "no chunk SIZE before it");
        const std::int32_t count = in.int32();
        if (in.error()) return;
        if (count < 0) return in.fail_here(ErrorCode::corrupt, std::to_string(count) + " voxels");
        VoxModel model = *pending_size_;
        const std::size_t first = in.begin() + 4;
        model.voxels = in.take(std::size_t(count) * 4);
        if (in.error()) return;
        for (std::size_t i = 0; i < model.voxels.size(); i += 4)
            for (std::size_t k = 0; k < 3; k++)
                if (model.voxels[i + k] >= model.size[k])
                    return in.fail_here(ErrorCode::corrupt, "voxel " + std::to_string(i / 4) + " (byte " +
                                                                std::to_string(first + i) +
                                                                ") lies outside its model");
        models_.push_back(model);
        pending_size_.reset();
    }

    void read_colors(ChunkReader& in) {
        const Bytes raw = in.take(1024);
        if (in.error()) return;
        for (std::size_t i = 0; i < 255; i++)  // entry i colours index i + 1
            colors_[i + 1] =
                std::uint32_t(raw[4 * i]) << 16 | std::uint32_t(raw[4 * i + 1]) << 8 | raw[4 * i + 2];
    }

    /// The editor lets people sort its palette: entry i of what it shows is index map[i].
    void read_index_map(ChunkReader& in) {
        const Bytes raw = in.take(256);
        if (in.error()) return;
        for (std::size_t i = 0; i < 255; i++) shown_as_[raw[i]] = std::uint8_t(i + 1);
    }

    void read_material(ChunkReader& in) {
        const std::int32_t index = in.int32();
        in.dict([&](std::string_view key, std::string_view value) {
            if (key != "_type" || index < 1 || index > 255) return;
            if (!value.empty() && value[0] == '_') value.remove_prefix(1);
            materials_[std::size_t(index)] = value;
        });
    }

    void read_layer(ChunkReader& in) {
        const std::int32_t layer = in.int32();
        hidden_layers_[layer] = read_hidden(in);
    }

    /// The dictionary of a layer or node, of which only this matters.
    static bool read_hidden(ChunkReader& in) {
        bool hidden = false;
        in.dict([&](std::string_view key, std::string_view value) {
            if (key == "_hidden") hidden = value == "1";
        });
        return hidden;
    }

    /// An animation: the build is what the earliest frame shows, the first of them if several do. `begin`
    /// reads what stands before the dictionary of a frame; `entry` is given each entry of that.
    template <class Frame, class Begin, class Entry>
    Frame read_frames(ChunkReader& in, std::int32_t count, Begin begin, Entry entry) {
        Frame shown{};
        std::int32_t earliest = 0;
        for (std::int32_t i = 0; i < count && !in.error(); i++) {
            Frame frame = begin();
            std::int32_t time = 0;
            in.dict([&](std::string_view key, std::string_view value) {
                if (key == "_f" && !parse_int(value, time))
                    in.fail_here(ErrorCode::bad_value, "frame " + in_quotes(value) + " is not a number");
                entry(key, value, frame);
            });
            if (i > 0 && time >= earliest) continue;
            earliest = time;
            shown = frame;
        }
        return shown;
    }

    void read_transform(ChunkReader& in, std::size_t byte) {
        Node node;
        node.kind = Node::Kind::transform;
        node.byte = byte;
        const std::int32_t id = in.int32();
        node.hidden = read_hidden(in);
        node.children.push_back(in.int32());
        in.int32();  // reserved
        node.layer = in.int32();
        const std::int32_t frames = in.int32();
        if (in.error()) return;
        if (frames < 1) return in.fail_here(ErrorCode::corrupt, std::to_string(frames) + " frames");
        node.placement = read_frames<Placement>(
            in, frames, [] { return Placement{}; },
            [&](std::string_view key, std::string_view value, Placement& placement) {
                if (key == "_r" && !parse_rotation(value, placement.turn))
                    in.fail_here(ErrorCode::bad_value, "rotation " + in_quotes(value) + " is not one");
                if (key == "_t" && !parse_translation(value, placement.move))
                    in.fail_here(ErrorCode::bad_value,
                                 "translation " + in_quotes(value) + " is not three numbers");
            });
        add_node(in, id, node);
    }

    /// Bits 0-1 and 2-3: which component the first and second row take; bits 4, 5, 6: rows with a minus sign.
    static bool parse_rotation(std::string_view text, Turn& turn) {
        std::int32_t bits = 0;
        if (!parse_int(text, bits) || bits < 0 || bits > 127) return false;
        const int a = bits & 3, b = bits >> 2 & 3;
        if (a == 3 || b == 3 || a == b) return false;
        const int axis[3] = {a, b, 3 - a - b};
        for (int i = 0; i < 3; i++) {
            turn.axis[i] = axis[i];
            turn.sign[i] = bits >> (4 + i) & 1 ? -1 : 1;
        }
        return true;
    }

    static bool parse_translation(std::string_view text, std::int64_t (&out)[3]) {
        for (int i = 0; i < 3; i++) {
            const std::size_t end = i < 2 ? text.find(' ') : text.size();
            std::int32_t value = 0;
            if (end == std::string_view::npos || !parse_int(text.substr(0, end), value)) return false;
            out[i] = value;
            text.remove_prefix(i < 2 ? end + 1 : end);
        }
        return true;
    }

    void read_group(ChunkReader& in, std::size_t byte) {
        Node node;
        node.kind = Node::Kind::group;
        node.byte = byte;
        const std::int32_t id = in.int32();
        node.hidden = read_hidden(in);
        const std::int32_t count = in.int32();
        if (in.error()) return;
        if (count < 0 || std::size_t(count) > in.left() / 4)
            return in.fail_here(ErrorCode::truncated, "claims " + std::to_string(count) + " children");
        for (std::int32_t i = 0; i < count; i++) node.children.push_back(in.int32());
        add_node(in, id, node);
    }

    void read_shape(ChunkReader& in, std::size_t byte) {
        Node node;
        node.kind = Node::Kind::shape;
        node.byte = byte;
        const std::int32_t id = in.int32();
        node.hidden = read_hidden(in);
        const std::int32_t count = in.int32();
        if (in.error()) return;
        if (count < 1) return in.fail_here(ErrorCode::corrupt, std::to_string(count) + " models");
        node.model = read_frames<std::int32_t>(
            in, count, [&] { return in.int32(); }, [](std::string_view, std::string_view, std::int32_t) {});
        add_node(in, id, node);
    }

    void add_node(ChunkReader& in, std::int32_t id, const Node& node) {
        if (in.error()) return;
        if (nodes_.size() == std::size_t(kMaxVoxInstances))
            in.fail_here(ErrorCode::too_large, "more than " + std::to_string(kMaxVoxInstances) + " nodes");
        else if (!nodes_.emplace(id, node).second)
            in.fail_here(ErrorCode::corrupt, "node " + std::to_string(id) + " is there twice");
    }

    static std::string name_of(std::int32_t id, const Node& node) {
        return "node " + std::to_string(id) + " (byte " + std::to_string(node.byte) + ")";
    }

    std::optional<Error> collect_instances() {
        if (nodes_.empty()) {
            // Older files: each model at its own origin.
            if (models_.size() > std::size_t(kMaxVoxInstances))
                return bad(ErrorCode::too_large, std::to_string(models_.size()) + " models, the limit is " +
                                                     std::to_string(kMaxVoxInstances));
            for (std::size_t i = 0; i < models_.size(); i++) {
                Placement placement;
                for (int k = 0; k < 3; k++) placement.move[k] = models_[i].size[k] / 2;
                add_instance(std::int32_t(i), 0, placement);
            }
            return std::nullopt;
        }
        for (const auto& [id, node] : nodes_)
            for (const std::int32_t child : node.children) {
                const auto found = nodes_.find(child);
                if (found == nodes_.end())
                    return bad(ErrorCode::corrupt, name_of(id, node) + " has a child " +
                                                       std::to_string(child) + " that is not in the file");
                found->second.has_parent = true;
            }
        std::vector<std::pair<std::size_t, std::int32_t>> roots;  // in file order
        for (const auto& [id, node] : nodes_)
            if (!node.has_parent) roots.emplace_back(node.byte, id);
        std::sort(roots.begin(), roots.end());
        for (const auto& root : roots)
            if (auto error = walk(root.second)) return error;
        for (const auto& [id, node] : nodes_)
            if (!node.reached)
                return bad(ErrorCode::corrupt,
                           name_of(id, node) + " is below itself: a cycle in the scene graph");
        // Where models overlap the later in the file wins; instances of one model, by their shape node.
        std::sort(instances_.begin(), instances_.end(), [](const Instance& a, const Instance& b) {
            if (a.model != b.model) return a.model < b.model;
            return a.byte != b.byte ? a.byte < b.byte : a.order < b.order;
        });
        return std::nullopt;
    }

    /// Depth first, without recursion. A node may have several parents, but never be its own ancestor.
    std::optional<Error> walk(std::int32_t root) {
        struct Step {
            std::int32_t id;
            Placement placement;
            bool hidden;
            std::size_t next;  // child
        };
        std::vector<Step> path;
        auto enter = [&](std::int32_t id, const Placement& parent, bool hidden) -> std::optional<Error> {
            Node& node = nodes_.at(id);
            if (node.on_path)
                return bad(ErrorCode::corrupt,
                           name_of(id, node) + " is below itself: a cycle in the scene graph");
            if (path.size() >= std::size_t(kMaxVoxDepth))
                return bad(ErrorCode::too_large, name_of(id, node) + " lies deeper than " +
                                                     std::to_string(kMaxVoxDepth) + " nodes");
            if (++visits_ > kMaxVoxInstances)
                return bad(ErrorCode::too_large, "the scene graph has more than " +
                                                     std::to_string(kMaxVoxInstances) + " instances, at " +
                                                     name_of(id, node));
            node.reached = node.on_path = true;
            const auto layer = hidden_layers_.find(node.layer);
            hidden = hidden || node.hidden || (layer != hidden_layers_.end() && layer->second);
            const Placement placement =
                node.kind == Node::Kind::transform ? combined(parent, node.placement) : parent;
            if (node.kind == Node::Kind::shape) {
                if (node.model < 0 || std::size_t(node.model) >= models_.size())
                    return bad(ErrorCode::corrupt, name_of(id, node) + " shows model " +
                                                       std::to_string(node.model) + " of " +
                                                       std::to_string(models_.size()));
                if (!hidden) add_instance(node.model, node.byte, placement);
            }
            path.push_back({id, placement, hidden, 0});
            return std::nullopt;
        };
        if (auto error = enter(root, {}, false)) return error;
        while (!path.empty()) {
            Step& step = path.back();
            Node& node = nodes_.at(step.id);
            if (step.next == node.children.size()) {
                node.on_path = false;
                path.pop_back();
                continue;
            }
            const std::int32_t child = node.children[step.next++];
            const Placement placement = step.placement;  // `step` may move
            if (auto error = enter(child, placement, step.hidden)) return error;
        }
        return std::nullopt;
    }

    void add_instance(std::int32_t model, std::size_t byte, const Placement& placement) {
        Instance instance;
        instance.model = model;
        instance.byte = byte;
        instance.order = instances_.size();
        instance.placement = placement;
        const auto& size = models_[std::size_t(model)].size;
        const int first[3] = {0, 0, 0}, last[3] = {size[0] - 1, size[1] - 1, size[2] - 1};
        std::int64_t a[3], b[3];
        place(placement, size, first, a);
        place(placement, size, last, b);
        for (int k = 0; k < 3; k++) {
            instance.low[k] = a[k] < b[k] ? a[k] : b[k];
            instance.high[k] = a[k] < b[k] ? b[k] : a[k];
        }
        instances_.push_back(instance);
    }

    Result<Model> fill() {
        Model model;
        model.format = "vox";
        if (instances_.empty()) return model;  // everything is hidden
        std::int64_t low[3], high[3];
        for (int k = 0; k < 3; k++) {
            low[k] = instances_[0].low[k];
            high[k] = instances_[0].high[k];
            for (const Instance& instance : instances_) {
                low[k] = instance.low[k] < low[k] ? instance.low[k] : low[k];
                high[k] = instance.high[k] > high[k] ? instance.high[k] : high[k];
            }
            if (high[k] - low[k] >= kMaxModelEdge)
                return bad(ErrorCode::too_large, "the scene spans " + std::to_string(high[k] - low[k] + 1) +
                                                     " cells on an axis, the limit is " +
                                                     std::to_string(kMaxModelEdge));
        }
        std::size_t placed = 0;
        for (const Instance& instance : instances_)
            placed += models_[std::size_t(instance.model)].voxels.size() / 4;
        if (placed > kMaxModelCells)
            return bad(ErrorCode::too_large, "the scene places " + std::to_string(placed) +
                                                 " voxels, the limit is " + std::to_string(kMaxModelCells));

        model.size = {int(high[0] - low[0] + 1), int(high[2] - low[2] + 1), int(high[1] - low[1] + 1)};
        std::array<std::optional<BlockId>, 256> ids;
        GridFiller filler(model.grid);
        for (const Instance& instance : instances_) {
            const VoxModel& source = models_[std::size_t(instance.model)];
            for (std::size_t i = 0; i < source.voxels.size(); i += 4) {
                const std::uint8_t index = source.voxels[i + 3];
                if (index == 0) continue;
                if (!ids[index]) {
                    model.palette++;
                    const auto found =
                        catalog_.palette_entry(shown_as_[index], colors_[index], materials_[index]);
                    ids[index] = found.air ? kAir : model.table->add(found.type);
                }
                if (*ids[index] == kAir) continue;
                const int p[3] = {source.voxels[i], source.voxels[i + 1], source.voxels[i + 2]};
                std::int64_t at[3];
                place(instance.placement, source.size, p, at);
                const Cell cell{int(at[0] - low[0]), int(at[2] - low[2]), int(high[1] - at[1])};
                if (!filler.set(cell, *ids[index]))
                    return bad(ErrorCode::too_large, "the scene's grid is over the limit of " +
                                                         std::to_string(kMaxModelBytes) + " bytes");
            }
        }
        return model;
    }

    Bytes bytes_;
    std::string_view where_;
    const BlockCatalog& catalog_;
    std::array<std::uint32_t, 256> colors_;
    std::array<std::uint8_t, 256> shown_as_ = [] {
        std::array<std::uint8_t, 256> same{};
        for (std::size_t i = 0; i < same.size(); i++) same[i] = std::uint8_t(i);
        return same;
    }();
    std::array<std::string_view, 256> materials_{};
    std::optional<VoxModel> pending_size_;
    std::vector<VoxModel> models_;
    std::map<std::int32_t, Node> nodes_;
    std::map<std::int32_t, bool> hidden_layers_;
    std::vector<Instance> instances_;
    int visits_ = 0;
};

}  // namespace

Result<Model> parse_vox(std::span<const std::uint8_t> bytes, std::string_view where,
                        const BlockCatalog& catalog) try {
    return VoxFile(bytes, where, catalog).read();
} catch (const std::bad_alloc&) {
    return fail(ErrorCode::too_large, where, "out of memory");
}

}  // namespace talus
