#include "kernels/mlp/row_layer.h"

#include <utility>

namespace tessera::mlp {

using kernels::Interval;
using program::Place;
using training::kElementBytes;
using training::kWordBytes;

RowLayer::RowLayer(training::Statement& statement, const LayerContext& context,
                   const ButterflyPlan& plan)
    : statement_(statement),
      context_(context),
      rows_{plan.geometry, butterfly::GradientLayout(plan.geometry), statement.element_bytes()},
      factors_(statement.description(), plan.geometry, statement.machine(), context.factors,
               nullptr),
      initial_(std::make_shared<const std::vector<double>>(
          initial_parameters(context.seed, context.number, context.linear))) {}

training::ParameterMaker::Values RowLayer::values(Numbering numbers) const {
  return [initial = initial_, numbers = std::move(numbers)](Tile tile) {
    std::vector<double> all;
    for (const std::uint64_t number : numbers(tile))
      all.push_back(number == training::kNoNumber ? 0.0 : (*initial)[number]);
    return all;
  };
}

RowLayer::Numbering RowLayer::numbering(const Numbers& of) const {
  return [share = share(), geometry = rows_.geometry, rows = *of.rows, first = of.first,
          count = of.count](Tile tile) {
    std::vector<std::uint64_t> all;
    const Interval mine = share.sums(tile);
    for (std::uint64_t row = mine.begin / kElementBytes; row < mine.end / kElementBytes; ++row) {
      const std::uint64_t feature =
          row < geometry.rows() ? rows.feature(geometry.feature_part(tile), word(row)) : count;
      all.push_back(feature < count ? first + feature : training::kNoNumber);
    }
    return all;
  };
}

RowLayer::Numbers RowLayer::make_numbers(const butterfly::Rows& rows, std::uint64_t first,
                                         std::uint64_t count) {
  Numbers made{{}, &rows, first, count};
  // Gradients are sums in f32.
  made.kept =
      maker().make([share = share()](Tile tile) { return share.sums(tile).size() / kElementBytes; },
                   values(numbering(made)), program::Type::f32);
  return made;
}

RowLayer::Numbers RowLayer::make_bias(const butterfly::Rows& rows, std::uint32_t stack) {
  const std::uint64_t before = std::uint64_t{stack} * features();
  return make_numbers(rows, bias().begin + before, context_.linear.outputs - before);
}

void RowLayer::add_tensor(const std::string& name, Interval all, const Parameters& its,
                          Numbering numbers) const {
  training::add_tensor(statement_.description(),
                       {name, program::Role::weights, its.master_type(), {all.size()}}, its,
                       [first = all.begin, numbers = std::move(numbers)](Tile tile) {
                         std::vector<std::uint64_t> mine = numbers(tile);
                         for (std::uint64_t& number : mine)
                           if (number != training::kNoNumber) number -= first;
                         return mine;
                       });
}

BufferId RowLayer::row_array(std::string_view name) {
  return factors_.array(name, [geometry = rows_.geometry, unit = rows_.unit_bytes()](Tile tile) {
    return geometry.units(tile).size() * unit * geometry.rows();
  });
}

void RowLayer::bring(const MatrixArray& from, const Arrays& to, const butterfly::Rows& rows,
                     bool stacked) {
  const std::uint64_t lines = (stacked ? to.size() : 1) * features();
  const std::uint64_t samples = rows_.geometry.round_units().end * rows_.unit_samples();
  statement_.transpose(training::given(from), rows_.wanted(to, rows, stacked),
                       {from.padded_rows, from.pitch, grain()},
                       from.pitch < lines || from.padded_rows < samples ? to : Arrays());
}

void RowLayer::take(const Arrays& from, const butterfly::Rows& rows, std::uint64_t limit,
                    const MatrixArray& to, bool samples_only) {
  const std::uint64_t end = samples_only ? to.rows * to.element_bytes() : UINT64_MAX;
  statement_.transpose(rows_.given(from, rows, limit, end), training::wanted(to),
                       {to.pitch, to.padded_rows, grain()});
}

CallsOf RowLayer::row_calls(const std::string& code, training::Arguments operands,
                            std::uint32_t unit_bytes) const {
  return [code = statement_.code(code), operands = std::move(operands), unit_bytes,
          geometry = rows_.geometry](Tile tile, Calls& calls) {
    training::Arguments all = operands;
    const std::uint32_t words = word(geometry.units(tile).size() * unit_bytes / kWordBytes);
    all.insert(all.end(), {words, geometry.rows(), words});
    calls.add_by_size(code.all(std::move(all)));
  };
}

void RowLayer::add_sums(Numbers& of, const std::string& name, training::Arguments rows) {
  of.sums = factors_.array(
      "sums of rows", [bytes = rows_.row_bytes(kElementBytes)](Tile /*tile*/) { return bytes; });
  // Of f16: what is no gradient must be none that overflowed.
  if (statement_.halves() &&
      rows_.row_bytes(kElementBytes) > std::uint64_t{rows_.geometry.rows()} * kElementBytes)
    add(statement_.clearing(of.sums));
  rows.emplace_back(Place{of.sums});
  add(row_calls(name, std::move(rows)));
}

void RowLayer::add_stacks(const Arrays& arrays, program::Type type) {
  const plan::Function& adding = factors_.dense().adding(type);
  for (std::size_t s = 1; s < arrays.size(); ++s)
    add([&adding, bytes = statement_.description().array(arrays[s]).bytes, sum = arrays.front(),
         further = arrays[s]](Tile tile, Calls& into) {
      into.add(adding, {bytes(tile) / gemm::kPair, 1}, {{sum}, {further}, {sum}});
    });
}

RowLayer::Sent RowLayer::sent(Numbers& numbers) {
  numbers.applied = factors_.array("numbers of rows",
                                   [bytes = rows_.row_bytes(kElementBytes) / kElementBytes *
                                            rows_.element_bytes](Tile /*tile*/) { return bytes; });
  return {share(), numbers.kept.weights, numbers.applied};
}

void RowLayer::distribute(const std::vector<Sent>& all) {
  exchange("twiddles", [all, rows = rows_](Tile tile, Pulls& pulls) {
    for (const Sent& its : all)
      rows.geometry.for_alike(tile, [&](Tile other) {
        const Interval bytes = its.share.applied(other);
        pulls.push_back({{its.to, word(bytes.begin)}, other, {its.from}, word(bytes.size())});
      });
  });
}

RowLayer::Sum RowLayer::sum_of(Numbers& numbers) const {
  if (alone()) numbers.kept.gradient = numbers.sums;
  return {share().sums, numbers.sums, numbers.kept.gradient};
}

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
  factors_.finish();
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
  factors_.add_shares(sums);
  factors_.finish("sums of shares");
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
  return factors_.array(
      "twiddles", [bytes = pass_bytes() * passes().size()](Tile /*tile*/) { return bytes; }, false,
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
    if (!back) factors_.add_swap(pass, arrays);
    for (const BufferId array : arrays)
      add(butterfly::unit_calls(rows_.geometry, factors_.functions().pass(pass),
                                {back ? back_ : forward_, pass_bytes() * stage}, array, array));
    if (back) factors_.add_swap(pass, arrays);
  }
}

}  // namespace tessera::mlp
