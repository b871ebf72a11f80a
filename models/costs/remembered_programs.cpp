#include "models/costs/remembered_programs.h"

#include "models/fabric/fabric.h"
#include "sim/config/writers.h"

namespace tessera {
namespace {

std::string kind_of(const MachineConfig& machine) {
  MachineConfig kind = program::compiled_for(machine);
  kind.tile.sram_kib = TileConfig{}.sram_kib;
  return config::resolved(kind).dump();
}

}  // namespace

program::Needs RememberedPrograms::needs(const program::Program& program,
                                         const MachineConfig& machine) {
  const std::pair key{program::fingerprint(program), kind_of(machine)};
  const std::uint64_t capacity = std::uint64_t{machine.tile.sram_kib} * 1024;
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(key);
    // What does not fit is compiled for its message.
    if (found != known_.end() && found->second.memory.max_bytes <= capacity) return found->second;
  }
  program::Needs made =
      program::needs(program, machine, *fabric::make_exchange_compiler(machine.fabric));
  const std::lock_guard lock(mutex_);
  return known_.emplace(key, std::move(made)).first->second;
}

}  // namespace tessera
