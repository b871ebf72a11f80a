#include "kernels/pixelfly/operands.h"

#include <fmt/format.h>

#include "sim/data/element.h"

namespace tessera::pixelfly {

using sparse::BlockMatrix;

float factor_of(Factor factor, double gamma) {
  const auto of_s = static_cast<float>(gamma);
  if (factor == Factor::of_s) return of_s;
  return factor == Factor::of_uv ? 1 - of_s : 1;
}

double scaled(double value, float factor, program::Type type) {
  return data::rounded(type, static_cast<double>(static_cast<float>(value) * factor));
}

namespace {

/// Factor runs in the workers' format; workers divide words.
struct FactorLists {
  FactorLists(program::Type type, const std::vector<FactorRun>& runs, std::uint32_t workers) {
    const std::uint64_t lanes = 8 / data::element_bytes(type);
    std::uint64_t elements = 0;
    for (const FactorRun& run : runs) elements += run.count;
    words = {ceil_div(elements, lanes), workers};
    auto run = runs.begin();
    std::uint64_t used = 0;  // elements used of that run
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
  /// Adds each worker's arguments: its list in `stored`, number of runs, first byte.
  void add_arguments(std::vector<program::Argument>& arguments, BufferId stored) const {
    for (std::uint32_t w = 0; w < words.parts; ++w) {
      arguments.emplace_back(Place{stored, word(first[w] * sizeof(std::uint32_t))});
      arguments.emplace_back(first[w + 1] - first[w]);
      arguments.emplace_back(word(words.begin(w) * 8));
    }
  }

  EvenSplit words;
  std::vector<std::uint32_t> list, first{0};  ///< `first`: each worker's start in the list
};

std::string typed(const char* name, program::Type type) {
  return fmt::format("{}_{}", name, config::name_of(data::kFloatTypes, type));
}

/// An array of the runs in the workers' format.
BufferId list_of(const sparse::Statement& statement, program::Type type,
                 const Scaling::Runs& runs) {
  const auto lists = [type, runs, workers = statement.contexts](sparse::Tile tile) {
    return FactorLists(type, runs(tile), workers).list;
  };
  return statement.list(
      "factors", [lists](sparse::Tile tile) { return lists(tile).size(); }, lists);
}

}  // namespace

Scaling::Scaling(const sparse::Statement& statement, program::Type type, BufferId gamma,
                 const Runs& runs)
    : type_(type),
      code_(statement.codelet(typed("gamma_scale", type))),
      runs_(runs),
      gamma_(gamma),
      lists_(list_of(statement, type, runs)) {}

Scaling::Scaling(const sparse::Statement& statement, program::Type type, double gamma,
                 const Runs& runs)
    : Scaling(statement, type,
              statement.list(
                  "gamma", [runs](sparse::Tile tile) { return runs(tile).empty() ? 0U : 1U; },
                  [of_s = factor_of(Factor::of_s, gamma)](sparse::Tile /*tile*/) {
                    return std::vector{of_s};
                  }),
              runs) {}

void Scaling::add(Calls& calls, sparse::Tile tile, BufferId from, BufferId to) const {
  add_call(calls, tile, code_, {Place{from}, Place{to}, Place{gamma_}});
}

sparse::Codelet Scaling::gradient_code(const sparse::Statement& statement, program::Type type) {
  return statement.codelet(typed("gamma_gradients", type));
}

void Scaling::add_gradients(Calls& calls, sparse::Tile tile, sparse::Codelet code,
                            BufferId gradients, BufferId weights, BufferId sums) const {
  add_call(calls, tile, code, {Place{gradients}, Place{weights}, Place{gamma_}, Place{sums}});
}

void Scaling::add_call(Calls& calls, sparse::Tile tile, sparse::Codelet code,
                       std::vector<program::Argument> arguments) const {
  const FactorLists lists(type_, runs_(tile), code.contexts);
  if (lists.list.empty()) return;
  lists.add_arguments(arguments, lists_);
  calls.add(code.all(std::move(arguments)));
}

program::Vertex sum_of(sparse::Codelet code, BufferId from, std::uint64_t count, BufferId to) {
  return code.one({Place{from}, Place{to}, word(count)});
}

BlockMatrix beside(const BlockMatrix& s, const data::DenseOperand& left, std::uint32_t rows_with) {
  const std::uint32_t before = s.block_columns();
  const auto rank = static_cast<std::uint32_t>(left.columns());
  const std::uint32_t more = ceil_div(rank, s.block);
  BlockMatrix w{s.rows, before * s.block + rank, s.block, {0}, {}, {}, s.nonzeros};
  w.nonzeros += std::uint64_t{s.rows} * rank;
  for (std::uint32_t row = 0; row < s.block_rows(); ++row) {
    for (std::uint64_t e = s.row_begin[row]; e < s.row_begin[row + 1]; ++e)
      w.append(s.column[e], s.values(e));
    for (std::uint32_t column = 0; row < rows_with && column < more; ++column)
      w.append_elements(before + column, [&](std::uint64_t i, std::uint64_t j) {
        return left.element(i, j - std::uint64_t{before} * s.block);
      });
    w.end_row();
  }
  return w;
}

BlockMatrix transposed_blocks(const data::DenseOperand& right, std::uint32_t block,
                              std::uint32_t rows) {
  BlockMatrix w = sparse::transposed(all_blocks(right, block));
  w.rows = rows;
  w.row_begin.resize(w.block_rows() + std::size_t{1}, w.row_begin.back());
  return w;
}

BlockMatrix all_blocks(const data::DenseOperand& left, std::uint32_t block) {
  BlockMatrix none{static_cast<std::uint32_t>(left.rows()), 0, block, {}, {}, {}, 0};
  none.row_begin.assign(none.block_rows() + std::size_t{1}, 0);
  return beside(none, left);
}

Chain make_chain(const Layer& layer, Pass pass, std::uint32_t depth) {
  const bool forward = pass == Pass::forward;
  const std::uint32_t rows = round_up(layer.rank(), layer.s.block);
  return {transposed_blocks(forward ? layer.v : layer.u, depth, rows),
          forward ? beside(layer.s, layer.u) : beside(sparse::transposed(layer.s), layer.v),
          forward ? "Y" : "dX", forward ? "Z" : "T", layer.gamma};
}

BlockMatrix Chain::scaled_outer(program::Type type) const {
  BlockMatrix w = outer;
  if (!gamma) return w;
  const std::size_t area = std::size_t{w.block} * w.block;
  for (std::size_t i = 0; i < w.value.size(); ++i)
    w.value[i] = static_cast<float>(scaled(static_cast<double>(w.value[i]),
                                           factor_of(factor(w.column[i / area]), *gamma), type));
  return w;
}

}  // namespace tessera::pixelfly
