#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/butterfly/shape.h"
#include "kernels/sparse/operand/block_matrix.h"
#include "kernels/training/statement.h"

/// The network: layers as a config gives them, and the linear maps that they consist of.
namespace tessera::mlp {

using training::Activation;

enum class LayerKind : std::uint8_t { dense, low_rank, butterfly, pixelfly, circulant, fastfood };
inline constexpr config::Names<LayerKind, 6> kLayerKinds{{{"dense", LayerKind::dense},
                                                          {"low_rank", LayerKind::low_rank},
                                                          {"butterfly", LayerKind::butterfly},
                                                          {"pixelfly", LayerKind::pixelfly},
                                                          {"circulant", LayerKind::circulant},
                                                          {"fastfood", LayerKind::fastfood}}};

constexpr std::uint32_t kDiagonals = 3;  ///< diagonals of a fastfood stack: B, G, S

struct LayerOptions {
  LayerKind kind = LayerKind::dense;
  std::uint32_t outputs = 10;
  std::uint32_t rank = 8;  ///< low_rank and pixelfly
  Activation activation = Activation::none;
  butterfly::Parameters parameters = butterfly::Parameters::free;
  std::uint32_t block = 16;          ///< pixelfly, as the fields below
  std::uint32_t butterfly_size = 0;  ///< 0: the largest
  std::uint32_t factors = 0;         ///< 0: all
  std::optional<double> gamma = {};  ///< W = gamma S + (1 - gamma) U V^T
  bool learn_gamma = false;          ///< gamma is a parameter
};
void describe(config::Fields& fields, LayerOptions& layer);

/// y = activation(x W + b): a dense W, a product of butterfly factors, S + U V^T, or what a
/// transform makes of diagonals. Of dense and pixelfly b is the last row of W, for the last column
/// of x, which is 1.
struct Linear {
  std::uint32_t inputs;
  std::uint32_t outputs;
  bool bias;
  Activation activation;
  LayerOptions layer = {};  ///< low_rank stands for two dense ones
  /// Parameters before training, in the order of initial_parameters(); none: seeded ones.
  std::shared_ptr<const std::vector<double>> given = {};
  std::string key = {};  ///< the layer's key in the config: "workload.layers[1]"

  /// Columns of x that it takes: inputs, zeros up to whole blocks, 1.
  [[nodiscard]] std::uint32_t columns() const;
  [[nodiscard]] bool takes_ones() const { return bias && !by_rows(); }
  /// Features lie by rows, in stacks: a butterfly, or a transform, of which W is made.
  [[nodiscard]] bool by_rows() const { return layer.kind == LayerKind::butterfly || transforms(); }
  [[nodiscard]] bool transforms() const { return circulant() || layer.kind == LayerKind::fastfood; }
  [[nodiscard]] bool circulant() const { return layer.kind == LayerKind::circulant; }
  [[nodiscard]] std::uint64_t parameters() const;
  /// Multiplications and additions of a sample, going forward.
  [[nodiscard]] std::uint64_t flops() const;

  [[nodiscard]] bool learns_gamma() const {
    return layer.kind == LayerKind::pixelfly && layer.learn_gamma;
  }

  /// The factors of by_rows(): features of a stack, a power of two. Stacks have as many outputs;
  /// the last one's outputs beyond `outputs` are dropped (torch_butterfly/butterfly.py of
  /// HazyResearch/butterfly). Columns are `samples` samples; circulant has two samples per complex
  /// number, and the first columns of its stacks behind them.
  [[nodiscard]] butterfly::Problem factors(std::uint32_t samples) const;
  [[nodiscard]] std::uint32_t stacks() const;

  /// For pixelfly: the matrix that multiplies x, [outputs, columns()] in blocks, sizes padded to
  /// whole entries of the mask (blocksparse_linear.py of HazyResearch/fly), the block column of b
  /// behind.
  [[nodiscard]] sparse::BlockMatrix mask() const;
  /// True if an element in a block of the mask is no padding.
  [[nodiscard]] bool in_s(std::uint32_t row, std::uint32_t column) const {
    return row < outputs && (column < inputs || column == padded_inputs());
  }
  [[nodiscard]] std::uint32_t padded_inputs() const;
  [[nodiscard]] std::uint32_t padded_outputs() const;
  [[nodiscard]] std::uint32_t mask_size() const;
};

/// The linear maps of `layers`: one of each layer, two of low_rank (W = V U, rank columns of V).
/// Throws KeyError for more factors of pixelfly than its mask has.
std::vector<Linear> products_of(const std::vector<LayerOptions>& layers, std::uint32_t inputs);

/// Columns of the i-th product's result: those that the next one takes.
std::uint32_t result_columns(const std::vector<Linear>& products, std::size_t i);

/// The permutation of a stack of fastfood in map `product`: feature f takes that of its place.
/// Always the same, whatever the seed of the weights.
std::vector<std::uint32_t> permutation_of(const Linear& linear, std::size_t product,
                                          std::uint32_t stack);

/// Where the parts of a pixelfly layer's parameters begin.
struct PixelflyOrder {
  std::uint64_t u, v, end;
};
PixelflyOrder pixelfly_order(const Linear& linear, const sparse::BlockMatrix& mask);
/// Calls take(number, row, column) for the elements of a mask's blocks, in the order of parameters.
template <class Take>
void for_elements(const sparse::BlockMatrix& mask, const Take& take) {
  std::size_t number = 0;
  for (std::uint32_t row = 0; row < mask.block_rows(); ++row)
    for (std::uint64_t e = mask.row_begin[row]; e < mask.row_begin[row + 1]; ++e)
      for (std::uint32_t n = 0; n < mask.block * mask.block; ++n)
        take(number++, row * mask.block + n / mask.block,
             mask.column[e] * mask.block + n % mask.block);
}

/// Gives all maps the parameters of weights_0.npy ... in `folder`, as the program's tensors are: of
/// butterfly b apart, in weights_0_bias.npy. Throws KeyError and UserError for other shapes, values
/// beyond `type`, padding that is not 0, and further files of weights.
void read_parameters(std::vector<Linear>& products, const std::string& folder, program::Type type);

/// The parameters of a linear map before training as f32 has them, a learned gamma last. Of dense
/// row by row of W, b last, uniform within 1/sqrt(inputs) as torch.nn.Linear's; of butterfly stack
/// by stack, factor by factor, pair by pair, then b: those of a Hadamard transform; of circulant
/// stack by stack the first column, then b, as of dense; of fastfood stack by stack B, signs, G, of
/// variance 1, and S, ones, then b; of pixelfly the blocks of S by block rows, each row by row,
/// then U and V by rows: within the root of what a row adds up.
std::vector<double> initial_parameters(std::uint64_t seed, std::size_t product,
                                       const Linear& linear);

}  // namespace tessera::mlp
