#include "kernels/mlp/network.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>

#include "kernels/sparse/operand/pattern.h"
#include "sim/base/errors.h"
#include "sim/data/random.h"
#include "sim/data/weights_folder.h"

namespace tessera::mlp {

namespace {

constexpr std::uint64_t kWeights = 201;  // first random stream of the seed, one per product

constexpr std::uint64_t kPermutations = 200;  // replaces the seed: permutations never depend on it

constexpr config::Names<Activation, 3> kActivations{
    {{"none", Activation::none}, {"relu", Activation::relu}, {"gelu", Activation::gelu}}};

/// Rejects `key` for layers of other kinds than `kinds`.
void belongs(config::Fields& fields, const LayerOptions& layer, std::string_view key,
             std::initializer_list<LayerKind> kinds) {
  std::string names;
  bool used = false;
  for (const LayerKind kind : kinds) {
    names += fmt::format("{}{}", names.empty() ? "" : " and ", config::name_of(kLayerKinds, kind));
    used = used || kind == layer.kind;
  }
  fields.require_read(used, key, "found with kind {}, allowed with {}",
                      config::name_of(kLayerKinds, layer.kind), names);
}

void require_factors(const Linear& linear, std::size_t layer) {
  const auto all = static_cast<std::uint32_t>(std::countr_zero(linear.mask_size()));
  if (linear.layer.factors > all)
    throw KeyError(fmt::format("workload.layers[{}].factors", layer),
                   "found {}, allowed 0 (all) to {}: log2 of butterfly_size {}",
                   linear.layer.factors, all, linear.mask_size());
}

/// Uniform within `bound`.
double initial_weight(std::uint64_t seed, std::size_t product, double bound, std::uint64_t at) {
  return static_cast<float>(bound * data::random_signed(seed, kWeights + product, at, 23));
}

double bound_of(double added) { return 1 / std::sqrt(std::max(added, 1.0)); }

/// Twiddles begin as a Hadamard transform: 1 1 1 -1 over the root of two, or an eighth of a turn,
/// so that all features have equal weight (random twiddles keep variances, but most products of ten
/// of them are close to zero). In further stacks the first factor turns pairs by random quarters,
/// or changes signs of inputs, so that stacks differ.
double initial_factor(std::uint64_t seed, std::size_t product, const Linear& linear,
                      std::uint64_t at) {
  const butterfly::Problem problem = linear.factors(1);
  const std::uint64_t each = problem.twiddle_parameters();
  const std::uint64_t pair = at / each;
  const std::uint64_t factor = pair / problem.pairs();
  const bool varies = factor >= problem.stages() && factor % problem.stages() == 0;
  const std::uint64_t bits = varies ? data::random_bits(seed, kWeights + product, pair) : 0;
  if (linear.layer.parameters == butterfly::Parameters::rotation)
    return static_cast<float>(std::numbers::pi / 4 * (1 + 2 * static_cast<double>(bits & 3)));
  const double sign = (bits >> at % 2 & 1) != 0 ? -1 : 1;
  return static_cast<float>((at % each == 3 ? -sign : sign) * std::numbers::sqrt2 / 2);
}

double initial_diagonal(std::uint64_t seed, std::size_t product, const Linear& linear,
                        std::uint64_t at) {
  switch (at / linear.factors(1).features % kDiagonals) {
    case 0:
      return initial_weight(seed, product, 1, at) < 0 ? -1 : 1;
    case 1:
      return initial_weight(seed, product, std::numbers::sqrt3, at);
    default:
      return 1;
  }
}

/// Requires zeros in S's padding: elements of no input or output, which stay zero in training.
void require_zero_padding(const Linear& linear, const std::vector<double>& values,
                          const std::string& path) {
  for_elements(linear.mask(), [&](std::size_t at, std::uint32_t row, std::uint32_t column) {
    if (values[at] != 0 && !linear.in_s(row, column))
      throw KeyError("workload.weights", "found {} at [{}] of {}, allowed 0: padding", values[at],
                     at, path);
  });
}

}  // namespace

void describe(config::Fields& fields, LayerOptions& layer) {
  fields.field({"kind",
                "form of W in y = x W + b: dense, low rank, a product of butterfly factors, flat "
                "block butterfly plus low rank, circulant, or the fastfood transform"},
               layer.kind, kLayerKinds);
  fields.field({"outputs", "columns of W"}, layer.outputs, {1, 1U << 20});
  fields.field({"rank", "rank of a low-rank W, or of the low-rank part of pixelfly"}, layer.rank,
               {1, 1U << 20});
  fields.field({"activation",
                "activation function of y; gelu in its tanh form, y/2 (1 + tanh(sqrt(2/pi) (y + "
                "0.044715 y^3)))"},
               layer.activation, kActivations);
  fields.field({"parameters", "butterfly: parameters of a 2x2 twiddle, four elements or an angle"},
               layer.parameters, butterfly::kParameters);
  fields.field({"block", "pixelfly: rows and columns of a block of S: 4, 8 or 16"}, layer.block,
               {4, 16});
  fields.require(std::has_single_bit(layer.block), "block", "found {}, allowed 4, 8 or 16",
                 layer.block);
  fields.field({"butterfly_size",
                "pixelfly: entries per side of the mask, a power of two; 0: the largest whose "
                "entries are at least blocks"},
               layer.butterfly_size, {0, 1U << 16});
  fields.require(layer.butterfly_size == 0 ||
                     (layer.butterfly_size >= 2 && std::has_single_bit(layer.butterfly_size)),
                 "butterfly_size", "found {}, allowed 0 or a power of two from 2 on",
                 layer.butterfly_size);
  fields.field({"factors", "pixelfly: number of butterfly factors in the mask; 0: all"},
               layer.factors, {0, 16});
  fields.field({"gamma",
                "pixelfly: W = gamma S + (1 - gamma) U V^T, multiplied out on the machine in each "
                "step (b is not scaled); null: W = S + U V^T"},
               layer.gamma, {0, 1});
  fields.field({"learn_gamma",
                "pixelfly: gamma is a trained parameter with this start value and no bounds; "
                "false: it is fixed"},
               layer.learn_gamma);
  fields.require(!layer.learn_gamma || layer.gamma.has_value(), "learn_gamma",
                 "found true without gamma, allowed with gamma, its initial value");
  belongs(fields, layer, "rank", {LayerKind::low_rank, LayerKind::pixelfly});
  belongs(fields, layer, "parameters", {LayerKind::butterfly});
  for (const std::string_view key : {"block", "butterfly_size", "factors", "gamma", "learn_gamma"})
    belongs(fields, layer, key, {LayerKind::pixelfly});
}

std::vector<Linear> products_of(const std::vector<LayerOptions>& layers, std::uint32_t inputs) {
  std::vector<Linear> products;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerOptions& layer = layers[i];
    const std::string key = fmt::format("workload.layers[{}]", i);
    LayerOptions dense = layer;
    dense.kind = LayerKind::dense;
    if (layer.kind == LayerKind::low_rank) {
      products.push_back({inputs, layer.rank, false, Activation::none, dense, {}, key});
      products.push_back({layer.rank, layer.outputs, true, layer.activation, dense, {}, key});
    } else {
      products.push_back({inputs, layer.outputs, true, layer.activation, layer, {}, key});
      if (layer.kind == LayerKind::pixelfly) require_factors(products.back(), i);
    }
    inputs = layer.outputs;
  }
  return products;
}

std::uint32_t result_columns(const std::vector<Linear>& products, std::size_t i) {
  return i + 1 < products.size() ? products[i + 1].columns() : products[i].outputs;
}

std::uint32_t Linear::columns() const {
  if (by_rows()) return inputs;
  if (layer.kind == LayerKind::pixelfly) return padded_inputs() + 1;
  return inputs + (bias ? 1 : 0);
}

std::uint64_t Linear::parameters() const {
  if (transforms())
    return (circulant() ? 1 : kDiagonals) * stacks() * factors(1).features + outputs;
  if (layer.kind == LayerKind::butterfly) {
    const butterfly::Problem problem = factors(1);
    return std::uint64_t{stacks()} * problem.stages() * problem.pairs() *
               problem.twiddle_parameters() +
           outputs;
  }
  // Padding and the zeros beside b are no parameters.
  if (layer.kind == LayerKind::pixelfly) {
    std::uint64_t elements =
        std::uint64_t{inputs + outputs} * layer.rank + (learns_gamma() ? 1 : 0);
    for_elements(mask(), [&](std::size_t, std::uint32_t row, std::uint32_t column) {
      elements += in_s(row, column) ? 1 : 0;
    });
    return elements;
  }
  return std::uint64_t{columns()} * outputs;
}

std::uint64_t Linear::flops() const {
  if (!by_rows()) return 2 * (parameters() - (learns_gamma() ? 1 : 0));
  const butterfly::Problem problem = factors(1);
  const std::uint64_t pairs = std::uint64_t{stacks()} * problem.stages() * problem.pairs();
  if (layer.kind == LayerKind::butterfly) return pairs * 6 + outputs;
  // Two transforms of two additions per pair; circulant: ten operations per pair for two samples.
  const std::uint64_t diagonals = std::uint64_t{stacks()} * 3 * problem.features;
  return pairs * (circulant() ? 10 : 4) + diagonals + outputs;
}

butterfly::Problem Linear::factors(std::uint32_t samples) const {
  butterfly::Problem problem;
  problem.features = std::bit_ceil(std::max(inputs, 2U));
  problem.n = samples;
  if (!transforms()) problem.parameters = layer.parameters;
  problem.pass = butterfly::Pass::grad_twiddles;
  if (circulant()) {
    problem.dtype = butterfly::Number::complex_f32;
    problem.order = butterfly::Order::decreasing;
    const std::uint32_t columns = problem.unit_columns();
    problem.n =
        round_up(ceil_div(samples, 2U), columns) + columns * ceil_div(outputs, problem.features);
  }
  return problem;
}

std::uint32_t Linear::stacks() const { return ceil_div(outputs, factors(1).features); }

std::uint32_t Linear::mask_size() const {
  if (layer.butterfly_size != 0) return layer.butterfly_size;
  return std::max(std::bit_floor(ceil_div(std::min(inputs, outputs), layer.block)), 2U);
}

std::uint32_t Linear::padded_inputs() const {
  return round_up(inputs, std::max(layer.block, mask_size()));
}

std::uint32_t Linear::padded_outputs() const {
  return round_up(outputs, std::max(layer.block, mask_size()));
}

sparse::BlockMatrix Linear::mask() const {
  const std::uint32_t size = mask_size();
  const auto all = static_cast<std::uint32_t>(std::countr_zero(size));
  const std::uint32_t count = layer.factors == 0 ? all : layer.factors;
  const sparse::BlockPattern pattern =
      sparse::butterfly_pattern(padded_outputs(), padded_inputs(), layer.block, {size, count, 0});
  sparse::BlockMatrix s{padded_outputs(), columns(), layer.block, {0}, {}, {}, 0};
  for (std::uint32_t row = 0; row < pattern.rows; ++row) {
    for (std::uint64_t e = pattern.row_begin[row]; e < pattern.row_begin[row + 1]; ++e)
      s.column.push_back(pattern.column[e]);
    s.column.push_back(padded_inputs() / layer.block);  // b
    s.row_begin.push_back(s.column.size());
  }
  s.value.resize(s.blocks() * layer.block * layer.block);
  s.nonzeros = s.value.size();
  return s;
}

PixelflyOrder pixelfly_order(const Linear& linear, const sparse::BlockMatrix& mask) {
  const std::uint64_t rank = linear.layer.rank;
  const std::uint64_t u = mask.value.size();
  const std::uint64_t v = u + linear.outputs * rank;
  return {u, v, v + linear.inputs * rank};
}

std::vector<double> initial_parameters(std::uint64_t seed, std::size_t product,
                                       const Linear& linear) {
  if (linear.given) return *linear.given;
  std::vector<double> values;
  if (linear.layer.kind == LayerKind::pixelfly) {
    const sparse::BlockMatrix s = linear.mask();
    const PixelflyOrder order = pixelfly_order(linear, s);
    for_elements(s, [&](std::size_t at, std::uint32_t row, std::uint32_t column) {
      const std::uint32_t of_blocks = row / s.block;  // b's block is not among those summed
      const auto blocks = double(s.row_begin[of_blocks + 1] - s.row_begin[of_blocks] - 1);
      const double added =
          column == linear.padded_inputs() ? linear.inputs : blocks * double(s.block);
      values.push_back(linear.in_s(row, column) ? initial_weight(seed, product, bound_of(added), at)
                                                : 0.0);
    });
    while (values.size() < order.end) {
      const double added = values.size() < order.v ? linear.layer.rank : linear.inputs;
      values.push_back(initial_weight(seed, product, bound_of(added), values.size()));
    }
    if (linear.learns_gamma()) values.push_back(static_cast<float>(*linear.layer.gamma));
    return values;
  }
  const std::uint64_t count = linear.parameters();
  for (std::uint64_t at = 0; at < count; ++at) {
    const bool is_bias = linear.by_rows() && at >= count - linear.outputs;
    if (linear.layer.kind == LayerKind::butterfly && !is_bias)
      values.push_back(initial_factor(seed, product, linear, at));
    else if (linear.layer.kind == LayerKind::fastfood && !is_bias)
      values.push_back(initial_diagonal(seed, product, linear, at));
    else
      values.push_back(initial_weight(seed, product, bound_of(linear.inputs), at));
  }
  return values;
}

std::vector<std::uint32_t> permutation_of(const Linear& linear, std::size_t product,
                                          std::uint32_t stack) {
  std::vector<std::uint32_t> all(linear.factors(1).features);
  std::iota(all.begin(), all.end(), 0U);
  for (std::uint64_t i = all.size(); i > 1; --i)
    std::swap(all[i - 1], all[data::random_below(kPermutations + product, stack, i, i)]);
  return all;
}

// Reads the user's parameters, in the form in which a run saves them.

void read_parameters(std::vector<Linear>& products, const std::string& folder, program::Type type) {
  data::WeightsFolder files(folder, "weights_", "workload.weights");
  for (std::size_t i = 0; i < products.size(); ++i) {
    Linear& linear = products[i];
    const std::string name = fmt::format("weights_{}", i);
    std::vector<double> all;
    const auto read = [&](const char* suffix, const std::vector<std::uint64_t>& shape) {
      const std::vector<float> values = files.read(name + suffix, shape, type);
      all.insert(all.end(), values.begin(), values.end());
    };
    if (linear.by_rows()) {
      read("", {linear.parameters() - linear.outputs});
      read("_bias", {linear.outputs});
    } else if (linear.layer.kind == LayerKind::pixelfly) {
      read("", {pixelfly_order(linear, linear.mask()).end});
      require_zero_padding(linear, all, files.path(name));
      if (linear.learns_gamma()) read("_gamma", {1});
    } else {
      read("", {linear.columns(), linear.outputs});
    }
    linear.given = std::make_shared<const std::vector<double>>(std::move(all));
  }
  files.require_all_read();
}

}  // namespace tessera::mlp
