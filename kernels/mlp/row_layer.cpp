#include "kernels/mlp/row_layer.h"

#include <algorithm>
#include <utility>

namespace tessera::mlp {

using training::kElementBytes;

std::uint64_t FeatureRows::row_bytes(std::uint32_t each) const {
  return round_up(std::uint64_t{geometry.rows()} * each, gemm::kPair);
}

Share FeatureRows::twiddles() const {
  return {layout.pair_bytes(), applied_bytes(),
          [layout = layout, tiles = geometry.tiles()](Tile tile) -> Interval {
            return tile < tiles ? layout.share(tile) : Interval{0, 0};
          }};
}

Share FeatureRows::by_rows(std::uint32_t from, std::uint32_t to) const {
  return {from, to,
          [split = EvenSplit{row_bytes(from) / gemm::kPair, parts()},
           geometry = geometry](Tile tile) -> Interval {
            if (tile >= geometry.tiles()) return {0, 0};
            const Interval pairs = split.part(tile / geometry.plan.split_features);
            return {pairs.begin * gemm::kPair, pairs.end * gemm::kPair};
          }};
}

std::vector<std::uint64_t> FeatureRows::twiddle_numbers(std::uint32_t stack, Tile tile) const {
  const butterfly::Problem& problem = geometry.problem;
  const std::uint64_t each = problem.twiddle_parameters();
  std::vector<std::uint64_t> all;
  if (tile >= geometry.tiles()) return all;
  layout.for_pairs(tile, [&](std::uint32_t stage, std::uint32_t pair) {
    const std::uint64_t factor = std::uint64_t{stack} * problem.stages() + stage;
    for (std::uint64_t i = 0; i < each; ++i)
      all.push_back((factor * problem.pairs() + pair) * each + i);
  });
  return all;
}

training::GivenLines FeatureRows::given(const Arrays& arrays, const butterfly::Rows& rows,
                                        std::uint64_t limit, std::uint64_t row_bytes) const {
  const std::uint64_t unit = unit_bytes();
  const std::uint64_t end_of_row = std::min(row_bytes, geometry.round_units().end * unit);
  return {[arrays, rows, geometry = geometry, limit, end_of_row, unit](
              std::uint64_t row, std::uint64_t begin, std::uint64_t end) {
            std::vector<training::GivenLines::Piece> pieces;
            if (row >= limit) return pieces;
            const std::uint64_t n = geometry.problem.features;
            const butterfly::Rows::Holder place = rows.holder(word(row % n));
            for (std::uint32_t p = 0; p < geometry.plan.split_n; ++p) {
              const Tile tile = p * geometry.plan.split_features + place.tile;
              const Interval units = geometry.units(tile);
              const std::uint64_t first = std::max(begin, units.begin * unit);
              const std::uint64_t last = std::min({end, units.end * unit, end_of_row});
              if (first >= last) continue;
              const std::uint64_t at = place.row * units.size() * unit + first - units.begin * unit;
              pieces.push_back(
                  {tile, {arrays[row / n], word(at)}, word(first - begin), word(last - first)});
            }
            return pieces;
          },
          [rows, geometry = geometry, stacks = arrays.size(), limit, end_of_row,
           unit](Tile tile) -> std::uint64_t {
            if (tile >= geometry.tiles()) return 0;
            const Interval units = geometry.units(tile);
            const std::uint64_t end = std::min(units.end * unit, end_of_row);
            std::uint64_t lines = 0;
            for (std::size_t s = 0; s < stacks; ++s)
              for (std::uint32_t row = 0; row < geometry.rows(); ++row)
                lines +=
                    s * geometry.problem.features + rows.feature(geometry.feature_part(tile), row) <
                            limit
                        ? 1
                        : 0;
            return lines * (end - std::min(end, units.begin * unit));
          },
          limit, end_of_row};
}

training::WantedLines FeatureRows::wanted(const Arrays& arrays, const butterfly::Rows& rows,
                                          bool stacked) const {
  const std::uint64_t unit = unit_bytes();
  return {[arrays, rows, stacked, geometry = geometry, unit](Tile tile) {
            std::vector<training::WantedLines::Piece> pieces;
            if (tile >= geometry.tiles()) return pieces;
            const Interval units = geometry.units(tile);
            for (std::size_t s = 0; s < arrays.size(); ++s)
              for (std::uint32_t row = 0; row < geometry.rows() && units.size() > 0; ++row) {
                const std::uint64_t feature = rows.feature(geometry.feature_part(tile), row);
                pieces.push_back({(stacked ? s * geometry.problem.features : 0) + feature,
                                  units.begin * unit,
                                  {arrays[s], word(row * units.size() * unit)},
                                  word(units.size() * unit)});
              }
            return pieces;
          },
          (stacked ? arrays.size() : 1) * geometry.problem.features,
          geometry.round_units().end * unit};
}

RowLayer::RowLayer(training::Statement& statement, const LayerContext& context,
                   const ButterflyPlan& plan)
    : statement_(statement),
      context_(context),
      rows_{plan.geometry, butterfly::GradientLayout(plan.geometry), statement.element_bytes()},
      factors_(statement.description(), plan.geometry, statement.machine(), context.factors,
               nullptr) {}

std::vector<Parameters> RowLayer::parameters() const {
  std::vector<Parameters> all;
  for (const Numbers& each : numbers_) all.push_back(each.kept);
  return all;
}

std::size_t RowLayer::place_of(bool bias, std::uint32_t i) const {
  for (std::size_t at = 0;; ++at)
    if (numbers_[at].bias == bias && i-- == 0) return at;
}

void RowLayer::send_shares() {
  std::vector<std::pair<Numbers, BufferId>> all;
  std::uint32_t other = 0;  // than biases
  for (Numbers& each : numbers_) {
    if (!each.share.sums) continue;
    each.applied =
        factors_.array(each.name, [bytes = each.applied_bytes](Tile /*tile*/) { return bytes; });
    all.emplace_back(each, each.bias ? each.kept.weights : sent_from(other++));
  }
  factors_.finish("rotations");
  exchange("twiddles", [all, rows = rows_](Tile tile, Pulls& pulls) {
    for (const auto& [its, from] : all)
      rows.geometry.for_alike(tile, [&, &its = its, &from = from](Tile other) {
        const Interval bytes = its.share.applied(other);
        pulls.push_back({{its.applied, word(bytes.begin)}, other, {from}, word(bytes.size())});
      });
  });
}

void RowLayer::forward(const MatrixArray& x, const MatrixArray& z) {
  statement_.stand_for_others({tiles() - 1});
  send_shares();
  const Arrays to = inputs();
  bring(x, to, rows_.first(), false);
  const Arrays made = multiply(to);
  for (std::uint32_t s = 0; s < stacks(); ++s)
    add(row_calls("training_add_bias", {Place{made[s]}, Place{bias(s).applied}}));
  factors_.finish();
  // The bias was added to padding samples too: takes the samples only.
  take(made, results(), context_.linear.outputs, z, true);
}

std::optional<MatrixArray> RowLayer::backward(const MatrixArray& x, const MatrixArray& gradient,
                                              bool wanted) {
  const Arrays gradients = gradient_rows();
  bring(gradient, gradients, results(), true);
  for (std::uint32_t s = 0; s < stacks(); ++s)
    add_sums(bias(s), "training_row_sums", {Place{gradients[s]}});
  const Arrays rows = multiply_back(gradients, wanted);
  factors_.add_shares(sums());
  finish_sums();
  factors_.finish("sums of shares");
  if (!wanted) return std::nullopt;
  add_stacks(rows, statement_.type());
  factors_.finish("sums of stacks");
  const MatrixArray back = statement_.matrix(x.rows, x.columns, "gradient of activations");
  // Transforms leave nonzero values behind the samples.
  take({rows.front()}, rows_.first(), std::min(context_.linear.inputs, features()), back,
       context_.linear.transforms());
  return back;
}

void RowLayer::add_tensors(const std::string& name) const {
  for (const bool bias : {false, true})
    for (const Numbers& each : numbers_) {
      if (each.bias != bias) continue;
      const std::uint64_t count = bias ? context_.linear.outputs : first_bias();
      training::add_tensor(
          statement_.description(),
          {bias ? name + "_bias" : name, program::Role::weights, each.kept.master_type(), {count}},
          each.kept, bias ? first_bias() : 0);
    }
}

RowLayer::Arrays RowLayer::gradient_rows() {
  return of_stacks([this](std::uint32_t /*stack*/) { return row_array("gradient of factors"); });
}

RowLayer::Numbers RowLayer::make_numbers(const butterfly::Rows& rows, std::uint64_t first,
                                         std::uint64_t count) {
  const auto numbers = [share = share(), geometry = rows_.geometry, rows, first, count](Tile tile) {
    std::vector<std::uint64_t> all;
    const Interval mine = share.sums(tile);
    for (std::uint64_t row = mine.begin / kElementBytes; row < mine.end / kElementBytes; ++row) {
      const std::uint64_t feature =
          row < geometry.rows() ? rows.feature(geometry.feature_part(tile), word(row)) : count;
      all.push_back(feature < count ? first + feature : training::kNoNumber);
    }
    return all;
  };
  // Gradients are sums in f32.
  return {.kept = context_.maker.make(
              [share = share()](Tile tile) { return share.sums(tile).size() / kElementBytes; },
              numbers, program::Type::f32),
          .share = share(),
          .name = "numbers of rows",
          .applied_bytes = rows_.row_bytes(kElementBytes) / kElementBytes * rows_.element_bytes};
}

void RowLayer::add_bias(std::uint32_t stack) {
  const std::uint64_t before = std::uint64_t{stack} * features();
  numbers_.push_back(
      make_numbers(results(), first_bias() + before, context_.linear.outputs - before));
  numbers_.back().bias = true;
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
    const std::uint32_t words =
        word(geometry.units(tile).size() * unit_bytes / training::kWordBytes);
    all.insert(all.end(), {words, geometry.rows(), words});
    calls.add_by_size(code.all(std::move(all)));
  };
}

void RowLayer::add_sums(Numbers& of, const std::string& name, training::Arguments rows) {
  of.sums = factors_.array(
      "sums of rows", [bytes = rows_.row_bytes(kElementBytes)](Tile /*tile*/) { return bytes; });
  // f16: unused elements must not look like overflowed gradients.
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

std::vector<RowLayer::Sum> RowLayer::sums() {
  std::vector<Sum> all;
  for (Numbers& each : numbers_) {
    if (!each.share.sums) continue;
    if (alone() && !each.converted) each.kept.gradient = each.sums;
    all.push_back({each.share.sums, each.sums, each.converted ? each.sums : each.kept.gradient});
  }
  return all;
}

}  // namespace tessera::mlp
