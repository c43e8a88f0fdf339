// recording.h - the recorder of a level, and the bytes it and the replay share. Internal.
//
// Layer: world. Format: docs/formats/recording.md.
#pragma once

#include "talus/recording.h"
#include "world/level_state.h"

#include <map>

namespace talus {

constexpr std::uint64_t kRecordMagic = 0x31434552'534c4154ull;  // "TALSREC1" read as a number
constexpr std::uint32_t kRecordVersion = 4;
constexpr std::size_t kRecordHead = 12, kFrameHead = 8;  // bytes

/// A byte that tells a group from what it should be, as good as always.
std::uint8_t digest_of(const Group& group);
/// Of what is no group's: tells whether a difference lies there.
std::uint64_t counters_of(const LevelState& level);

/// What a host's terrain answers, told as what differs from what it answered last.
class TerrainTape final : public TerrainSource {
 public:
    /// Writes down what `host` answers.
    TerrainTape(TerrainSource& host, const BlockTable& table, const CallLog& calls)
        : host_(&host), calls_(&calls), last_(table) {}
    /// Answers as it is written: fed by read().
    explicit TerrainTape(const BlockTable& table) : last_(table) {}

    BlockId block_at(Cell cell) const override;
    bool is_loaded(const CellBox& cells) const override;
    bool set_block(Cell cell, BlockId block) override;
    bool has_smooth_ground() const override { return host_ ? host_->has_smooth_ground() : smooth_; }
    /// Of the host whose answers are read.
    void set_smooth_ground(bool has) { smooth_ = has; }
    std::optional<SurfacePoint> surface_near(DVec3 point, float reach) const override;
    bool any_in(const DBox& box) const override;
    bool one_thread() const override { return true; }

    TerrainSource* host() const { return host_; }
    /// The answers since the last time.
    void write(ByteWriter& a);
    void read(ByteReader& a);
    /// A question was asked that nobody asked when it was recorded, or the other way round.
    bool out_of_step() const { return asked_more_ || next_ + 1 < surprises_.size() || expected_ > 0; }

 private:
    enum class Kind : std::uint8_t { block, loaded, set, surface, end, any };
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
    const CallLog* calls_ = nullptr;
    mutable Grid last_;
    mutable std::map<Cell, bool> loaded_;
    mutable std::vector<Surprise> surprises_;
    mutable std::size_t next_ = 0;
    mutable std::uint32_t expected_ = 0;
    mutable bool asked_more_ = false;
    bool smooth_ = false;
};

/// Samples of smooth ground, by bricks: each is told the first time one of it is asked for.
class DensityTape final : public DensitySource {
 public:
    /// Writes down what `host` answers to what a call in `calls` asks.
    DensityTape(const DensitySource& host, const CallLog& calls) : host_(&host), calls_(&calls) {}
    /// Answers as it is written: fed by read().
    DensityTape() = default;

    float density_at(Cell sample) const override;
    bool one_thread() const override { return true; }
    const DensitySource* host() const { return host_; }
    void forget(const CellBox& samples);
    bool has_news() const { return !fresh_.empty(); }
    void write(ByteWriter& a);
    void read(ByteReader& a);
    bool out_of_step() const { return asked_more_ || !fresh_.empty(); }

 private:
    struct Samples {
        float at[512];
    };
    const DensitySource* host_ = nullptr;
    const CallLog* calls_ = nullptr;
    mutable std::map<Cell, Samples> known_;                // by brick
    mutable std::vector<std::pair<Cell, Samples>> fresh_;  // told or asked since the last time
    mutable bool asked_more_ = false;
};

struct Recording final : CallLog {
    RecordSink* sink = nullptr;
    LevelState* level = nullptr;
    std::uint64_t frames = 0;
    std::size_t types = 0;  ///< of the table, that are written
    std::unique_ptr<TerrainTape> terrain;
    std::unique_ptr<DensityTape> samples;

    void frame(ByteSpan content);
    void write_new_types();
    void end_tick();
};

}  // namespace talus
