#include "kernels/mlp/transform_layer.h"

namespace tessera::mlp {

using program::Place;

TransformLayer::TransformLayer(training::Statement& statement, const LayerContext& context,
                               const ButterflyPlan& plan, TwiddleOf forward, TwiddleOf back)
    : RowLayer(statement, context, plan),
      forward_(twiddles(forward)),
      back_(back == forward ? forward_ : twiddles(back)) {
  for (std::uint32_t s = 0; s < stacks(); ++s) biases_.push_back(make_bias(rows_.first(), s));
}

void TransformLayer::forward(const MatrixArray& x, const MatrixArray& z) {
  statement_.stand_for_others({tiles() - 1});
  std::vector<Sent> all;
  for (std::vector<Numbers>* of : {&biases_, &diagonals_})
    for (Numbers& each : *of) all.push_back(sent(each));
  distribute(all);
  const BufferId rows = row_array("inputs of factors");
  bring(x, {rows}, rows_.first(), false);
  const Arrays results = multiply(rows);
  for (std::uint32_t s = 0; s < stacks(); ++s)
    add(row_calls("training_add_bias", {Place{results[s]}, Place{biases_[s].applied}}));
  finish();
  // Samples of padding have the bias too.
  take(results, rows_.first(), context_.linear.outputs, z, true);
}

std::optional<MatrixArray> TransformLayer::backward(const MatrixArray& x,
                                                    const MatrixArray& gradient, bool wanted) {
  Arrays gradients;
  for (std::uint32_t s = 0; s < stacks(); ++s)
    gradients.push_back(row_array("gradient of factors"));
  bring(gradient, gradients, rows_.first(), true);
  for (std::uint32_t s = 0; s < stacks(); ++s)
    add_sums(biases_[s], "training_row_sums", {Place{gradients[s]}});
  const BufferId rows = multiply_back(gradients, wanted);
  std::vector<Sum> sums;
  for (std::vector<Numbers>* of : {&biases_, &diagonals_})
    for (Numbers& each : *of) sums.push_back(sum_of(each));
  add_up(sums);
  finish("sums of shares");
  if (!wanted) return std::nullopt;
  const MatrixArray back = statement_.matrix(x.rows, x.columns, "gradient of activations");
  // What stands behind the samples is none.
  take({rows}, rows_.first(), std::min(context_.linear.inputs, features()), back, true);
  return back;
}

std::vector<Parameters> TransformLayer::parameters() const {
  std::vector<Parameters> all = columns_;
  for (const std::vector<Numbers>* of : {&biases_, &diagonals_})
    for (const Numbers& each : *of) all.push_back(each.kept);
  return all;
}

void TransformLayer::add_tensors(const std::string& name) const {
  for (const Numbers& each : diagonals_) add_tensor(name, weights(), each);
  for (std::size_t s = 0; s < columns_.size(); ++s)
    add_tensor(name, weights(), columns_[s], column_numbers_[s]);
  for (const Numbers& each : biases_) add_tensor(name + "_bias", bias(), each);
}

/// Every tile has those of its rows, pass after pass.
BufferId TransformLayer::twiddles(TwiddleOf twiddle) {
  return array(
      "twiddles", [bytes = pass_bytes() * passes().size()](Tile /*tile*/) { return bytes; },
      [rows = rows_, twiddle](Tile tile, std::span<std::byte> into) {
        const butterfly::Problem& problem = rows.geometry.problem;
        std::size_t at = 0;
        for (const RowPass& pass : rows.layout.passes())
          for (std::uint32_t group = 0; group < pass.groups(); ++group) {
            const std::uint32_t feature =
                pass.rows.feature(rows.geometry.feature_part(tile), pass.first_row(problem, group));
            for (const auto& each : twiddle(feature, 1U << problem.bit(pass.stages.front()))) {
              data::store_element(problem.type(), into, at++, each.real());
              if (problem.is_complex())
                data::store_element(problem.type(), into, at++, each.imag());
            }
          }
      });
}

void TransformLayer::transform(const Arrays& arrays, bool back) {
  for (std::uint32_t i = 0; i < passes().size(); ++i) {
    const std::uint32_t stage = back ? word(passes().size()) - 1 - i : i;
    const RowPass& pass = passes()[stage];
    if (!back) swap(pass, arrays);
    for (const BufferId array : arrays)
      add([&code = functions_.pass(pass), geometry = rows_.geometry, array,
           its = Place{back ? back_ : forward_, pass_bytes() * stage}](Tile tile, Calls& into) {
        into.add(code, {geometry.units(tile).size()}, {its, {array}, {array}});
      });
    if (back) swap(pass, arrays);
  }
}

std::unique_ptr<Layer> make_transform(training::Statement& statement, const LayerContext& context,
                                      const ButterflyPlan& plan) {
  return context.linear.circulant() ? make_circulant(statement, context, plan)
                                    : make_fastfood(statement, context, plan);
}

}  // namespace tessera::mlp
