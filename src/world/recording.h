// recording.h - the recorder of a level, and the bytes it and the replay share. Internal.
//
// Layer: world. Format: docs/formats/recording.md.
#pragma once

#include "talus/recording.h"
#include "world/level_state.h"

#include <map>

namespace talus {

constexpr std::uint64_t kRecordMagic = 0x31434552'534c4154ull;  // "TALSREC1" read as a number
constexpr std::uint32_t kRecordVersion = 2;
constexpr std::size_t kRecordHead = 12, kFrameHead = 8;  // bytes

/// A byte that tells a group from what it should be, as good as always.
std::uint8_t digest_of(const Group& group);
/// Of what Level::hash() leaves out.
std::uint64_t counters_of(const LevelState& level);

/// What a host's terrain answers, told as what differs from what it answered last.
class TerrainTape final : public TerrainSource {
 public:
    /// Writes down what `host` answers.
    explicit TerrainTape(TerrainSource& host, const BlockTable& table) : host_(&host), last_(table) {}
    /// Answers as it is written: fed by read().
    explicit TerrainTape(const BlockTable& table) : last_(table) {}

    BlockId block_at(Cell cell) const override;
    bool is_loaded(const CellBox& cells) const override;
    bool set_block(Cell cell, BlockId block) override;
    std::optional<SurfacePoint> surface_near(DVec3 point, float reach) const override;

    TerrainSource* host() const { return host_; }
    /// The answers since the last time.
    void write(ByteWriter& a);
    void read(ByteReader& a);
    /// A question was asked that nobody asked when it was recorded, or the other way round.
    bool out_of_step() const { return asked_more_ || next_ + 1 < surprises_.size() || expected_ > 0; }

 private:
    enum class Kind : std::uint8_t { block, loaded, set, surface, end };
    /// So many answers as expected, then one that was not.
    struct Surprise {
        std::uint32_t as_expected = 0;
        Kind kind = Kind::end;
        std::uint16_t value = 0;
        SurfacePoint surface;
    };
    /// @return the answer; `ask` asks the host
    template <class Ask>
    std::uint16_t answer(Kind kind, std::uint16_t expected, Ask&& ask) const;

    TerrainSource* host_ = nullptr;
    mutable Grid last_;
    mutable std::map<Cell, bool> loaded_;
    mutable std::vector<Surprise> surprises_;
    mutable std::size_t next_ = 0;
    mutable std::uint32_t expected_ = 0;
    mutable bool asked_more_ = false;
};

struct Recording final : CallLog {
    RecordSink* sink = nullptr;
    LevelState* level = nullptr;
    std::uint64_t frames = 0;
    std::size_t types = 0;  ///< of the table, that are written
    std::unique_ptr<TerrainTape> terrain;

    void frame(ByteSpan content);
    void write_new_types();
    void end_tick();
};

}  // namespace talus
