#include "talus/structure.h"

#include "structure/load_engine.h"
#include "structure/physical_engine.h"
#include "talus/grid.h"

namespace talus {

struct StructureSolver::State {
    StructureMode mode;
    load::Engine load;
    physical::Engine physical;
};

StructureSolver::StructureSolver(StructureMode mode) : state_(std::make_unique<State>()) {
    state_->mode = mode;
}
StructureSolver::~StructureSolver() = default;
StructureSolver::StructureSolver(StructureSolver&&) noexcept = default;
StructureSolver& StructureSolver::operator=(StructureSolver&&) noexcept = default;

void StructureSolver::set_blocks(std::span<const StructureBlock> blocks) {
    if (state_->mode == StructureMode::load)
        state_->load.set_blocks(blocks);
    else
        state_->physical.set_blocks(blocks);
}

bool StructureSolver::remove_block(Cell cell) {
    return state_->mode == StructureMode::load ? state_->load.remove(cell) : state_->physical.remove(cell);
}

void StructureSolver::place_block(const StructureBlock& block) {
    if (state_->mode == StructureMode::load)
        state_->load.place(block);
    else
        state_->physical.place(block);
}

StructureReport StructureSolver::solve(const StructureSettings& settings, Progress progress, void* context) {
    return state_->mode == StructureMode::load ? state_->load.solve(settings, progress, context)
                                               : state_->physical.solve(settings, progress, context);
}

void StructureSolver::set_materials(std::span<const StructureMaterial> materials) {
    state_->physical.materials.assign(materials.begin(), materials.end());
    if (materials.empty()) state_->physical.materials.emplace_back();
    state_->physical.forget();
}
void StructureSolver::set_loads(std::span<const StructureLoad> loads) {
    state_->physical.loads.assign(loads.begin(), loads.end());
    state_->physical.forget();
}
void StructureSolver::set_pins(std::span<const StructurePin> pins) {
    state_->physical.pins.assign(pins.begin(), pins.end());
    state_->physical.forget();
}
void StructureSolver::set_bond_limits(std::span<const BondLimits> limits) {
    state_->physical.bond_limits.assign(limits.begin(), limits.end());
    state_->physical.forget();
}
void StructureSolver::set_jobs(JobSystem* jobs) { state_->physical.jobs = jobs; }

bool StructureSolver::refine(int iterations) {
    return state_->mode != StructureMode::physical || state_->physical.refine(iterations);
}

StructureBalance StructureSolver::balance() const { return state_->physical.balance(); }
std::vector<BondState> StructureSolver::bonds_of(Cell cell) const { return state_->physical.bonds_of(cell); }
void StructureSolver::for_each_bond(void (*f)(void* context, const BondState& state), void* context) const {
    if (state_->mode == StructureMode::load)
        state_->load.for_each_bond(f, context);
    else
        state_->physical.for_each_bond(f, context);
}
double StructureSolver::largest_added_load(Cell cell) { return state_->physical.largest_added_load(cell); }
std::size_t StructureSolver::physical_bytes() const { return state_->physical.bytes(); }

std::vector<StructureBlock> structure_blocks(const Grid& grid, float cell_size,
                                             bool (*on_ground)(void* context, Cell cell), void* context,
                                             float strength_factor,
                                             std::vector<StructureMaterial>* materials) {
    const BlockTable& table = grid.table();
    struct Type {
        double mass;
        float strength;
        std::uint16_t material = 0;
    };
    std::vector<Type> types(table.size());
    std::vector<StructureMaterial> found;
    const double cell_volume = double(cell_size) * double(cell_size) * double(cell_size);
    for (std::size_t id = 0; id < types.size(); id++) {
        const BlockType& type = table[BlockId(id)];
        const Material& m = type.material;
        types[id] = {double(m.density) * type.shape.volume() * cell_volume, strength_of(m) * strength_factor};
        const StructureMaterial s{
            double(m.stiffness),
            {double(m.tension), double(m.compression), double(m.cohesion), double(m.friction)}};
        std::size_t at = 0;
        while (at < found.size() && !(found[at] == s)) at++;
        if (at == found.size() && id != kAir) found.push_back(s);
        types[id].material = std::uint16_t(at);
    }
    if (materials) *materials = found;
    std::vector<StructureBlock> blocks;
    blocks.reserve(grid.solid_count());
    grid.for_each([&](Cell cell, BlockId id) {
        if (!table.flags(id).solid) return;
        blocks.push_back({cell, types[id].mass, types[id].strength, on_ground && on_ground(context, cell),
                          materials ? types[id].material : std::uint16_t(0)});
    });
    return blocks;
}

}  // namespace talus
