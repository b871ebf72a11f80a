#pragma once

#include <array>
#include <complex>

#include "kernels/butterfly/statement.h"
#include "kernels/gemm/vertices.h"
#include "kernels/mlp/layer.h"

namespace tessera::mlp {

using butterfly::RowPass;

/// Parameters that several tiles apply, each of which keeps a share. A piece has `from` bytes of
/// gradients, which are sums in f32, and `to` bytes in the copies that tiles apply.
struct Share {
  std::uint32_t from, to;
  /// The bytes of gradients that a tile sums; empty on tiles without a share.
  std::function<Interval(Tile)> sums;
  /// A tile's share as bytes of the copies that tiles apply.
  [[nodiscard]] Interval applied(Tile tile) const {
    const Interval mine = sums(tile);
    return {mine.begin / from * to, mine.end / from * to};
  }
};

/// Layout of features by rows on the tiles of a butterfly's plan. Tiles with the same features
/// apply the same parameters, and each sums the gradients of a share of these.
struct FeatureRows {
  butterfly::Geometry geometry;
  butterfly::GradientLayout layout;
  std::uint32_t element_bytes;  ///< bytes per element of matrices

  [[nodiscard]] std::uint32_t parts() const { return geometry.plan.split_n; }
  /// Rows before the first factor and after the last one.
  [[nodiscard]] const butterfly::Rows& first() const { return layout.passes().front().rows; }
  [[nodiscard]] const butterfly::Rows& last() const { return layout.passes().back().rows; }
  [[nodiscard]] bool rotates() const {
    return geometry.problem.parameters == butterfly::Parameters::rotation;
  }
  /// Samples per unit of columns; a complex number holds two.
  [[nodiscard]] std::uint32_t unit_samples() const {
    return geometry.problem.unit_columns() * (geometry.problem.is_complex() ? 2 : 1);
  }
  /// Bytes per unit of columns, in the type of matrices.
  [[nodiscard]] std::uint32_t unit_bytes() const { return unit_samples() * element_bytes; }
  /// Bytes of a pair's twiddle in the copies that tiles apply.
  [[nodiscard]] std::uint32_t applied_bytes() const { return (rotates() ? 2 : 4) * element_bytes; }
  [[nodiscard]] std::uint64_t pairs(Tile tile) const {
    return twiddles().sums(tile).size() / layout.pair_bytes();
  }
  [[nodiscard]] Share twiddles() const;
  /// Shares of one piece per row, `row_bytes(from)` bytes in all.
  [[nodiscard]] Share by_rows(std::uint32_t from, std::uint32_t to) const;
  /// Bytes of one piece of `each` bytes per row, in whole pairs of words.
  [[nodiscard]] std::uint64_t row_bytes(std::uint32_t each) const;

  /// Numbers, in the layer's order, of the twiddle parameters in a tile's share.
  [[nodiscard]] std::vector<std::uint64_t> twiddle_numbers(std::uint32_t stack, Tile tile) const;

  /// Rows of features on their tiles, in one array per stack: row s N + f is feature f of stack s.
  /// There are `limit` rows of `row_bytes` bytes.
  using Arrays = std::vector<BufferId>;
  [[nodiscard]] training::GivenLines given(const Arrays& arrays, const butterfly::Rows& rows,
                                           std::uint64_t limit, std::uint64_t row_bytes) const;
  /// The rows that tiles need, numbered as in given(); if not `stacked`, row f for every stack.
  [[nodiscard]] training::WantedLines wanted(const Arrays& arrays, const butterfly::Rows& rows,
                                             bool stacked) const;
};

/// y = x W + b where W consists of stacks of factors, with features stored by rows on the tiles of
/// a butterfly's plan. Each turn begins by sending parameters from their shares to all tiles that
/// apply them.
class RowLayer : public Layer {
 public:
  void forward(const MatrixArray& x, const MatrixArray& z) override;
  std::optional<MatrixArray> backward(const MatrixArray& x, const MatrixArray& gradient,
                                      bool wanted) override;
  [[nodiscard]] std::vector<Parameters> parameters() const override;
  void add_tensors(const std::string& name) const override;
  [[nodiscard]] Tile tiles() const override { return rows_.geometry.tiles(); }

 protected:
  using Arrays = FeatureRows::Arrays;

  /// Parameters in shares, from which they are sent to all tiles that apply them.
  struct Numbers {
    Parameters kept;
    bool bias = false;
    Share share = {};                 ///< without `sums`: tiles apply no copies
    const char* name = nullptr;       ///< of the copies
    std::uint64_t applied_bytes = 0;  ///< of all copies on a tile
    bool converted = false;           ///< sums become gradients by finish_sums()
    BufferId applied{}, sums{};       ///< this turn's copies, sums of their gradients
  };
  using Sum = butterfly::Statement::Shares;

  RowLayer(training::Statement& statement, const LayerContext& context, const ButterflyPlan& plan);

  /// The array of the `i`-th weights' shares that are sent.
  virtual BufferId sent_from(std::uint32_t i) { return weights(i).kept.weights; }
  /// Arrays that receive the rows of x, each all of them.
  virtual Arrays inputs() = 0;
  /// States W x per stack, in rows of the type of matrices.
  virtual Arrays multiply(const Arrays& x) = 0;
  /// Arrays for the gradients of W x, one per stack, in the type of matrices.
  virtual Arrays gradient_rows();
  /// Backward pass: gradients of parameters from those of W x and, if `wanted`, rows of the
  /// gradient of x in the type of matrices: one array per stack, or one for all.
  virtual Arrays multiply_back(const Arrays& gradients, bool wanted) = 0;
  /// States steps after the sums over tiles that give the gradients.
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

  /// One parameter per row: the row of feature f has parameter `first` + f of the layer if f is
  /// below `count`.
  Numbers make_numbers(const butterfly::Rows& rows, std::uint64_t first, std::uint64_t count);
  void add_bias(std::uint32_t stack);
  [[nodiscard]] Numbers& weights(std::uint32_t i) { return numbers_[place_of(false, i)]; }
  [[nodiscard]] Numbers& bias(std::uint32_t stack) { return numbers_[place_of(true, stack)]; }

  /// An array of rows in the type of matrices.
  BufferId row_array(std::string_view name);

  /// Adds calls on every tile of the plan, in one step with earlier ones.
  void add(CallsOf calls) { factors_.add(std::move(calls)); }
  /// Adds an exchange after all earlier calls.
  void exchange(std::string name, std::function<void(Tile, Pulls&)> pulls) {
    factors_.add_exchange(std::move(name), tiles(), std::move(pulls));
  }

  /// A call of `code` with `operands`, then the shape of rows of `unit_bytes` per unit of columns.
  CallsOf row_calls(const std::string& code, training::Arguments operands,
                    std::uint32_t unit_bytes) const;
  /// The same for rows in the type of matrices.
  CallsOf row_calls(const std::string& name, training::Arguments operands) const {
    return row_calls(statement_.halves() ? name + "_f16" : name, std::move(operands),
                     rows_.unit_bytes());
  }
  /// Adds calls of code that sums rows to gradients of numbers.
  void add_sums(Numbers& of, const std::string& name, training::Arguments rows);
  /// Sums the rows of all arrays into the first one.
  void add_stacks(const Arrays& arrays, program::Type type);

  training::Statement& statement_;
  LayerContext context_;
  const FeatureRows rows_;
  butterfly::Statement factors_;  ///< without operands
  std::vector<Numbers> numbers_;  ///< all, in the order of parameters()

 private:
  /// Index of the `i`-th biases, or of the `i`-th of the others.
  [[nodiscard]] std::size_t place_of(bool bias, std::uint32_t i) const;
  /// Number of the first bias among the layer's parameters.
  [[nodiscard]] std::uint64_t first_bias() const {
    return context_.linear.parameters() - context_.linear.outputs;
  }
  /// Sends shares to the tiles that apply them.
  void send_shares();
  /// The sums over tiles that give the gradients.
  std::vector<Sum> sums();
  /// Rows of W x.
  [[nodiscard]] const butterfly::Rows& results() const {
    return context_.linear.transforms() ? rows_.first() : rows_.last();
  }
  /// Converts a matrix by samples to rows of features, padded with zeros: if `stacked`, each array
  /// gets the features of its stack, else all get the same.
  void bring(const MatrixArray& from, const Arrays& to, const butterfly::Rows& rows, bool stacked);
  /// Converts `limit` rows of all stacks to a matrix by samples; with `samples_only` its padding is
  /// zero.
  void take(const Arrays& from, const butterfly::Rows& rows, std::uint64_t limit,
            const MatrixArray& to, bool samples_only);
  [[nodiscard]] Share share() const {
    return rows_.by_rows(training::kElementBytes, rows_.element_bytes);
  }
  [[nodiscard]] std::uint32_t grain() const { return statement_.padding(); }
};

/// y = x W + b where each stack's W is a transform T of N features with fixed twiddles, a diagonal,
/// and the inverse of T.
class TransformLayer : public RowLayer {
 protected:
  /// A pair's twiddle by rows: features x, y become a x + b y, c x + d y.
  using Twiddle = std::array<std::complex<double>, 4>;
  /// The twiddle of the pair of features `feature` and `feature` + `stride`.
  using TwiddleOf = Twiddle (*)(std::uint32_t feature, std::uint32_t stride);

  TransformLayer(training::Statement& statement, const LayerContext& context,
                 const ButterflyPlan& plan, TwiddleOf forth, TwiddleOf back)
      : RowLayer(statement, context, plan),
        forward_(twiddles(forth)),
        back_(back == forth ? forward_ : twiddles(back)) {
    for (std::uint32_t s = 0; s < stacks(); ++s) add_bias(s);
  }

  Arrays inputs() override { return {row_array("inputs of factors")}; }

  /// Applies T to rows in place, or its inverse (`back`).
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

 private:
  /// Makes an array with each tile's twiddles for its rows, pass after pass.
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
