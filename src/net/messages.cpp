#include "talus/protocol.h"

#include "net/aligned.h"
#include "protocol_generated.h"

#include <cmath>

namespace talus {

namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

wire::Int3 to_wire(Cell c) { return {c.x, c.y, c.z}; }
wire::Double3 to_wire(DVec3 v) { return {v.x, v.y, v.z}; }
wire::PoseRecord to_wire(const Pose& pose) {
    const Quat q = pose.rotation;
    return {to_wire(pose.position), q.x, q.y, q.z, q.w};
}

Offset<wire::BlockInfo> encode_block(FlatBufferBuilder& builder, const BlockType& type) {
    const auto name = builder.CreateString(type.name);
    std::vector<float> boxes;
    if (!type.shape.is_full_cube())
        for (const Box& b : type.shape.boxes()) {
            // A shape beyond the limit is drawn and touched without its last boxes.
            if (boxes.size() == 6 * kMaxShapeBoxes) break;
            boxes.insert(boxes.end(), {b.min.x, b.min.y, b.min.z, b.max.x, b.max.y, b.max.z});
        }
    const auto list = builder.CreateVector(boxes);
    return wire::CreateBlockInfo(builder, name, type.material.color, type.material.solid, type.material.soft,
                                 type.shape.is_full_cube(), list);
}

Offset<wire::Blocks> encode_blocks(FlatBufferBuilder& builder, const Grid& grid) {
    std::vector<wire::BrickHead> heads;
    std::vector<std::uint16_t> ids, lengths;
    for (const Brick* brick : grid.bricks()) {
        std::uint32_t runs = 0;
        for (int i = 0; i < 512;) {
            int end = i + 1;
            while (end < 512 && brick->id_at(end) == brick->id_at(i)) end++;
            ids.push_back(brick->id_at(i));
            lengths.push_back(std::uint16_t(end - i));
            runs++;
            i = end;
        }
        heads.emplace_back(to_wire(brick->coord), runs);
    }
    const auto bricks = builder.CreateVectorOfStructs(heads);
    const auto id_list = builder.CreateVector(ids);
    const auto length_list = builder.CreateVector(lengths);
    return wire::CreateBlocks(builder, bricks, id_list, length_list);
}

Offset<wire::Edits> encode_edits(FlatBufferBuilder& builder, const FrameEdits& edits) {
    std::vector<wire::Int3> cells;
    std::vector<std::uint16_t> blocks;
    for (const BlockEdit& e : edits.edits) {
        cells.push_back(to_wire(e.cell));
        blocks.push_back(e.block);
    }
    const auto cell_list = builder.CreateVectorOfStructs(cells);
    const auto block_list = builder.CreateVector(blocks);
    return wire::CreateEdits(builder, edits.group, cell_list, block_list);
}

Offset<wire::Frame> encode_body(FlatBufferBuilder& builder, const Frame& frame) {
    std::vector<Offset<wire::BlockInfo>> blocks;
    for (const BlockType& type : frame.blocks) blocks.push_back(encode_block(builder, type));
    std::vector<Offset<wire::Group>> groups;
    for (const FrameGroup& g : frame.groups) {
        const auto content = encode_blocks(builder, *g.grid);
        const wire::Float3 pivot(g.pivot.x, g.pivot.y, g.pivot.z);
        const wire::PoseRecord birth = to_wire(g.birth), pose = to_wire(g.pose);
        groups.push_back(wire::CreateGroup(builder, g.id, &pivot, &birth, &pose, content));
    }
    std::vector<Offset<wire::Edits>> edits;
    for (const FrameEdits& e : frame.edits) edits.push_back(encode_edits(builder, e));
    std::vector<wire::GroupPose> poses;
    for (const FramePose& p : frame.poses) poses.emplace_back(to_wire(p.pose), p.group);
    std::vector<wire::Effect> effects;
    for (const FrameEffect& e : frame.effects)
        effects.emplace_back(to_wire(e.point), e.value, e.color, wire::EffectKind(std::uint8_t(e.kind)));
    const auto block_list = builder.CreateVector(blocks);
    const auto removed = builder.CreateVector(frame.removed);
    const auto group_list = builder.CreateVector(groups);
    const auto edit_list = builder.CreateVector(edits);
    const auto pose_list = builder.CreateVectorOfStructs(poses);
    const auto effect_list = builder.CreateVectorOfStructs(effects);
    const wire::Stats stats(frame.stats.blocks, frame.stats.groups, frame.stats.awake, frame.stats.tick_ms);
    return wire::CreateFrame(builder, frame.tick, frame.first_block, block_list, removed, group_list,
                             edit_list, pose_list, effect_list, &stats);
}

std::vector<std::uint8_t> finished(FlatBufferBuilder& builder, Offset<wire::ServerMessage> message) {
    builder.Finish(message);
    return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

Error refuse(std::string what) { return {ErrorCode::bad_value, "message of the page: " + std::move(what)}; }

}  // namespace

std::vector<std::uint8_t> encode_frame(const Frame& frame, const Welcome* welcome) {
    FlatBufferBuilder builder(4096);
    const auto body = encode_body(builder, frame);
    Offset<wire::Welcome> hello;
    if (welcome) {
        Offset<wire::Blocks> terrain;
        if (welcome->terrain) terrain = encode_blocks(builder, *welcome->terrain);
        const wire::Double3 origin = to_wire(welcome->origin);
        std::vector<Offset<wire::Scene>> scenes;
        for (const SceneMenu::Entry& entry : welcome->menu.entries) {
            const auto title = builder.CreateString(entry.title), action = builder.CreateString(entry.action);
            scenes.push_back(wire::CreateScene(builder, title, action));
        }
        const auto scene_list = builder.CreateVector(scenes);
        hello = wire::CreateWelcome(builder, welcome->cell_size, welcome->ticks_per_second,
                                    welcome->ground.has_value(), welcome->ground.value_or(0), &origin,
                                    terrain, scene_list, welcome->menu.current);
    }
    return finished(builder, wire::CreateServerMessage(builder, kProtocolVersion, hello, body));
}

std::vector<std::uint8_t> encode_notice(bool error, std::string_view text) {
    FlatBufferBuilder builder(256);
    const auto words = builder.CreateString(text.data(), text.size());
    const auto notice = wire::CreateNotice(builder, error, words);
    return finished(builder, wire::CreateServerMessage(builder, kProtocolVersion, 0, 0, notice));
}

std::vector<std::uint8_t> encode_request(const ClientRequest& request) {
    FlatBufferBuilder builder(256);
    wire::Request kind = wire::Request_NONE;
    Offset<void> body;
    if (const auto* blast = std::get_if<BlastRequest>(&request)) {
        kind = wire::Request_Blast;
        const wire::Double3 point = to_wire(blast->point);
        body = wire::CreateBlast(builder, &point, blast->power).Union();
    } else if (const auto* dig = std::get_if<DigRequest>(&request)) {
        kind = wire::Request_Dig;
        const wire::Int3 cell = to_wire(dig->cell);
        body = wire::CreateDig(builder, dig->group, &cell).Union();
    } else if (const auto* upload = std::get_if<UploadRequest>(&request)) {
        kind = wire::Request_Upload;
        const auto name = builder.CreateString(upload->name);
        const auto bytes = builder.CreateVector(upload->bytes);
        body = wire::CreateUpload(builder, name, bytes).Union();
    } else if (std::holds_alternative<ResetRequest>(request)) {
        kind = wire::Request_Reset;
        body = wire::CreateReset(builder).Union();
    } else if (const auto* scene = std::get_if<SceneRequest>(&request)) {
        kind = wire::Request_ChooseScene;
        body = wire::CreateChooseScene(builder, scene->number).Union();
    } else {
        kind = wire::Request_Act;
        body = wire::CreateAct(builder).Union();
    }
    builder.Finish(wire::CreateClientMessage(builder, kProtocolVersion, kind, body));
    return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

Result<ClientRequest> decode_request(std::span<const std::uint8_t> given) {
    if (given.size() > kMaxClientMessage)
        return Error{ErrorCode::too_large,
                     "message of the page: over " + std::to_string(kMaxClientMessage) + " bytes"};
    const AlignedBytes aligned(given);
    const std::span<const std::uint8_t> bytes = aligned.bytes();
    flatbuffers::Verifier verifier(bytes.data(), bytes.size(), 16, 64);
    if (!verifier.VerifyBuffer<wire::ClientMessage>(nullptr)) return refuse("malformed");
    const auto* message = flatbuffers::GetRoot<wire::ClientMessage>(bytes.data());
    if (message->version() != kProtocolVersion)
        return Error{ErrorCode::unsupported,
                     "message of the page: protocol version " + std::to_string(message->version()) +
                         ", this server speaks " + std::to_string(kProtocolVersion) + "; reload the page"};
    if (const auto* blast = message->request_as_Blast()) {
        if (!blast->point()) return refuse("blast without a point");
        const DVec3 p{blast->point()->x(), blast->point()->y(), blast->point()->z()};
        for (int k = 0; k < 3; k++)
            if (!(std::fabs(p[k]) <= kMaxPosition)) return refuse("blast outside of the world");
        if (!(blast->power() > 0 && blast->power() <= kMaxBlastPower))
            return refuse("blast of power " + std::to_string(blast->power()) + ", the limit is " +
                          std::to_string(int(kMaxBlastPower)));
        return ClientRequest{BlastRequest{p, blast->power()}};
    }
    if (const auto* dig = message->request_as_Dig()) {
        if (!dig->cell()) return refuse("dig without a cell");
        const Cell c{dig->cell()->x(), dig->cell()->y(), dig->cell()->z()};
        for (const std::int32_t v : {c.x, c.y, c.z})
            if (v < -kMaxCell || v > kMaxCell) return refuse("dig outside of the world");
        return ClientRequest{DigRequest{dig->group(), c}};
    }
    if (const auto* upload = message->request_as_Upload()) {
        if (!upload->bytes() || upload->bytes()->size() == 0) return refuse("upload without bytes");
        if (upload->bytes()->size() > kMaxUpload)
            return Error{ErrorCode::too_large, "upload of " + std::to_string(upload->bytes()->size()) +
                                                   " bytes, the limit is " + std::to_string(kMaxUpload)};
        std::string name = upload->name() ? upload->name()->str() : std::string();
        if (name.size() > kMaxUploadName) name.resize(kMaxUploadName);
        for (char& c : name)
            if (static_cast<unsigned char>(c) < 32 || c == 127) c = '?';  // it goes into the log
        if (name.empty()) name = "upload";
        return ClientRequest{
            UploadRequest{std::move(name), {upload->bytes()->begin(), upload->bytes()->end()}}};
    }
    if (message->request_as_Reset()) return ClientRequest{ResetRequest{}};
    if (const auto* scene = message->request_as_ChooseScene()) {
        if (scene->number() >= kMaxScenes)
            return refuse("scene " + std::to_string(scene->number()) + ", there are fewer");
        return ClientRequest{SceneRequest{scene->number()}};
    }
    if (message->request_as_Act()) return ClientRequest{ActRequest{}};
    return refuse("unknown request");
}

}  // namespace talus
