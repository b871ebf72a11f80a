#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/training/assembly.h"

/// What the network is: layers as a config gives them, and the products that they consist of.
namespace tessera::mlp {

using training::Activation;

enum class LayerKind : std::uint8_t { dense, low_rank };

struct LayerOptions {
  LayerKind kind = LayerKind::dense;
  std::uint32_t outputs = 10;
  std::uint32_t rank = 8;  ///< of low_rank
  Activation activation = Activation::none;
};
void describe(config::Fields& fields, LayerOptions& layer);

/// y = activation(x W + b): one product. A bias is the last row of W, for the last column of x,
/// which is 1.
struct Linear {
  std::uint32_t inputs;
  std::uint32_t outputs;
  bool bias;
  Activation activation;

  [[nodiscard]] std::uint32_t rows() const { return inputs + (bias ? 1 : 0); }
  [[nodiscard]] std::uint64_t parameters() const { return std::uint64_t{rows()} * outputs; }
};

/// The products of `layers`: one of a dense layer, two of low_rank (W = V U, rank columns of V).
std::vector<Linear> products_of(const std::vector<LayerOptions>& layers, std::uint32_t inputs);

/// Columns of the i-th product's result: one more, which is 1, for the next one's bias.
std::uint32_t result_columns(const std::vector<Linear>& products, std::size_t i);

/// Seeded weights as a f32 has them: uniform within 1/sqrt(inputs), as torch.nn.Linear's.
double initial_weight(std::uint64_t seed, std::size_t product, const Linear& linear,
                      std::uint64_t row, std::uint64_t column);

}  // namespace tessera::mlp
