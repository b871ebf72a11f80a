#include "models/tile/workers.h"

#include <algorithm>

#include "models/tile/tile_fault.h"

namespace tessera {
namespace {

constexpr std::uint32_t kStackPointer = 2;
constexpr std::uint32_t kArgument = 10;

/// SplitMix64, to seed each worker's generator apart.
std::uint64_t mix(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

Workers::Workers(const TileSettings& settings, const TileProgram& program, TileId tile)
    : settings_(settings),
      program_(program),
      contexts_(settings.tile.contexts),
      free_at_(settings.tile.contexts),
      weights_(kWeightWords) {
  const std::uint32_t stacks = program.image().worker_stacks.count();
  for (std::uint32_t worker = 0; worker < count(); ++worker) {
    engine::Context& context = contexts_[worker];
    context.worker = worker;
    context.workers = count();
    context.tile = index(tile);
    context.x[kStackPointer] = stacks + (worker + 1) * settings.tile.worker_stack_bytes;
    std::uint64_t state = settings.seed + (std::uint64_t{index(tile)} << 16) + worker;
    context.random[0] = mix(state);
    context.random[1] = mix(state);
  }
}

Workers::Work Workers::start(const Launch& launch, const engine::TileMemory& memory,
                             engine::Session& session, RaceCheck* races) {
  engine::Context& context = contexts_[launch.worker];
  const std::uint64_t instructions = context.instructions;
  const std::uint64_t flops = context.flops;
  context.pc = launch.pc;
  context.x[kArgument] = launch.argument;
  context.superstep = launch.superstep;
  context.base_cycle = launch.at.count();
  context.slots = 0;
  const Cycle left = launch.at < settings_.max_cycles ? settings_.max_cycles - launch.at : Cycle(0);
  const std::uint64_t limit = settings_.issue->slots_within(left);
  const engine::Exit exit = races == nullptr
                                ? session.run(program_.worker(), context, memory, limit)
                                : session.run_recording(program_.worker(), context, memory, limit,
                                                        races->log(launch.worker));
  free_at_[launch.worker] = launch.at + settings_.issue->cycles(context.slots);
  if (exit.stop == engine::Stop::limit)
    endless_.push_back(launch.worker);
  else if (exit.stop != engine::Stop::end_worker)
    throw fault(context, exit);
  if (races != nullptr)
    if (const auto conflict = races->check_worker(launch.worker))
      throw tile_fault(program_, TileId{context.tile},
                       context_name(engine::Role::worker, launch.worker), launch.pc, *conflict);
  return {context.instructions - instructions, context.flops - flops,
          exit.stop != engine::Stop::limit};
}

UserError Workers::fault(const engine::Context& context, const engine::Exit& exit) const {
  const std::string name = context_name(engine::Role::worker, context.worker);
  const TileId tile{context.tile};
  if (exit.stop == engine::Stop::fault) return tile_fault(program_, tile, name, exit);
  return tile_fault(program_, tile, name, exit.pc,
                    "instruction that only a supervisor may execute");
}

std::string Workers::endless() const {
  if (endless_.empty()) return {};
  const std::uint32_t worker = endless_.front();
  return fmt::format("worker {} running at cycle {}, pc {}", worker, free_at_[worker].count(),
                     program_.where(contexts_[worker].pc));
}

Cycle Workers::all_free_at() const { return *std::max_element(free_at_.begin(), free_at_.end()); }

}  // namespace tessera
