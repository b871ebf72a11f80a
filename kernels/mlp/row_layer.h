#pragma once

#include "kernels/butterfly/statement.h"
#include "kernels/gemm/vertices.h"
#include "kernels/mlp/layer.h"

namespace tessera::mlp {

using butterfly::RowPass;

/// Numbers that several tiles apply and each of them keeps a share of: pieces of `from` bytes of
/// gradients, which are sums in f32, and of `to` bytes as tiles apply them.
struct Share {
  std::uint32_t from, to;
  /// The bytes of sums that a tile adds up; none on other tiles.
  std::function<kernels::Interval(Tile)> sums;
  /// Where the share of a tile is in what tiles apply.
  [[nodiscard]] kernels::Interval applied(Tile tile) const {
    const kernels::Interval mine = sums(tile);
    return {mine.begin / from * to, mine.end / from * to};
  }
};

/// How features lie by rows on the tiles of a butterfly's plan. Tiles with the same features apply
/// the same numbers, and each adds up the gradients of a share of them.
struct FeatureRows {
  butterfly::Geometry geometry;
  butterfly::GradientLayout layout;
  std::uint32_t element_bytes;  ///< of matrices

  [[nodiscard]] std::uint32_t parts() const { return geometry.plan.split_n; }
  /// Rows before the first factor and behind the last one.
  [[nodiscard]] const butterfly::Rows& first() const { return layout.passes().front().rows; }
  [[nodiscard]] const butterfly::Rows& last() const { return layout.passes().back().rows; }
  [[nodiscard]] bool rotates() const {
    return geometry.problem.parameters == butterfly::Parameters::rotation;
  }
  /// Samples of a unit of columns: a complex number is two of them.
  [[nodiscard]] std::uint32_t unit_samples() const {
    return geometry.problem.unit_columns() * (geometry.problem.is_complex() ? 2 : 1);
  }
  /// Bytes of a unit of matrices' numbers.
  [[nodiscard]] std::uint32_t unit_bytes() const { return unit_samples() * element_bytes; }
  /// Bytes of a pair as tiles apply it.
  [[nodiscard]] std::uint32_t applied_bytes() const { return (rotates() ? 2 : 4) * element_bytes; }
  [[nodiscard]] std::uint64_t pairs(Tile tile) const {
    return twiddles().sums(tile).size() / layout.pair_bytes();
  }
  [[nodiscard]] Share twiddles() const;
  /// Of one piece a row: a tile has `row_bytes(from)` of them.
  [[nodiscard]] Share by_rows(std::uint32_t from, std::uint32_t to) const;
  /// Bytes of all rows' pieces of so many bytes, in whole pairs of words.
  [[nodiscard]] std::uint64_t row_bytes(std::uint32_t each) const;

  /// Parameters of twiddles of the share of a tile, numbered in their layer's order.
  [[nodiscard]] std::vector<std::uint64_t> twiddle_numbers(std::uint32_t stack, Tile tile) const;

  /// Rows of features on their tiles, in an array for each stack: row s N + f is feature f of stack
  /// s, of `limit` rows of `row_bytes`.
  using Arrays = std::vector<BufferId>;
  [[nodiscard]] training::GivenLines given(const Arrays& arrays, const butterfly::Rows& rows,
                                           std::uint64_t limit, std::uint64_t row_bytes) const;
  /// The same as tiles want them, or if not `stacked` row f for each stack.
  [[nodiscard]] training::WantedLines wanted(const Arrays& arrays, const butterfly::Rows& rows,
                                             bool stacked) const;
};

/// What layers have in common whose features lie by rows on the tiles of a butterfly's plan.
class RowLayer : public Layer {
 public:
  [[nodiscard]] Tile tiles() const override { return rows_.geometry.tiles(); }

 protected:
  using Arrays = FeatureRows::Arrays;
  using Numbering = std::function<std::vector<std::uint64_t>(Tile)>;  ///< of a tile's parameters

  /// One parameter a row, kept in shares: row of feature f has parameter `first` + f of the layer
  /// if f is below `count`.
  struct Numbers {
    Parameters kept;
    const butterfly::Rows* rows;
    std::uint64_t first, count;
    BufferId applied{}, sums{};  ///< of the turn: all rows' numbers, sums of their gradients
  };
  /// A share that is sent to all that apply it.
  struct Sent {
    Share share;
    BufferId from, to;
  };
  using Sum = butterfly::Statement::Shares;

  RowLayer(training::Statement& statement, const LayerContext& context, const ButterflyPlan& plan);

  [[nodiscard]] const std::vector<RowPass>& passes() const { return rows_.layout.passes(); }
  [[nodiscard]] std::uint32_t features() const { return rows_.geometry.problem.features; }
  [[nodiscard]] bool alone() const { return rows_.geometry.plan.split_n == 1; }

  [[nodiscard]] training::ParameterMaker maker() {
    return {statement_, context_.learning, context_.copies};
  }
  /// Values of parameters before training.
  [[nodiscard]] training::ParameterMaker::Values values(Numbering numbers) const;
  Numbers make_numbers(const butterfly::Rows& rows, std::uint64_t first, std::uint64_t count);
  /// The bias of the outputs of a stack, whose rows are `rows`.
  Numbers make_bias(const butterfly::Rows& rows, std::uint32_t stack);
  /// Declares the tensor of the layer's parameters `all`, or the part of it that `its` is.
  void add_tensor(const std::string& name, kernels::Interval all, const Parameters& its,
                  Numbering numbers) const;
  void add_tensor(const std::string& name, kernels::Interval all, const Numbers& its) const {
    add_tensor(name, all, its.kept, numbering(its));
  }
  /// Parameters that are no bias, and the bias.
  [[nodiscard]] kernels::Interval weights() const {
    return {0, context_.linear.parameters() - context_.linear.outputs};
  }
  [[nodiscard]] kernels::Interval bias() const {
    return {weights().end, context_.linear.parameters()};
  }

  /// Rows of matrices' numbers.
  BufferId row_array(std::string_view name);

  /// Calls of every tile of the plan, in one step with those before it.
  void add(CallsOf calls) { factors_.add(std::move(calls)); }
  /// An exchange, after all calls that were added before it.
  void exchange(std::string name, std::function<void(Tile, Pulls&)> pulls) {
    factors_.add_exchange(std::move(name), tiles(), std::move(pulls));
  }

  /// A matrix by samples to rows of features, with zeros behind its columns and rows: to each array
  /// the features of a stack, or to all of them the same.
  void bring(const MatrixArray& from, const Arrays& to, const butterfly::Rows& rows, bool stacked);
  /// `limit` rows of all stacks to a matrix by samples; if `samples_only` zeros to its padding.
  void take(const Arrays& from, const butterfly::Rows& rows, std::uint64_t limit,
            const MatrixArray& to, bool samples_only);

  /// A call of code that takes rows, of `unit_bytes` a unit of columns, behind `operands`.
  CallsOf row_calls(const std::string& code, training::Arguments operands,
                    std::uint32_t unit_bytes) const;
  /// The same on rows of matrices' type.
  CallsOf row_calls(const std::string& name, training::Arguments operands) const {
    return row_calls(statement_.halves() ? name + "_f16" : name, std::move(operands),
                     rows_.unit_bytes());
  }
  /// Adds calls of code that sums rows up to gradients of numbers.
  void add_sums(Numbers& of, const std::string& name, training::Arguments rows);
  /// Adds rows of all arrays up in the first one.
  void add_stacks(const Arrays& arrays, program::Type type);

  /// What `numbers` are as tiles apply them, from their shares.
  [[nodiscard]] Sent sent(Numbers& numbers);
  void distribute(const std::vector<Sent>& all);
  /// What sums of rows are added up to: gradients of numbers.
  [[nodiscard]] Sum sum_of(Numbers& numbers) const;
  training::Statement& statement_;
  LayerContext context_;
  const FeatureRows rows_;
  butterfly::Statement factors_;  ///< without operands

 private:
  [[nodiscard]] Numbering numbering(const Numbers& numbers) const;
  [[nodiscard]] Share share() const {
    return rows_.by_rows(training::kElementBytes, rows_.element_bytes);
  }
  [[nodiscard]] std::uint32_t grain() const { return statement_.padding(); }

  std::shared_ptr<const std::vector<double>> initial_;
};

}  // namespace tessera::mlp
