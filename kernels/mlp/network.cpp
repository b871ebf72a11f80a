#include "kernels/mlp/network.h"

#include <cmath>

#include "sim/data/random.h"

namespace tessera::mlp {

namespace {

constexpr std::uint64_t kWeights = 201;  // streams of the seed, from the first product's on

constexpr config::Names<LayerKind, 2> kKinds{
    {{"dense", LayerKind::dense}, {"low_rank", LayerKind::low_rank}}};
constexpr config::Names<Activation, 3> kActivations{
    {{"none", Activation::none}, {"relu", Activation::relu}, {"gelu", Activation::gelu}}};

}  // namespace

void describe(config::Fields& fields, LayerOptions& layer) {
  fields.field({"kind", "y = x W + b with a dense W, or with W of low rank"}, layer.kind, kKinds);
  fields.field({"outputs", "columns of W"}, layer.outputs, {1, 1U << 20});
  fields.field({"rank", "of a W of low rank"}, layer.rank, {1, 1U << 20});
  fields.require(layer.kind == LayerKind::low_rank || !fields.given("rank"), "rank",
                 "found with kind dense, allowed with low_rank");
  fields.field({"activation", "what is done to y"}, layer.activation, kActivations);
}

std::vector<Linear> products_of(const std::vector<LayerOptions>& layers, std::uint32_t inputs) {
  std::vector<Linear> products;
  for (const LayerOptions& layer : layers) {
    if (layer.kind == LayerKind::low_rank) {
      products.push_back({inputs, layer.rank, false, Activation::none});
      products.push_back({layer.rank, layer.outputs, true, layer.activation});
    } else {
      products.push_back({inputs, layer.outputs, true, layer.activation});
    }
    inputs = layer.outputs;
  }
  return products;
}

std::uint32_t result_columns(const std::vector<Linear>& products, std::size_t i) {
  const bool bias = i + 1 < products.size() && products[i + 1].bias;
  return products[i].outputs + (bias ? 1 : 0);
}

double initial_weight(std::uint64_t seed, std::size_t product, const Linear& linear,
                      std::uint64_t row, std::uint64_t column) {
  const double bound = 1 / std::sqrt(static_cast<double>(linear.inputs));
  const std::uint64_t at = row * linear.outputs + column;
  return static_cast<float>(bound * data::random_signed(seed, kWeights + product, at, 23));
}

}  // namespace tessera::mlp
