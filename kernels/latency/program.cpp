#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "kernels/check/comparison.h"
#include "kernels/codelet.h"
#include "sim/base/counted.h"
#include "sim/data/random.h"
#include "sim/plan/lower.h"
#include "sim/plan/uniform.h"
#include "sim/program/catalogue.h"

/// The workload `latency`: chains of dependent instructions on every context of every tile; `load`
/// is a pointer chase. With one chain a context a step takes the instruction's latency; more chains
/// or contexts hide it.
namespace tessera::latency {

using plan::Tile;

namespace {

enum class Operation {
  load,
  integer,
  integer_multiply,
  integer_divide,
  f32_add,
  f32_multiply,
  f32_fma,
  f32_divide,
  square_root,
  branch
};

constexpr std::uint32_t kMostChains = 8;
constexpr std::uint32_t kRingWords = 64;  ///< words in a context's ring of pointers

/// A context's data before or after a run: states of its chains, then its ring: each word holds the
/// byte offset (in this array) of the next. Floating-point states are stored as bits.
using ContextData = std::array<std::uint32_t, kMostChains + kRingWords>;

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

/// Numbers of chains that have codelets.
constexpr std::array<std::uint32_t, 6> kChains{1, 2, 3, 4, 6, kMostChains};

struct Options {
  Operation operation = Operation::load;
  std::uint32_t chains = 1;
  std::uint32_t steps = 110880;
  std::uint64_t seed = 1;
};
void describe(config::Fields& fields, Options& options) {
  fields.field({"operation", "instruction of which chains consist; load: a pointer chase"},
               options.operation, kOperations);
  fields.field({"chains", "independent chains that each context interleaves"}, options.chains,
               {1, kMostChains});
  const bool branch = options.operation == Operation::branch;
  const bool made = std::find(kChains.begin(), kChains.end(), options.chains) != kChains.end();
  fields.require(branch ? options.chains == 1 : made, "chains",
                 "found {}, allowed {} with operation {}", options.chains,
                 branch ? "1" : "1, 2, 3, 4, 6, 8",
                 config::name_of(kOperations, options.operation));
  fields.field(
      {"steps", "steps per tile, divided among its contexts and their chains (rounded up)"},
      options.steps, {1, 1U << 30});
  fields.field({"seed", "seed of first values and pointer rings"}, options.seed);
}

bool floating(Operation operation) {
  return operation >= Operation::f32_add && operation <= Operation::square_root;
}

/// One step of a floating-point chain, rounded to nearest.
float step(Operation operation, float state, float operand) {
  switch (operation) {
    case Operation::f32_add:
      return state + operand;
    case Operation::f32_multiply:
      return state * operand;
    case Operation::f32_fma:
      return std::fma(state, operand, operand);
    case Operation::f32_divide:
      return operand / state;
    default:
      return std::sqrt(state);
  }
}

/// One step of any other chain.
std::uint32_t step(Operation operation, const ContextData& data, std::uint32_t state,
                   std::uint32_t operand) {
  switch (operation) {
    case Operation::load:
      return data.at(state / sizeof state);
    case Operation::integer:
      return state + operand;
    case Operation::integer_multiply:
      return state * operand;
    case Operation::integer_divide:
      return operand / state;
    default:
      return 0;
  }
}

class Latency : public Workload {
 public:
  Latency(const Options& options, MachineCosts& costs);

  [[nodiscard]] program::Program lowered() const override {
    return plan::lower(describe(machine_.tiles, chain_steps()));
  }
  /// Every chain must end with exactly the reference's bits.
  [[nodiscard]] CheckResult check(const TensorReader& tensors,
                                  const CheckRequest& request) const override {
    HostThreads threads(request.threads);
    return kernels::compare_all(
        "states", tensors, threads, [&](std::uint64_t i) -> kernels::Expected {
          const std::uint64_t context = i / options_.chains;
          const ContextData data = initial(TileId(word(context / machine_.tile.contexts)),
                                           word(context % machine_.tile.contexts));
          return {static_cast<double>(expected(data, word(i % options_.chains))), 0};
        });
  }

 private:
  /// The program on `tiles` tiles, with chains of `steps`.
  [[nodiscard]] plan::Description describe(std::uint32_t tiles, std::uint32_t steps) const {
    plan::Description description(tiles);
    constexpr auto kBytes = static_cast<std::uint32_t>(sizeof(ContextData));
    const std::uint32_t contexts = machine_.tile.contexts;
    const BufferId data = description.array(
        {"chains",
         [contexts](Tile /*tile*/) -> std::uint64_t { return std::uint64_t{contexts} * kBytes; },
         true,
         [this](Tile tile, std::span<std::byte> into) {
           for (std::uint32_t i = 0; i < machine_.tile.contexts; ++i) {
             const ContextData first = initial(TileId(tile), i);
             std::memcpy(&into[i * sizeof first], first.data(), sizeof first);
           }
         }});
    const auto compute = [&](const char* step, const std::string& name) {
      const program::Vertex vertex = kernels::Codelet::of(code_, description, name, contexts)
                                         .all({steps, kBytes, Place{data}, operand()});
      description.compute(step, tiles,
                          [vertex](Tile /*tile*/, Calls& calls) { calls.add(vertex); });
    };
    if (options_.operation == Operation::load) {
      description.measure(false);
      compute("prepare", "latency_prepare");
      description.measure(true);
    }
    compute("chains", fmt::format("latency_{}_{}", config::name_of(kOperations, options_.operation),
                                  options_.chains));
    description.tensor(
        {{"states", program::Role::result, program::Type::u32, {tiles, contexts, options_.chains}},
         data,
         [contexts, chains = options_.chains](Tile tile, program::Runs& runs) {
           constexpr std::uint64_t kWords = std::tuple_size_v<ContextData>;
           const std::uint64_t first = std::uint64_t{tile} * contexts;
           for (std::uint64_t i = 0; i < contexts; ++i)
             runs.add({i * kWords, (first + i) * chains, chains, 1});
         }});
    return description;
  }
  [[nodiscard]] std::uint32_t chain_steps() const {
    return ceil_div(options_.steps, options_.chains * machine_.tile.contexts);
  }
  /// The chains' operand: divisions s / x alternate between x and about s / x; products stay near
  /// 1.
  [[nodiscard]] std::uint32_t operand() const {
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
  [[nodiscard]] ContextData initial(TileId tile, std::uint32_t context) const {
    const std::uint64_t stream = std::uint64_t{index(tile)} * machine_.tile.contexts + context;
    ContextData data{};
    const auto states = std::span(data).first<kMostChains>();
    const auto ring = std::span(data).last<kRingWords>();
    std::iota(ring.begin(), ring.end(), kMostChains);
    // A single cycle through all words (Sattolo's algorithm).
    for (std::uint32_t i = kRingWords - 1; i > 0; --i)
      std::swap(ring[i], ring[data::random_below(options_.seed, stream, i, i)]);
    for (std::uint32_t& next : ring) next *= sizeof next;
    for (std::uint32_t i = 0; i < kMostChains; ++i) {
      const float value = 1.5F + 0.25F * data::random_signed(options_.seed, stream, kRingWords + i);
      const auto word = 1 + static_cast<std::uint32_t>(data::random_below(
                                options_.seed, stream, kRingWords + i, 1U << 15));
      states[i] = floating(options_.operation) ? std::bit_cast<std::uint32_t>(value) : word;
      if (options_.operation == Operation::load)
        states[i] = ring[std::size_t{i} * (kRingWords / kMostChains)];
    }
    return data;
  }
  /// The state of one chain after all its steps.
  [[nodiscard]] std::uint32_t expected(const ContextData& data, std::uint32_t chain) const {
    const Operation operation = options_.operation;
    std::uint32_t state = data.at(chain);
    if (operation >= Operation::f32_add && operation <= Operation::square_root) {
      const auto value = std::bit_cast<float>(operand());
      auto number = std::bit_cast<float>(state);
      for (std::uint32_t i = 0; i < chain_steps(); ++i) number = step(operation, number, value);
      return std::bit_cast<std::uint32_t>(number);
    }
    for (std::uint32_t i = 0; i < chain_steps(); ++i)
      state = step(operation, data, state, operand());
    return state;
  }

  Options options_;
  const MachineConfig machine_;
  const elf::KernelCode code_;
};

Latency::Latency(const Options& options, MachineCosts& costs)
    : options_(options), machine_(costs.machine()), code_("latency") {
  // If contexts compete for issue slots, their order settles after some steps.
  const Prediction prediction = plan::predict_uniform(
      {{8, 32}}, {chain_steps()},
      [this](const Sizes& sizes) { return describe(1, word(sizes[0])); }, costs);
  const Operation operation = options.operation;
  const bool load = operation == Operation::load;
  const bool integer = operation >= Operation::integer && operation <= Operation::integer_divide;
  const std::uint32_t chains = options.chains * machine_.tile.contexts;
  const std::uint64_t steps = std::uint64_t{chain_steps()} * chains * machine_.tiles;
  const std::uint64_t flops = operation == Operation::f32_fma ? 2 : 1;
  summarise({.problem = fmt::format("{}, {} of {} steps", config::name_of(kOperations, operation),
                                    counted(options.chains, "chain"), options.steps),
             .peak_type = load ? "bytes" : "f32",
             .prediction = prediction,
             .facts = {{"tile_chains", chains}, {"chain_steps", chain_steps()}},
             .useful_flops = floating(operation) ? flops * steps : 0,
             .useful_integer_operations = integer ? steps : 0,
             .useful_bytes = load ? steps * sizeof(std::uint32_t) : 0});
}

}  // namespace

Kernel kernel() {
  return make_kernel<Options, Latency>("latency",
                                       "chains of dependent instructions on every context");
}

}  // namespace tessera::latency
