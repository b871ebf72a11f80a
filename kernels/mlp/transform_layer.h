#pragma once

#include <array>
#include <complex>

#include "kernels/mlp/row_layer.h"

namespace tessera::mlp {

/// y = x W + b where a transform T of stacks of N features, with twiddles that never change, makes
/// W out of diagonals: first T, then a diagonal, then T back.
class TransformLayer : public RowLayer {
 public:
  void forward(const MatrixArray& x, const MatrixArray& z) override {
    statement_.stand_for_others({tiles() - 1});
    std::vector<Sent> all;
    for (std::vector<Numbers>* of : {&biases_, &diagonals_})
      for (Numbers& each : *of) all.push_back(sent(each));
    distribute(all);
    const BufferId rows = row_array("inputs of factors");
    bring(x, {rows}, rows_.first(), false);
    const Arrays results = multiply(rows);
    for (std::uint32_t s = 0; s < stacks(); ++s)
      add(row_calls("training_add_bias",
                    {program::Place{results[s]}, program::Place{biases_[s].applied}}));
    factors_.finish();
    // Samples of padding have the bias too.
    take(results, rows_.first(), context_.linear.outputs, z, true);
  }

  std::optional<MatrixArray> backward(const MatrixArray& x, const MatrixArray& gradient,
                                      bool wanted) override {
    const Arrays gradients = of_stacks([&] { return row_array("gradient of factors"); });
    bring(gradient, gradients, rows_.first(), true);
    for (std::uint32_t s = 0; s < stacks(); ++s)
      add_sums(biases_[s], "training_row_sums", {program::Place{gradients[s]}});
    const BufferId rows = multiply_back(gradients, wanted);
    std::vector<Sum> sums;
    for (std::vector<Numbers>* of : {&biases_, &diagonals_})
      for (Numbers& each : *of) sums.push_back(sum_of(each));
    factors_.add_shares(sums);
    factors_.finish("sums of shares");
    if (!wanted) return std::nullopt;
    const MatrixArray back = statement_.matrix(x.rows, x.columns, "gradient of activations");
    // What stands behind the samples is none.
    take({rows}, rows_.first(), std::min(context_.linear.inputs, features()), back, true);
    return back;
  }

  std::vector<Parameters> parameters() const override {
    std::vector<Parameters> all = columns_;
    for (const std::vector<Numbers>* of : {&biases_, &diagonals_})
      for (const Numbers& each : *of) all.push_back(each.kept);
    return all;
  }

  void add_tensors(const std::string& name) const override {
    for (const Numbers& each : diagonals_) add_tensor(name, weights(), each);
    for (std::size_t s = 0; s < columns_.size(); ++s)
      add_tensor(name, weights(), columns_[s], column_numbers_[s]);
    for (const Numbers& each : biases_) add_tensor(name + "_bias", bias(), each);
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
    for (std::uint32_t s = 0; s < stacks(); ++s) biases_.push_back(make_bias(rows_.first(), s));
  }

  /// States W x of each stack in rows of matrices' type, out of x in such rows.
  virtual Arrays multiply(BufferId x) = 0;
  /// The way back: gradients of parameters out of those of W x, and, if `wanted`, rows of the
  /// gradient of x, of matrices' type, of all stacks.
  virtual BufferId multiply_back(const Arrays& gradients, bool wanted) = 0;

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
  [[nodiscard]] std::uint32_t stacks() const { return context_.linear.stacks(); }
  /// An array a stack.
  template <class Make>
  [[nodiscard]] Arrays of_stacks(const Make& make) const {
    Arrays all;
    for (std::uint32_t s = 0; s < stacks(); ++s) all.push_back(make());
    return all;
  }

  std::vector<Numbers> diagonals_;   ///< stack by stack, of matrices' type
  std::vector<Parameters> columns_;  ///< by stack: what is no diagonal
  std::vector<Numbering> column_numbers_;

 private:
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

  std::vector<Numbers> biases_;  ///< by stack
  BufferId forward_, back_;      ///< twiddles
};

}  // namespace tessera::mlp
