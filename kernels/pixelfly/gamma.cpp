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

std::string typed(const char* name, program::Type type) {
  return fmt::format("{}_{}", name, config::name_of(data::kFloatTypes, type));
}

/// An array of the runs as workers read them.
program::BufferId list_of(const sparse::Statement& statement, program::Type type,
                          const Scaling::Runs& runs) {
  const auto lists = [type, runs, workers = statement.contexts](sparse::Tile tile) {
    return FactorLists(type, runs(tile), workers).list;
  };
  return statement.list(
      "factors", [lists](sparse::Tile tile) { return lists(tile).size(); }, lists);
}

}  // namespace

Scaling::Scaling(const sparse::Statement& statement, program::Type type, program::BufferId gamma,
                 const Runs& runs)
    : type_(type),
      code_(statement.codelet(typed("gamma_scale", type))),
      runs_(runs),
      gamma_(gamma),
      lists_(list_of(statement, type, runs)) {}

Scaling::Scaling(const sparse::Statement& statement, program::Type type, double gamma,
                 const Runs& runs)
    : type_(type),
      code_(statement.codelet(typed("gamma_scale", type))),
      runs_(runs),
      lists_(list_of(statement, type, runs)) {
  gamma_ = statement.list(
      "gamma", [runs](sparse::Tile tile) { return runs(tile).empty() ? 0U : 1U; },
      [of_s = factor_of(Factor::of_s, gamma)](sparse::Tile) { return std::vector{of_s}; });
}

void Scaling::add(plan::Calls& calls, sparse::Tile tile, program::BufferId from,
                  program::BufferId to) const {
  add_call(calls, tile, code_, {Place{from}, Place{to}, Place{gamma_}});
}

sparse::Codelet Scaling::gradient_code(const sparse::Statement& statement, program::Type type) {
  return statement.codelet(typed("gamma_gradients", type));
}

void Scaling::add_gradients(plan::Calls& calls, sparse::Tile tile, sparse::Codelet code,
                            program::BufferId gradients, program::BufferId weights,
                            program::BufferId sums) const {
  add_call(calls, tile, code, {Place{gradients}, Place{weights}, Place{gamma_}, Place{sums}});
}

void Scaling::add_call(plan::Calls& calls, sparse::Tile tile, sparse::Codelet code,
                       std::vector<program::Argument> arguments) const {
  const FactorLists lists(type_, runs_(tile), code.contexts);
  if (lists.list.empty()) return;
  lists.add_arguments(arguments, lists_);
  calls.add(code.all(std::move(arguments)));
}

program::Vertex sum_of(sparse::Codelet code, program::BufferId from, std::uint64_t count,
                       program::BufferId to) {
  return code.one({Place{from}, Place{to}, word(count)});
}

}  // namespace tessera::pixelfly
