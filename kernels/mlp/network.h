#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/butterfly/shape.h"
#include "kernels/sparse/operand/block_matrix.h"
#include "kernels/training/statement.h"

/// The network: layers as given by the config, and their linear maps.
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

/// y = activation(x W + b), where W is dense, a product of butterfly factors, S + U V^T, or made
/// from diagonals by a transform. In dense and pixelfly b is the last row of W, which multiplies
/// the last column of x, 1.
struct Linear {
  std::uint32_t inputs;
  std::uint32_t outputs;
  bool bias;
  Activation activation;
  LayerOptions layer = {};  ///< a low_rank layer has become two dense ones
  /// Parameters before training in the order of initial_parameters(); null: seeded.
  std::shared_ptr<const std::vector<double>> given = {};
  std::string key = {};  ///< the layer's key in the config: "workload.layers[1]"

  /// Columns of x: inputs, zeros up to whole blocks, 1.
  [[nodiscard]] std::uint32_t columns() const;
  [[nodiscard]] bool takes_ones() const { return bias && !by_rows(); }
  /// True if features are stored by rows, in stacks: butterflies and transforms.
  [[nodiscard]] bool by_rows() const { return layer.kind == LayerKind::butterfly || transforms(); }
  [[nodiscard]] bool transforms() const { return circulant() || layer.kind == LayerKind::fastfood; }
  [[nodiscard]] bool circulant() const { return layer.kind == LayerKind::circulant; }
  [[nodiscard]] std::uint64_t parameters() const;
  /// Multiplications and additions per sample in the forward pass.
  [[nodiscard]] std::uint64_t flops() const;

  [[nodiscard]] bool learns_gamma() const {
    return layer.kind == LayerKind::pixelfly && layer.learn_gamma;
  }

  /// The butterfly problem of a stack, for maps by_rows(). A stack has a power of two of features
  /// and as many outputs; the last one's outputs beyond `outputs` are dropped (torch_butterfly/
  /// butterfly.py of HazyResearch/butterfly). Columns are `samples` samples; circulant has two
  /// samples per complex number, followed by the first columns of its stacks.
  [[nodiscard]] butterfly::Problem factors(std::uint32_t samples) const;
  [[nodiscard]] std::uint32_t stacks() const;

  /// For pixelfly: the matrix that multiplies x, [outputs, columns()] in blocks, padded to whole
  /// entries of the mask (blocksparse_linear.py of HazyResearch/fly), then the block column of b.
  [[nodiscard]] sparse::BlockMatrix mask() const;
  /// True if an element of a block of the mask is not padding.
  [[nodiscard]] bool in_s(std::uint32_t row, std::uint32_t column) const {
    return row < outputs && (column < inputs || column == padded_inputs());
  }
  [[nodiscard]] std::uint32_t padded_inputs() const;
  [[nodiscard]] std::uint32_t padded_outputs() const;
  [[nodiscard]] std::uint32_t mask_size() const;
};

/// The linear maps of `layers`: one per layer, two for low_rank (W = V U, V has `rank` columns).
/// Throws KeyError if pixelfly has more factors than its mask.
std::vector<Linear> products_of(const std::vector<LayerOptions>& layers, std::uint32_t inputs);

/// Columns of the i-th product's result: the next product's columns of x.
std::uint32_t result_columns(const std::vector<Linear>& products, std::size_t i);

/// The permutation of a fastfood stack of map `product`: feature f is taken from place [f]. It does
/// not depend on the seed of the weights.
std::vector<std::uint32_t> permutation_of(const Linear& linear, std::size_t product,
                                          std::uint32_t stack);

/// First parameter of each part of a pixelfly layer.
struct PixelflyOrder {
  std::uint64_t u, v, end;
};
PixelflyOrder pixelfly_order(const Linear& linear, const sparse::BlockMatrix& mask);
/// Calls take(number, row, column) for the elements of a mask's blocks in the order of parameters.
template <class Take>
void for_elements(const sparse::BlockMatrix& mask, const Take& take) {
  std::size_t number = 0;
  for (std::uint32_t row = 0; row < mask.block_rows(); ++row)
    for (std::uint64_t e = mask.row_begin[row]; e < mask.row_begin[row + 1]; ++e)
      for (std::uint32_t n = 0; n < mask.block * mask.block; ++n)
        take(number++, row * mask.block + n / mask.block,
             mask.column[e] * mask.block + n % mask.block);
}

/// Reads the parameters of all maps from weights_0.npy ... in `folder`, in the layout of the
/// program's tensors (b of butterfly in weights_0_bias.npy). Throws KeyError and UserError for
/// other shapes, values out of range of `type`, nonzero padding, and additional files of weights.
void read_parameters(std::vector<Linear>& products, const std::string& folder, program::Type type);

/// The f32 parameters of a linear map before training, a learned gamma last.
///   dense      W by rows, then b: uniform within 1/sqrt(inputs), as torch.nn.Linear
///   butterfly  by stack, factor and pair, then b: a Hadamard transform
///   circulant  the first column of each stack, then b: as dense
///   fastfood   by stack B (signs), G (variance 1) and S (ones), then b
///   pixelfly   the blocks of S by block row, each by rows, then U and V by rows: uniform within
///              one over the root of the number of terms of a row
std::vector<double> initial_parameters(std::uint64_t seed, std::size_t product,
                                       const Linear& linear);

}  // namespace tessera::mlp
