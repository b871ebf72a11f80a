#include "kernels/pixelfly/gamma.h"

#include <fmt/format.h>

#include "sim/data/element.h"

namespace tessera::pixelfly {

using program::Place;

float factor_of(Factor factor, double gamma) {
  const auto of_s = static_cast<float>(gamma);
  if (factor == Factor::of_s) return of_s;
  return factor == Factor::of_uv ? 1 - of_s : 1;
}

double scaled(double value, float factor, program::Type type) {
  return data::rounded(type, static_cast<double>(static_cast<float>(value) * factor));
}

namespace {

/// Runs as workers read them, who share words.
struct FactorLists {
  FactorLists(program::Type type, const std::vector<FactorRun>& runs, std::uint32_t workers) {
    const std::uint64_t lanes = 8 / data::element_bytes(type);
    std::uint64_t elements = 0;
    for (const FactorRun& run : runs) elements += run.count;
    words = {ceil_div(elements, lanes), workers};
    auto run = runs.begin();
    std::uint64_t used = 0;  // of that run
    for (std::uint32_t w = 0; w < workers; ++w) {
      std::uint64_t left = std::min(words.part(w).end * lanes, elements) -
                           std::min(words.begin(w) * lanes, elements);
      while (left > 0) {
        const std::uint64_t taken = std::min(left, run->count - used);
        list.push_back(word(4 * taken + static_cast<std::uint64_t>(run->factor)));
        left -= taken;
        used += taken;
        if (used == run->count) {
          ++run;
          used = 0;
        }
      }
      first.push_back(word(list.size()));
    }
  }
  /// Adds each worker's arguments: its list in `stored`, how many runs, the first byte.
  void add_arguments(std::vector<program::Argument>& arguments, program::BufferId stored) const {
    for (std::uint32_t w = 0; w < words.parts; ++w) {
      arguments.emplace_back(Place{stored, word(first[w] * sizeof(std::uint32_t))});
      arguments.emplace_back(first[w + 1] - first[w]);
      arguments.emplace_back(word(words.begin(w) * 8));
    }
  }

  kernels::EvenSplit words;
  std::vector<std::uint32_t> list, first{0};  ///< `first`: of each worker
};

void add_workers(sparse::Assembly& assembly, program::Type type, const std::vector<FactorRun>& runs,
                 program::Vertex& vertex) {
  const FactorLists lists(type, runs, assembly.contexts());
  lists.add_arguments(vertex.arguments, assembly.list(index(vertex.tile), lists.list, "factors"));
}

std::string typed(const char* name, program::Type type) {
  return fmt::format("{}_{}", name, config::name_of(data::kFloatTypes, type));
}

}  // namespace

Scaling::Scaling(const sparse::Statement& statement, program::Type type, double gamma,
                 std::function<std::vector<FactorRun>(sparse::Tile)> runs)
    : type_(type), code_(statement.codelet(typed("gamma_scale", type))), runs_(std::move(runs)) {
  const auto lists = [type, runs = runs_, code = code_](sparse::Tile tile) {
    return FactorLists(type, runs(tile), code.workers).list;
  };
  const auto count = [lists](sparse::Tile tile) { return lists(tile).size(); };
  lists_ = statement.list("factors", count, lists);
  gamma_ = statement.list(
      "gamma", [count](sparse::Tile tile) { return count(tile) > 0 ? 1U : 0U; },
      [of_s = factor_of(Factor::of_s, gamma)](sparse::Tile) { return std::vector{of_s}; });
}

void Scaling::add(plan::Calls& calls, sparse::Tile tile, program::BufferId values) const {
  const FactorLists lists(type_, runs_(tile), code_.workers);
  if (lists.list.empty()) return;
  std::vector<program::Argument> arguments{Place{values}, Place{values}, Place{gamma_}};
  lists.add_arguments(arguments, lists_);
  calls.add(code_.call(std::move(arguments)));
}

program::Vertex scaling(sparse::Assembly& assembly, program::Type type, TileId tile,
                        const ScaledElements& elements) {
  program::Vertex vertex{tile,
                         assembly.codelet(typed("gamma_scale", type)),
                         program::Executor::all_workers,
                         0,
                         {Place{elements.from}, Place{elements.to}, Place{elements.gamma}}};
  add_workers(assembly, type, elements.runs, vertex);
  return vertex;
}

program::Vertex gradient_scaling(sparse::Assembly& assembly, program::Type type, TileId tile,
                                 const ScaledElements& elements, program::BufferId weights,
                                 program::BufferId sums) {
  program::Vertex vertex{
      tile,
      assembly.codelet(typed("gamma_gradients", type)),
      program::Executor::all_workers,
      0,
      {Place{elements.from}, Place{weights}, Place{elements.gamma}, Place{sums}}};
  add_workers(assembly, type, elements.runs, vertex);
  return vertex;
}

program::Vertex sum_of(sparse::Assembly& assembly, TileId tile, program::BufferId from,
                       std::uint64_t count, program::BufferId to) {
  return {tile,
          assembly.codelet("gamma_sum"),
          program::Executor::one_worker,
          0,
          {Place{from}, Place{to}, word(count)}};
}

}  // namespace tessera::pixelfly
