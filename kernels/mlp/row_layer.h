#pragma once

#include <array>
#include <complex>

#include "kernels/gemm/vertices.h"
#include "kernels/mlp/feature_rows.h"

namespace tessera::mlp {

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

/// y = x W + b where a transform T of stacks of N features, with twiddles that never change, makes
/// W out of diagonals: first T, then a diagonal, then T back.
class TransformLayer : public RowLayer {
 public:
  void forward(const MatrixArray& x, const MatrixArray& z) override;
  std::optional<MatrixArray> backward(const MatrixArray& x, const MatrixArray& gradient,
                                      bool wanted) override;
  [[nodiscard]] std::vector<Parameters> parameters() const override;
  void add_tensors(const std::string& name) const override;

 protected:
  /// A pair's twiddle, by rows: a, b, c, d make a x + b y and c x + d y of features x and y.
  using Twiddle = std::array<std::complex<double>, 4>;
  /// That of the pair of `feature` and the one `stride` behind it.
  using TwiddleOf = Twiddle (*)(std::uint32_t feature, std::uint32_t stride);

  TransformLayer(training::Statement& statement, const LayerContext& context,
                 const ButterflyPlan& plan, TwiddleOf forward, TwiddleOf back);

  /// States W x of each stack in rows of matrices' type, out of x in such rows.
  virtual Arrays multiply(BufferId x) = 0;
  /// The way back: gradients of parameters out of those of W x, and, if `wanted`, rows of the
  /// gradient of x, of matrices' type, of all stacks.
  virtual BufferId multiply_back(const Arrays& gradients, bool wanted) = 0;

  /// T of rows in place, or back.
  void transform(const Arrays& arrays, bool back);
  [[nodiscard]] std::uint32_t stacks() const { return context_.linear.stacks(); }

  std::vector<Numbers> diagonals_;   ///< stack by stack, of matrices' type
  std::vector<Parameters> columns_;  ///< by stack: what is no diagonal
  std::vector<Numbering> column_numbers_;

 private:
  BufferId twiddles(TwiddleOf twiddle);
  [[nodiscard]] std::uint32_t pass_bytes() const {
    return butterfly::twiddle_bytes(rows_.geometry.problem, passes().front());
  }

  std::vector<Numbers> biases_;  ///< by stack
  BufferId forward_, back_;      ///< twiddles
};

}  // namespace tessera::mlp
