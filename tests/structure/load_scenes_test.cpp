// Load mode on the scenes that structures are measured on: edits one after another, each compared with a
// solve from nothing, and builds larger than any of them.
#include "connect/joins.h"
#include "structure/load_engine.h"
#include "structure_cases.h"

#include "talus/formats.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace talus {
namespace {

constexpr std::uint32_t kNone = 0xffffffffu;

/// Blocks with an index over their box and one cell around it.
class Build {
 public:
    explicit Build(const std::vector<StructureBlock>& blocks) {
        min_ = blocks.front().cell;
        Cell max = min_;
        for (const StructureBlock& b : blocks) {
            min_ = {std::min(min_.x, b.cell.x), std::min(min_.y, b.cell.y), std::min(min_.z, b.cell.z)};
            max = {std::max(max.x, b.cell.x), std::max(max.y, b.cell.y), std::max(max.z, b.cell.z)};
        }
        min_ = min_ - Cell{1, 1, 1};
        size_ = max - min_ + Cell{2, 2, 2};
        at_.assign(std::size_t(size_.x) * std::size_t(size_.y) * std::size_t(size_.z), kNone);
        for (const StructureBlock& b : blocks) put(b);
    }
    bool holds(Cell c) const { return inside(c) && at_[index(c)] != kNone; }
    /// Outside the box there is no place for a block.
    bool inside(Cell c) const {
        const Cell d = c - min_;
        return d.x >= 0 && d.y >= 0 && d.z >= 0 && d.x < size_.x && d.y < size_.y && d.z < size_.z;
    }
    void put(const StructureBlock& b) {
        std::uint32_t& at = at_[index(b.cell)];
        if (at == kNone) {
            at = std::uint32_t(blocks.size());
            blocks.push_back(b);
        } else {
            blocks[at] = b;
        }
    }
    StructureBlock take(Cell c) {
        const std::uint32_t at = std::exchange(at_[index(c)], kNone);
        const StructureBlock b = blocks[at];
        if (at + 1 < blocks.size()) {
            blocks[at] = blocks.back();
            at_[index(blocks[at].cell)] = at;
        }
        blocks.pop_back();
        return b;
    }
    const StructureBlock& get(Cell c) const { return blocks[at_[index(c)]]; }

    std::vector<StructureBlock> blocks;

 private:
    std::size_t index(Cell c) const {
        const Cell d = c - min_;
        return (std::size_t(d.y) * std::size_t(size_.z) + std::size_t(d.z)) * std::size_t(size_.x) +
               std::size_t(d.x);
    }
    Cell min_, size_;
    std::vector<std::uint32_t> at_;
};

/// All bonds with all bits of their loads, in one number that does not depend on their order.
struct Loads {
    std::uint64_t bonds = 0, mixed = 0;
    friend bool operator==(const Loads&, const Loads&) = default;
};
Loads loads_of(const load::Engine& engine) {
    Loads loads;
    engine.for_each_bond(
        [](void* context, const BondState& state) {
            Loads& l = *static_cast<Loads*>(context);
            l.bonds++;
            const auto [a, b] = state.force.bond;
            std::uint64_t h = 1;
            for (const std::uint64_t part :
                 {std::uint64_t(std::uint32_t(a.x)), std::uint64_t(std::uint32_t(a.y)),
                  std::uint64_t(std::uint32_t(a.z)), std::uint64_t(b.x - a.x + 2 * (b.y - a.y)),
                  std::bit_cast<std::uint64_t>(state.force.force.y)})
                h = ((h ^ part) * 0x9E3779B97F4A7C15u) ^ (h >> 29);
            l.mixed += h ^ (h >> 32);
        },
        &loads);
    return loads;
}

// Removes, puts back, places and replaces; an edit that breaks bonds is taken back, what falls without that
// goes or hangs in the air for a while.
class Editor {
 public:
    Editor(const std::vector<StructureBlock>& blocks, std::uint64_t seed) : build_(blocks), random_(seed) {
        warm_.set_blocks(blocks);
        warm_.solve({}, nullptr, nullptr);
    }

    /// Compares after every so many edits.
    void run(int edits, int every = 1) {
        for (int i = 1; i <= edits; i++) {
            edit(i % every == 0);
            ASSERT_FALSE(testing::Test::HasFatalFailure()) << "edit " << i;
        }
    }
    int stood = 0, fell = 0, broke = 0;

 private:
    void edit(bool compared) {
        const double kind = random_.between(0, 1);
        Cell at = any().cell;
        if (kind < 0.4 || (kind < 0.75 && gone_.empty())) {
            // Every fourth near the ground, where most hangs on it.
            if (random_.chance(0.25))
                for (int tries = 0; tries < 1000 && at.y > 4; tries++) at = any().cell;
            gone_.push_back(build_.get(at));
            take(at);
        } else if (kind < 0.75) {
            const std::size_t k = std::size_t(random_.below(int(gone_.size())));
            const StructureBlock b = gone_[k];
            gone_[k] = gone_.back();
            gone_.pop_back();
            put(b);
        } else {
            // On a block (a replacement), or beside one.
            if (kind < 0.95) at = at + load::kStep[random_.below(6)];
            if (!build_.inside(at)) at = any().cell;
            put({at, random_.between(100, 3000), float(random_.between(0.8, 4)), random_.chance(0.1)});
        }
        const StructureReport report = warm_.solve({}, nullptr, nullptr);
        if (compared) compare(report);
        if (testing::Test::HasFatalFailure()) return;
        stood += report.verdict == Verdict::stands;
        fell += report.verdict == Verdict::falls;
        broke += !report.broken_bonds.empty();
        if (!report.broken_bonds.empty()) {
            take_back();
        } else if (random_.chance(0.5)) {
            for (const auto& part : report.parts)
                for (const Cell c : part) take(c);
        }
        undo_.clear();
    }

    void compare(const StructureReport& report) {
        cold_.set_blocks(build_.blocks);
        const StructureReport right = cold_.solve({}, nullptr, nullptr);
        ASSERT_EQ(report.verdict, right.verdict);
        ASSERT_EQ(report.supports, right.supports);
        ASSERT_EQ(report.rounds, right.rounds);
        ASSERT_TRUE(report.parts == right.parts);
        ASSERT_TRUE(report.broken_bonds == right.broken_bonds);
        ASSERT_TRUE(loads_of(warm_) == loads_of(cold_));
    }

    const StructureBlock& any() {
        return build_.blocks[std::size_t(random_.below(int(build_.blocks.size())))];
    }
    void take(Cell c) {
        undo_.push_back({build_.take(c), true});
        EXPECT_TRUE(warm_.remove(c));
    }
    void put(const StructureBlock& b) {
        if (build_.holds(b.cell))
            undo_.push_back({build_.get(b.cell), true});
        else
            undo_.push_back({b, false});
        build_.put(b);
        warm_.place(b);
    }
    void take_back() {
        for (std::size_t i = undo_.size(); i-- > 0;) {
            const auto& [block, was_there] = undo_[i];
            if (was_there) {
                build_.put(block);
                warm_.place(block);
            } else {
                build_.take(block.cell);
                warm_.remove(block.cell);
            }
        }
    }

    struct Undo {
        StructureBlock block;
        bool was_there;
    };
    Build build_;
    cases::Random random_;
    load::Engine warm_, cold_;
    std::vector<StructureBlock> gone_;
    std::vector<Undo> undo_;
};

TEST(LoadScenes, EditsAsCold) {
    const std::pair<const char*, std::vector<StructureBlock>> scenes[] = {
        {"building", cases::building(46)},
        {"hall", cases::hall({56, 56, 56})},
        {"tower", cases::tower({20, 60, 20})},
        {"viaduct", cases::viaduct({242, 144, 1})}};
    for (const auto& [name, blocks] : scenes) {
        SCOPED_TRACE(name);
        Editor editor(blocks, 11);
        editor.run(60);
        ASSERT_FALSE(HasFatalFailure());
        EXPECT_GT(editor.stood, 20);
    }
}

// TALUS_SOAK=1 and the shared scenes: 1,000 edits of each, from 200,000 blocks on compared every tenth time.
TEST(LoadScenes, ThousandEditsOfEachScene) {
    if (!std::getenv("TALUS_SOAK")) GTEST_SKIP() << "a soak: set TALUS_SOAK=1";
    const char* shared = std::getenv("TALUS_SHARED");
    const std::filesystem::path folder =
        std::filesystem::path(shared ? shared : TALUS_SOURCE_DIR "/../shared") / "scenes";
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << "needs " << folder;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".schem") files.push_back(entry.path());
    std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
        const auto x = std::filesystem::file_size(a), y = std::filesystem::file_size(b);
        return x != y ? x < y : a < b;
    });
    EXPECT_FALSE(files.empty());
    int fell = 0;
    for (const auto& file : files) {
        SCOPED_TRACE(file.filename());
        auto model = read_model(file.string(), BlockCatalog::blockgame());
        ASSERT_TRUE(model);
        const auto blocks = structure_blocks(
            model->grid, 1, [](void*, Cell cell) { return cell.y == 0; }, nullptr);
        Editor editor(blocks, 12);
        editor.run(1000, blocks.size() < 200'000 ? 1 : 10);
        ASSERT_FALSE(HasFatalFailure());
        std::printf("%s: %zu blocks, %d stood, %d fell, %d of them broke\n", file.filename().c_str(),
                    blocks.size(), editor.stood, editor.fell, editor.broke);
        std::fflush(stdout);
        EXPECT_GT(editor.stood, 50);
        fell += editor.fell;
    }
    EXPECT_GT(fell, 50);
}

// What any size must hold to: memory, a word after each round, an end when asked for.
void large(int n, std::size_t at_least) {
    auto blocks = cases::building(n);
    EXPECT_GE(blocks.size(), at_least);
    double weight = 0, on_ground = 0;
    for (StructureBlock& b : blocks) {
        b.strength = 4;
        if (!b.support) weight += b.mass;
    }
    load::Engine engine;
    engine.set_blocks(blocks);
    ASSERT_EQ(engine.solve({}, nullptr, nullptr).verdict, Verdict::stands);
    EXPECT_LT(double(engine.bytes()), 40.0 * double(blocks.size()));
    engine.for_each_bond(
        [](void* context, const BondState& state) {
            const auto [a, b] = state.force.bond;
            if (a.y != b.y && (a.y == 0 || b.y == 0))
                *static_cast<double*>(context) += std::abs(state.force.force.y);
        },
        &on_ground);
    EXPECT_NEAR(on_ground, weight, 1e-9 * weight);  // supports stand on the ground only

    // One edit, and a column cut, as cold.
    const int middle = n / 16 * 8;
    for (const Cell cut : {Cell{n / 2 + 1, n / 8 * 4 + 3, n / 2 + 1}, Cell{middle, 1, middle}}) {
        ASSERT_TRUE(engine.remove(cut));
        std::erase_if(blocks, [&](const StructureBlock& b) { return b.cell == cut; });
        const StructureReport warm = engine.solve({}, nullptr, nullptr);
        load::Engine cold;
        cold.set_blocks(blocks);
        const StructureReport right = cold.solve({}, nullptr, nullptr);
        EXPECT_EQ(warm.verdict, right.verdict);
        EXPECT_EQ(warm.rounds, right.rounds);
        EXPECT_TRUE(warm.parts == right.parts);
        EXPECT_TRUE(loads_of(engine) == loads_of(cold));
    }

    // A collapse: progress tells each round, and ends it.
    for (StructureBlock& b : blocks) b.strength = 0.5f;
    engine.set_blocks(blocks);
    struct Progress {
        std::uint32_t rounds = 0, last = 0;
        static bool tell(void* context, std::uint32_t round) {
            Progress& p = *static_cast<Progress*>(context);
            EXPECT_EQ(round, ++p.rounds);
            return round != p.last;
        }
    } whole, part{0, 3};
    const StructureReport cancelled = engine.solve({}, &Progress::tell, &part);
    EXPECT_EQ(cancelled.verdict, Verdict::unsupported);
    EXPECT_TRUE(cancelled.parts.empty() && cancelled.broken_bonds.empty());
    EXPECT_EQ(part.rounds, 3u);
    const StructureReport all = engine.solve({}, &Progress::tell, &whole);
    EXPECT_EQ(all.verdict, Verdict::falls);
    EXPECT_EQ(whole.rounds, all.rounds);
    EXPECT_LT(double(engine.bytes()), 40.0 * double(blocks.size()));
    EXPECT_GT(all.falling(), blocks.size() / 2);
    std::printf("%zu blocks: %u rounds, %zu fall in %zu parts, %.1f bytes a block\n", blocks.size(),
                all.rounds, all.falling(), all.parts.size(), double(engine.bytes()) / double(blocks.size()));

    // A copy in another place and order does the same.
    const cases::Turn turn{{1, 2, 0}, {true, false, true}, {-70'000, 12, 5'000'000}};
    StructureSettings settings;
    settings.up = turn(Axis::pos_y);
    auto copy = cases::turned(blocks, turn);
    cases::Random random(3);
    cases::shuffle(copy, random);
    engine.set_blocks(copy);
    const StructureReport moved = engine.solve(settings, nullptr, nullptr);
    const StructureReport right = cases::turned(all, turn);
    EXPECT_EQ(moved.rounds, right.rounds);
    EXPECT_TRUE(moved.parts == right.parts);
    EXPECT_TRUE(moved.broken_bonds == right.broken_bonds);

    // And what holds together is found: two halves, the plane between them gone.
    BlockTable table;
    const BlockId stone = table.add(blockgame_stone());
    Grid grid(table);
    blocks = cases::building(n);
    for (const StructureBlock& b : blocks) grid.set(b.cell, stone);
    EXPECT_EQ(find_parts(grid, Joins()).size(), 1u);
    std::size_t left = 0;
    for (const StructureBlock& b : blocks) {
        if (b.cell.x == n / 2) grid.clear(b.cell);
        left += b.cell.x < n / 2;
    }
    const auto halves = find_parts(grid, Joins());
    ASSERT_EQ(halves.size(), 2u);
    EXPECT_EQ(halves[0].size() + halves[1].size(), grid.solid_count());
    EXPECT_TRUE(halves[0].size() == left || halves[1].size() == left);
}

TEST(LoadScenes, Large) { large(60, 60'000); }
TEST(LoadScenes, FourMillionBlocks) {
    if (!std::getenv("TALUS_SOAK")) GTEST_SKIP() << "a soak: set TALUS_SOAK=1";
    large(246, 4'000'000);
}

}  // namespace
}  // namespace talus
