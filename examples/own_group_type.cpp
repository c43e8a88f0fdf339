// A kind of groups of one's own: scaffolds hold less than their wood, scatter when they fall, and make their
// own dust.
#include "talus/group_type.h"

#include <cstdio>

namespace {

class Scaffold final : public talus::GroupType {
 public:
    std::string_view name() const override { return "scaffold"; }

    /// Poles are lashed, not grown together.
    float bond_strength(const talus::GroupView&, talus::Cell, float usual) const override {
        return usual * 0.1f;
    }
    /// What comes off springs away, and small pieces are soon swept up.
    void new_piece(const talus::GroupView&, const talus::Grid& blocks, talus::PieceSettings& piece) override {
        piece.group.velocity.y += 2;
        piece.is_debris = blocks.block_count() <= 20;
    }
    /// A puff of the host's own at each lashing that gave way, in place of the usual dust and sounds.
    bool on_bonds_broken(talus::Level& level, const talus::GroupView& group,
                         std::span<const talus::Bond> bonds) override {
        for (const talus::Bond& bond : bonds) {
            talus::LevelEvent puff{.kind = talus::LevelEvent::Kind::custom};
            puff.group = group.id;
            puff.cell = bond.first;
            puff.point = group.body.to_world({float(bond.first.x) + 0.5f, float(bond.first.y) + 0.5f, 0.5f});
            level.emit(puff);
        }
        return true;
    }
};

struct Outcome {
    int pieces = 0, debris = 0, puffs = 0, usual_dust = 0;
};

/// A post with an arm, of that type of groups.
Outcome let_stand(const char* type, int arm) {
    talus::LevelSettings settings;
    settings.ground = 0;
    talus::Level level(settings);
    Scaffold scaffold;
    level.add_group_type(scaffold);  // before groups of it are made or loaded
    const talus::BlockId planks = level.table().add(*talus::find_real_material("planks"));
    talus::Grid grid(level.table());
    for (int y = 0; y < 8; y++) grid.set({0, y, 0}, planks);
    for (int x = 1; x <= arm; x++) grid.set({x, 7, 0}, planks);
    talus::GroupSettings made;
    made.bears_load = true;
    made.type = type;
    level.check_structure_soon(level.add_group(std::move(grid), made));
    for (int i = 0; i < 5; i++) level.tick();

    Outcome out;
    for (const talus::LevelEvent& event : level.events()) {
        out.puffs += event.kind == talus::LevelEvent::Kind::custom;
        out.usual_dust += event.kind == talus::LevelEvent::Kind::dust;
    }
    for (const talus::GroupId id : level.groups()) {
        out.pieces++;
        out.debris += level.group(id)->is_debris;
    }
    return out;
}

}  // namespace

int main() {
    constexpr int kArm = 24;
    const Outcome plain = let_stand("", kArm), scaffold = let_stand("scaffold", kArm);
    std::printf("an arm of %d planks: %s\n", kArm, plain.pieces == 1 ? "holds" : "comes down");
    std::printf("as a scaffold: %d pieces, %d of them debris, %d puffs, %d of the usual dust\n",
                scaffold.pieces, scaffold.debris, scaffold.puffs, scaffold.usual_dust);
    const bool right = plain.pieces == 1 && plain.puffs == 0 && scaffold.pieces > 1 && scaffold.debris > 0 &&
                       scaffold.puffs > 0 && scaffold.usual_dust == 0;
    return right ? 0 : 1;
}
