#include "models/tile/tile_fault.h"

namespace tessera {

std::string context_name(engine::Role role, std::uint32_t worker) {
  return role == engine::Role::supervisor ? "supervisor" : fmt::format("worker {}", worker);
}

UserError tile_fault(const TileProgram& program, TileId tile, const std::string& context,
                     const engine::Exit& exit) {
  const bool fetch = exit.fault == engine::Fault::out_of_range &&
                     (exit.pc % 4 != 0 || exit.pc >= program.code_bytes());
  if (fetch) return tile_fault(program, tile, context, exit.pc, "no code is there");
  std::string problem = engine::describe(exit.fault);
  switch (exit.fault) {
    case engine::Fault::misaligned:
    case engine::Fault::out_of_range:
    case engine::Fault::write_to_code:
    case engine::Fault::race:
      problem += fmt::format(" at address {:#x}", exit.address);
      break;
    default:
      break;
  }
  return tile_fault(program, tile, context, exit.pc, problem);
}

UserError tile_fault(const TileProgram& program, TileId tile, const std::string& context,
                     std::uint32_t pc, const std::string& problem) {
  return UserError("{}, {}: {}\n  pc {}: {}", program.name_of(tile), context, problem,
                   program.where(pc), program.instruction(pc));
}

}  // namespace tessera
