#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/latency/latency.h"
#include "sim/base/counted.h"
#include "sim/data/random.h"
#include "sim/plan/fitted_cost.h"

namespace tessera::latency {
namespace {

constexpr config::Names<Operation, 10> kOperations{
    {{"load", Operation::load},
     {"integer", Operation::integer},
     {"integer_multiply", Operation::integer_multiply},
     {"integer_divide", Operation::integer_divide},
     {"f32_add", Operation::f32_add},
     {"f32_multiply", Operation::f32_multiply},
     {"f32_fma", Operation::f32_fma},
     {"f32_divide", Operation::f32_divide},
     {"square_root", Operation::square_root},
     {"branch", Operation::branch}}};

/// Those that codelets are made for.
constexpr std::array<std::uint32_t, 6> kChains{1, 2, 3, 4, 6, kMostChains};

bool floating(Operation operation) {
  return operation >= Operation::f32_add && operation <= Operation::square_root;
}

}  // namespace

void describe(config::Fields& fields, Options& options) {
  fields.field({"operation", "the instruction that chains consist of; load: a pointer chase"},
               options.operation, kOperations);
  fields.field({"chains", "independent chains that each context interleaves, step by step"},
               options.chains, {1, kMostChains});
  const bool branch = options.operation == Operation::branch;
  const bool made = std::find(kChains.begin(), kChains.end(), options.chains) != kChains.end();
  fields.require(branch ? options.chains == 1 : made, "chains",
                 fmt::format("found {}, allowed {} with operation {}", options.chains,
                             branch ? "1" : "1, 2, 3, 4, 6, 8",
                             config::name_of(kOperations, options.operation)));
  fields.field({"steps", "of each tile, dealt out to its contexts and their chains (rounded up)"},
               options.steps, {1, 1U << 30});
  fields.field({"seed", "of first values and rings"}, options.seed);
}

Latency::Latency(const Options& options, MachineCosts& costs)
    : options_(options), machine_(costs.machine()), code_("latency"), prediction_(predict(costs)) {}

std::uint32_t Latency::chain_steps() const {
  return ceil_div(options_.steps, options_.chains * machine_.tile.contexts);
}

std::uint64_t Latency::all_steps() const {
  return std::uint64_t{chain_steps()} * options_.chains * machine_.tile.contexts * machine_.tiles;
}

nlohmann::ordered_json Latency::plan() const {
  return {{"chains", options_.chains * machine_.tile.contexts}, {"chain_steps", chain_steps()}};
}

/// All tiles take as long as the first.
Prediction Latency::predict(MachineCosts& costs) const {
  // Where contexts compete for issue slots, their order settles after some steps.
  FittedCost compute({{8, 32}}, [&](const FittedCost::Sizes& sizes) {
    program::Program sample(1);
    add_steps(sample, static_cast<std::uint32_t>(sizes[0]));
    return costs.tile(sample).compute_cycles;
  });
  Prediction p;
  p.compute_cycles = compute({chain_steps()});
  p.sync_cycles = costs.barrier();
  p.cycles = p.compute_cycles + p.sync_cycles;
  return p;
}

std::uint64_t Latency::useful_flops() const {
  if (!floating(options_.operation)) return 0;
  return all_steps() * (options_.operation == Operation::f32_fma ? 2 : 1);
}

std::uint64_t Latency::useful_integer_operations() const {
  const bool integer =
      options_.operation >= Operation::integer && options_.operation <= Operation::integer_divide;
  return integer ? all_steps() : 0;
}

std::uint64_t Latency::useful_bytes() const {
  return options_.operation == Operation::load ? all_steps() * sizeof(std::uint32_t) : 0;
}

std::string Latency::problem() const {
  return fmt::format("{}, {} of {} steps", config::name_of(kOperations, options_.operation),
                     counted(options_.chains, "chain"), options_.steps);
}

std::string Latency::peak_type() const {
  return options_.operation == Operation::load ? "bytes" : "f32";
}

/// Divisions s / x go to and fro between x and about s / x; products stay near 1.
std::uint32_t Latency::operand() const {
  constexpr float kBelowOne = 1 - 0x1p-24F;
  switch (options_.operation) {
    case Operation::integer_divide:
      return 0x7fffffff;
    case Operation::f32_multiply:
    case Operation::f32_fma:
      return std::bit_cast<std::uint32_t>(kBelowOne);
    case Operation::f32_add:
    case Operation::f32_divide:
      return std::bit_cast<std::uint32_t>(0.1F);
    default:
      return 0x9e3779b1;
  }
}

ContextData Latency::initial(TileId tile, std::uint32_t context) const {
  const std::uint64_t stream = std::uint64_t{index(tile)} * machine_.tile.contexts + context;
  ContextData data{};
  const auto states = std::span(data).first<kMostChains>();
  const auto ring = std::span(data).last<kRingWords>();
  std::iota(ring.begin(), ring.end(), kMostChains);
  // One cycle through all words (Sattolo).
  for (std::uint32_t i = kRingWords - 1; i > 0; --i)
    std::swap(ring[i], ring[data::random_below(options_.seed, stream, i, i)]);
  for (std::uint32_t& next : ring) next *= sizeof next;
  for (std::uint32_t i = 0; i < kMostChains; ++i) {
    const float value = 1.5F + 0.25F * data::random_signed(options_.seed, stream, kRingWords + i);
    const auto word = 1 + static_cast<std::uint32_t>(
                              data::random_below(options_.seed, stream, kRingWords + i, 1U << 15));
    states[i] = floating(options_.operation) ? std::bit_cast<std::uint32_t>(value) : word;
    if (options_.operation == Operation::load)
      states[i] = ring[std::size_t{i} * (kRingWords / kMostChains)];
  }
  return data;
}

void Latency::add_steps(program::Program& program, std::uint32_t steps) const {
  const std::string name = fmt::format(
      "latency_{}_{}", config::name_of(kOperations, options_.operation), options_.chains);
  const std::uint32_t codelet = program.add_codelet(code_[name]);
  program::ComputeSet prepare{"prepare", {}};
  program::ComputeSet chase{"chains", {}};
  const std::uint32_t contexts = machine_.tile.contexts;
  program::Tensor states{"states",
                         program::Role::result,
                         program::Type::u32,
                         {program.tiles(), contexts, options_.chains}};
  states.runs = [contexts, chains = options_.chains](std::size_t tile, program::Runs& runs) {
    for (std::uint64_t i = 0; i < contexts; ++i)
      runs.add({i * std::tuple_size_v<ContextData>, (tile * contexts + i) * chains, chains, 1});
  };
  for (std::uint32_t t = 0; t < program.tiles(); ++t) {
    const auto fill = [this, tile = TileId{t}](std::span<std::byte> into) {
      for (std::uint32_t i = 0; i < machine_.tile.contexts; ++i) {
        const ContextData data = initial(tile, i);
        std::memcpy(&into[i * sizeof data], data.data(), sizeof data);
      }
    };
    const auto bytes = static_cast<std::uint32_t>(sizeof(ContextData));
    const program::BufferId data =
        program.add_buffer({TileId{t}, bytes * machine_.tile.contexts, 8, true,
                            program::Category::tensors, fill, "chains"});
    states.parts.push_back({{data}, bytes * machine_.tile.contexts});
    chase.vertices.push_back({TileId{t},
                              codelet,
                              program::Executor::all_workers,
                              0,
                              {steps, bytes, program::Place{data}, operand()}});
  }
  if (options_.operation == Operation::load) {
    prepare.vertices = chase.vertices;
    const std::uint32_t addresses = program.add_codelet(code_["latency_prepare"]);
    for (program::Vertex& vertex : prepare.vertices) vertex.codelet = addresses;
    program.main().steps.push_back({std::move(prepare), false});
  }
  program.main().steps.push_back({std::move(chase)});
  program.add_tensor(std::move(states));
}

program::Program Latency::build() const {
  program::Program program(machine_.tiles);
  add_steps(program, chain_steps());
  return program;
}

}  // namespace tessera::latency
