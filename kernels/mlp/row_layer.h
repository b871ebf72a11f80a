#pragma once

#include <array>
#include <complex>

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
  std::function<Interval(Tile)> sums;
  /// Where the share of a tile is in what tiles apply.
  [[nodiscard]] Interval applied(Tile tile) const {
    const Interval mine = sums(tile);
    return {mine.begin / from * to, mine.end / from * to};
  }
};

/// How features lie by rows on the tiles of a butterfly's plan. Tiles with the same features apply
/// the same numbers, and each adds up the gradients of a share of them.
struct FeatureRows {
  butterfly::Geometry geometry;
  butterfly::GradientLayout layout;
  std::uint32_t element_bytes;  ///< bytes per element of matrices

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
  /// Shares of pieces, one per row: a tile has `row_bytes(from)` bytes of them.
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
  /// The rows that tiles want, numbered as in given(), or if not `stacked` row f for each stack.
  [[nodiscard]] training::WantedLines wanted(const Arrays& arrays, const butterfly::Rows& rows,
                                             bool stacked) const;
};

/// y = x W + b where W is made of stacks of factors, whose features lie by rows on the tiles of a
/// butterfly's plan. Each turn begins by sending parameters from their shares to all tiles that
/// apply them.
class RowLayer : public Layer {
 public:
  void forward(const MatrixArray& x, const MatrixArray& z) override;
  std::optional<MatrixArray> backward(const MatrixArray& x, const MatrixArray& gradient,
                                      bool wanted) override;
  void add_tensors(const std::string& name) const override;
  [[nodiscard]] Tile tiles() const override { return rows_.geometry.tiles(); }

 protected:
  using Arrays = FeatureRows::Arrays;

  /// One parameter a row, kept in shares.
  struct Numbers {
    Parameters kept;
    BufferId applied{}, sums{};  ///< all rows' numbers of the turn, sums of their gradients
  };
  /// A share that is sent to all that apply it.
  struct Sent {
    Share share;
    BufferId from, to;
  };
  using Sum = butterfly::Statement::Shares;

  RowLayer(training::Statement& statement, const LayerContext& context, const ButterflyPlan& plan);

  /// All shares that tiles apply this turn, the biases' among them.
  virtual std::vector<Sent> shares() = 0;
  /// Arrays for the rows of x, which come to each of them.
  virtual Arrays inputs() = 0;
  /// States W x of each stack, in rows of matrices' type.
  virtual Arrays multiply(const Arrays& x) = 0;
  /// Arrays for the gradients of W x, one a stack, of matrices' type.
  virtual Arrays gradient_rows();
  /// The way back: gradients of parameters out of those of W x, and, if `wanted`, rows of the
  /// gradient of x, of matrices' type: of each stack, or of all.
  virtual Arrays multiply_back(const Arrays& gradients, bool wanted) = 0;
  /// The sums that make up the gradients, the biases' among them.
  virtual std::vector<Sum> sums() = 0;
  /// States what becomes of these sums.
  virtual void finish_sums() {}

  [[nodiscard]] const std::vector<RowPass>& passes() const { return rows_.layout.passes(); }
  [[nodiscard]] std::uint32_t features() const { return rows_.geometry.problem.features; }
  [[nodiscard]] std::uint32_t stacks() const { return context_.linear.stacks(); }
  [[nodiscard]] bool alone() const { return rows_.geometry.plan.split_n == 1; }
  template <class Make>
  [[nodiscard]] Arrays of_stacks(const Make& make) const {
    Arrays all;
    for (std::uint32_t s = 0; s < stacks(); ++s) all.push_back(make(s));
    return all;
  }

  /// The row of feature f has parameter `first` + f of the layer if f is below `count`.
  Numbers make_numbers(const butterfly::Rows& rows, std::uint64_t first, std::uint64_t count);
  void add_bias(std::uint32_t stack);
  /// Parameters that are no bias, and the bias.
  [[nodiscard]] Interval weights() const {
    return {0, context_.linear.parameters() - context_.linear.outputs};
  }
  [[nodiscard]] Interval bias() const { return {weights().end, context_.linear.parameters()}; }

  /// Rows of matrices' numbers.
  BufferId row_array(std::string_view name);

  /// Calls of every tile of the plan, in one step with those before it.
  void add(CallsOf calls) { factors_.add(std::move(calls)); }
  /// An exchange, after all calls that were added before it.
  void exchange(std::string name, std::function<void(Tile, Pulls&)> pulls) {
    factors_.add_exchange(std::move(name), tiles(), std::move(pulls));
  }

  /// A call of code that takes rows, of `unit_bytes` a unit of columns, behind `operands`.
  CallsOf row_calls(const std::string& code, training::Arguments operands,
                    std::uint32_t unit_bytes) const;
  /// The call for rows of matrices' type.
  CallsOf row_calls(const std::string& name, training::Arguments operands) const {
    return row_calls(statement_.halves() ? name + "_f16" : name, std::move(operands),
                     rows_.unit_bytes());
  }
  /// Adds calls of code that sums rows up to gradients of numbers.
  void add_sums(Numbers& of, const std::string& name, training::Arguments rows);
  /// Adds rows of all arrays up in the first one.
  void add_stacks(const Arrays& arrays, program::Type type);

  /// The copies of `numbers` that tiles apply, sent from their shares.
  [[nodiscard]] Sent sent(Numbers& numbers);
  /// The gradients of numbers, to which sums of rows are added up.
  [[nodiscard]] Sum sum_of(Numbers& numbers) const;

  training::Statement& statement_;
  LayerContext context_;
  const FeatureRows rows_;
  butterfly::Statement factors_;  ///< without operands
  std::vector<Numbers> biases_;   ///< by stack

 private:
  /// Rows of W x.
  [[nodiscard]] const butterfly::Rows& results() const {
    return context_.linear.transforms() ? rows_.first() : rows_.last();
  }
  /// A matrix by samples to rows of features, with zeros behind its columns and rows: to each array
  /// the features of a stack, or to all of them the same.
  void bring(const MatrixArray& from, const Arrays& to, const butterfly::Rows& rows, bool stacked);
  /// `limit` rows of all stacks to a matrix by samples; if `samples_only` zeros to its padding.
  void take(const Arrays& from, const butterfly::Rows& rows, std::uint64_t limit,
            const MatrixArray& to, bool samples_only);
  [[nodiscard]] Share share() const {
    return rows_.by_rows(training::kElementBytes, rows_.element_bytes);
  }
  [[nodiscard]] std::uint32_t grain() const { return statement_.padding(); }
};

/// y = x W + b where a transform T of stacks of N features, with twiddles that never change, makes
/// W out of diagonals: first T, then a diagonal, then T back.
class TransformLayer : public RowLayer {
 public:
  std::vector<Parameters> parameters() const override {
    std::vector<Parameters> all = columns_;
    for (const std::vector<Numbers>* of : {&biases_, &diagonals_})
      for (const Numbers& each : *of) all.push_back(each.kept);
    return all;
  }

 protected:
  /// A pair's twiddle, by rows: a, b, c, d make a x + b y and c x + d y of features x and y.
  using Twiddle = std::array<std::complex<double>, 4>;
  /// That of the pair of `feature` and the one `stride` behind it.
  using TwiddleOf = Twiddle (*)(std::uint32_t feature, std::uint32_t stride);

  TransformLayer(training::Statement& statement, const LayerContext& context,
                 const ButterflyPlan& plan, TwiddleOf forth, TwiddleOf back)
      : RowLayer(statement, context, plan),
        forward_(twiddles(forth)),
        back_(back == forth ? forward_ : twiddles(back)) {
    for (std::uint32_t s = 0; s < stacks(); ++s) add_bias(s);
  }

  std::vector<Sent> shares() override {
    return of_numbers<Sent>([this](Numbers& each) { return sent(each); });
  }
  Arrays inputs() override { return {row_array("inputs of factors")}; }
  std::vector<Sum> sums() override {
    return of_numbers<Sum>([this](Numbers& each) { return sum_of(each); });
  }

  /// T of rows in place, or back.
  void transform(const Arrays& arrays, bool back) {
    for (std::uint32_t i = 0; i < passes().size(); ++i) {
      const std::uint32_t stage = back ? word(passes().size()) - 1 - i : i;
      const RowPass& pass = passes()[stage];
      if (!back) factors_.add_swap(pass, arrays);
      for (const BufferId array : arrays)
        add(butterfly::unit_calls(rows_.geometry, factors_.functions().pass(pass),
                                  {back ? back_ : forward_, pass_bytes() * stage}, array, array));
      if (back) factors_.add_swap(pass, arrays);
    }
  }
  std::vector<Numbers> diagonals_;   ///< stack by stack, of matrices' type
  std::vector<Parameters> columns_;  ///< by stack: what is no diagonal

 private:
  template <class Each, class Make>
  std::vector<Each> of_numbers(const Make& make) {
    std::vector<Each> all;
    for (std::vector<Numbers>* of : {&biases_, &diagonals_})
      for (Numbers& each : *of) all.push_back(make(each));
    return all;
  }
  /// Every tile has those of its rows, pass after pass.
  BufferId twiddles(TwiddleOf twiddle) {
    return factors_.array(
        "twiddles", [bytes = pass_bytes() * passes().size()](Tile /*tile*/) { return bytes; },
        false,
        [rows = rows_, twiddle](Tile tile, std::span<std::byte> into) {
          const butterfly::Problem& problem = rows.geometry.problem;
          std::size_t at = 0;
          for (const RowPass& pass : rows.layout.passes())
            for (std::uint32_t group = 0; group < pass.groups(); ++group) {
              const std::uint32_t feature = pass.rows.feature(rows.geometry.feature_part(tile),
                                                              pass.first_row(problem, group));
              for (const auto& each : twiddle(feature, 1U << problem.bit(pass.stages.front()))) {
                data::store_element(problem.type(), into, at++, each.real());
                if (problem.is_complex())
                  data::store_element(problem.type(), into, at++, each.imag());
              }
            }
        });
  }
  [[nodiscard]] std::uint32_t pass_bytes() const {
    return butterfly::twiddle_bytes(rows_.geometry.problem, passes().front());
  }

  BufferId forward_, back_;  ///< twiddles
};

}  // namespace tessera::mlp
