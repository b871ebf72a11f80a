#pragma once

#include <array>
#include <complex>

#include "kernels/mlp/row_layer.h"

namespace tessera::mlp {

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
