#include "talus/structure.h"

#include "structure/load_engine.h"
#include "talus/grid.h"

namespace talus {

struct StructureSolver::State {
    load::Engine engine;
};

StructureSolver::StructureSolver() : state_(std::make_unique<State>()) {}
StructureSolver::~StructureSolver() = default;
StructureSolver::StructureSolver(StructureSolver&&) noexcept = default;
StructureSolver& StructureSolver::operator=(StructureSolver&&) noexcept = default;

void StructureSolver::set_blocks(std::span<const StructureBlock> blocks) {
    state_->engine.set_blocks(blocks);
}

bool StructureSolver::remove_block(Cell cell) { return state_->engine.remove(cell); }

void StructureSolver::place_block(const StructureBlock& block) { state_->engine.place(block); }

StructureReport StructureSolver::solve(const StructureSettings& settings, Progress progress, void* context) {
    return state_->engine.solve(settings, progress, context);
}

std::vector<StructureBlock> structure_blocks(const Grid& grid, float cell_size,
                                             bool (*on_ground)(void* context, Cell cell), void* context,
                                             float strength_factor) {
    const BlockTable& table = grid.table();
    struct Type {
        double mass;
        float strength;
    };
    std::vector<Type> types(table.size());
    const double cell_volume = double(cell_size) * double(cell_size) * double(cell_size);
    for (std::size_t id = 0; id < types.size(); id++) {
        const BlockType& type = table[BlockId(id)];
        types[id] = {double(type.material.density) * type.shape.volume() * cell_volume,
                     strength_of(type.material) * strength_factor};
    }
    std::vector<StructureBlock> blocks;
    blocks.reserve(grid.solid_count());
    grid.for_each([&](Cell cell, BlockId id) {
        if (!table.flags(id).solid) return;
        blocks.push_back({cell, types[id].mass, types[id].strength, on_ground && on_ground(context, cell)});
    });
    return blocks;
}

}  // namespace talus
