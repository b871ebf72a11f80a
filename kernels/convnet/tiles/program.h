#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kernels/codelet.h"
#include "kernels/convnet/network_file.h"
#include "kernels/convnet/tiles/geometry.h"
#include "sim/plan/pricing.h"

/// Description of a network on tiles: weights and biases stay in the SRAM of the tiles that use
/// them; for each layer inputs with their padding are pulled from the tiles that computed them,
/// sums are computed, sums over parts of the input channels are added, and results are rounded.
namespace tessera::convnet::tiles {

/// `code` (of this folder) must outlive the description.
class Functions {
 public:
  Functions(const elf::KernelCode& code, plan::Description& description, std::uint32_t contexts)
      : code_(code),
        description_(description),
        program_(*description.code()),
        contexts_(contexts) {}

  using Function = plan::Function;
  using Operands = std::span<const Place>;

  // Functions measured on samples of these sizes:
  /// Sizes: positions of the longest run, column blocks, steps, number of workers with runs.
  /// Operands: lists, w, x, y.
  const Function& sums(const BlockShape& block);
  /// Sizes: lanes of four channels, rows, positions per row. Operands: y, bias, results.
  const Function& results(const BlockShape& block);
  /// For a layer without sums. Sizes: rows of all chunks, places of the window, pairs of 64-bit
  /// words per row (maxima) or words (means). Operands: lists, x, results.
  const Function& pooling(const Geometry& g);

  // Calls for a cell's part of a layer; request the functions above first.
  [[nodiscard]] program::Vertex sums(const Geometry& g, const Cell& cell, Operands operands) const;
  [[nodiscard]] program::Vertex results(const Geometry& g, const Cell& cell,
                                        Operands operands) const;
  // Lists of offsets for calls:
  [[nodiscard]] static std::uint64_t list_bytes(const Geometry& g, const Cell& cell);
  static void fill_lists(const Geometry& g, const Cell& cell, std::span<std::byte> into);

  [[nodiscard]] Sizes sums_sizes(const Geometry& g, const Cell& cell) const;
  [[nodiscard]] static Sizes results_sizes(const Geometry& g, const Cell& cell);
  [[nodiscard]] static Sizes pooling_sizes(const Geometry& g, const Cell& cell);

 private:
  [[nodiscard]] kernels::Codelet codelet(std::string_view name) const {
    return {code_.in(program_, name), contexts_};
  }

  const elf::KernelCode& code_;
  plan::Description& description_;  ///< used only while stating
  program::Program& program_;
  std::uint32_t contexts_;
};

/// A network in f16, without scales (contents.cpp).
struct FloatModel {
  Network network;
  std::vector<RealWeights> weights;  ///< by layer; exact in f16, biases in f32
  std::vector<float> image;          ///< [row][column][channel]
  std::uint64_t rounded = 0;         ///< number of weights rounded to f16
};

/// `given` are a file's weights by layer, or empty: seeded. Throws UserError naming the layer for
/// weights outside the range of f16.
FloatModel float_model(Network network, std::span<const RealWeights> given, const Image& image,
                       std::uint64_t seed, HostThreads& threads);

/// A cell's weights, [column block][step][input of a chunk][output of a block] in f16. In diagonal
/// layers, and for operands added to sums, a channel's weight is at its input and output; all
/// others are zero.
void fill_weights(const FloatModel& model, const Geometry& g, const Cell& cell,
                  std::span<std::byte> into);
/// Biases of the groups that a cell finishes, [channel] in f32; zeros for layers without bias.
void fill_bias(const FloatModel& model, const Geometry& g, const Cell& cell,
               std::span<std::byte> into);
/// X of a layer whose input is the image, padded with zeros.
void fill_image(const FloatModel& model, const Geometry& g, const Cell& cell,
                std::span<std::byte> into);

/// Inputs of descriptions; their functions hold a reference to them.
struct Problem {
  FloatModel model;
  BlockShape block;
  std::vector<std::optional<LayerShape>> shapes;  ///< by layer
  std::uint32_t contexts;
  Tile tiles;  ///< number of the machine's tiles
  elf::KernelCode code{"convnet/tiles"};
  elf::KernelCode product_code{"gemm"};
};

/// The program of all layers.
plan::Description describe_network(const std::shared_ptr<const Problem>& problem,
                                   const Geometries& geometries);
/// The program of layer `number` alone; `geometries` also has the layers before it.
plan::Description describe_layer(const std::shared_ptr<const Problem>& problem,
                                 const Geometries& geometries, std::uint32_t number);

/// Name of the tensor of a layer's results; the last is Y.
std::string tensor_name(const Network& network, std::uint32_t number);

/// Cycles of the fullest cell's calls in a layer. `shell`: a description without steps that owns
/// the functions.
std::uint64_t call_cycles(const Problem& problem, const Geometry& g, plan::Description& shell,
                          plan::Pricing& pricing);
/// Bytes that a cell holds during the whole run: weights, biases, lists, and results, which the
/// host checks layer by layer.
std::uint64_t held_bytes(const Geometry& g, const Cell& cell);

}  // namespace tessera::convnet::tiles
