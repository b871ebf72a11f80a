#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kernels/codelet.h"
#include "kernels/convnet/network_file.h"
#include "kernels/convnet/tiles/geometry.h"
#include "sim/plan/pricing.h"

/// A network on tiles as a description: weights and biases stay in SRAM where they are used; layer
/// by layer inputs are pulled from the tiles that made them, with the padding around them, sums
/// are computed, those of parts of the input channels are added up, and results rounded.
namespace tessera::convnet::tiles {

/// `code` (of this folder) outlives the description.
class Functions {
 public:
  Functions(const elf::KernelCode& code, plan::Description& description, std::uint32_t contexts)
      : code_(code),
        description_(description),
        program_(*description.code()),
        contexts_(contexts) {}

  using Function = plan::Function;
  using Operands = std::span<const Place>;

  // Functions that are measured, as samples of these sizes.
  /// Sizes: positions of the longest run, column blocks, steps, workers that have runs. Operands:
  /// lists, w, x, y.
  const Function& sums(const BlockShape& block);
  /// Sizes: lanes of four channels, rows, positions of a row. Operands: y, bias, results.
  const Function& results(const BlockShape& block);
  /// For a layer without sums. Sizes: rows of all chunks, places of the window, pairs of 64-bit
  /// words of a row (maxima) or words (means). Operands: lists, x, results.
  const Function& pooling(const Geometry& g);

  // Calls for a cell's part of a layer; the functions above were asked for before.
  [[nodiscard]] program::Vertex sums(const Geometry& g, const Cell& cell, Operands operands) const;
  [[nodiscard]] program::Vertex results(const Geometry& g, const Cell& cell,
                                        Operands operands) const;
  // Lists of offsets that calls go by.
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
  plan::Description& description_;  ///< asked while it is stated only
  program::Program& program_;
  std::uint32_t contexts_;
};

/// A network in f16, values as they are, without scales (contents.cpp).
struct FloatModel {
  Network network;
  std::vector<RealWeights> weights;  ///< an element a layer; exact in f16, biases in f32
  std::vector<float> image;          ///< [row][column][channel]
  std::uint64_t rounded = 0;         ///< weights that were not exact in f16
};

/// `given` are a file's weights, an element a layer, or empty: seeded. Throws UserError naming the
/// layer for weights that f16 does not hold.
FloatModel float_model(Network network, std::span<const RealWeights> given, const Image& image,
                       std::uint64_t seed, HostThreads& threads);

/// A cell's weights, [column block][step][input of a chunk][output of a block] in f16. Of diagonal
/// layers, and of what is added to sums, the weights of a channel stand at its input and output,
/// all others are zero.
void fill_weights(const FloatModel& model, const Geometry& g, const Cell& cell,
                  std::span<std::byte> into);
/// Biases of the groups that a cell finishes, [channel] in f32; zeros where a layer has none.
void fill_bias(const FloatModel& model, const Geometry& g, const Cell& cell,
               std::span<std::byte> into);
/// X of a layer whose input is the image, zeros around it.
void fill_image(const FloatModel& model, const Geometry& g, const Cell& cell,
                std::span<std::byte> into);

/// Input of descriptions; their functions keep it.
struct Problem {
  FloatModel model;
  BlockShape block;
  std::vector<std::optional<LayerShape>> shapes;  ///< by layer
  std::uint32_t contexts;
  Tile tiles;  ///< the machine's
  elf::KernelCode code{"convnet/tiles"};
  elf::KernelCode product_code{"gemm"};
};

/// The program of all layers.
plan::Description describe_network(const std::shared_ptr<const Problem>& problem,
                                   const Geometries& geometries);
/// The program of layer `number` alone; `geometries` also has the layers before it.
plan::Description describe_layer(const std::shared_ptr<const Problem>& problem,
                                 const Geometries& geometries, std::uint32_t number);

/// The tensor of a layer's results: the last is Y.
std::string tensor_name(const Network& network, std::uint32_t number);

/// Cycles of the fullest cell's calls in a layer. `shell`: a description without steps, which keeps
/// the functions.
std::uint64_t call_cycles(const Problem& problem, const Geometry& g, plan::Description& shell,
                          plan::Pricing& pricing);
/// Bytes that a cell holds during the whole run: weights, biases, lists, and results, which the
/// host checks layer by layer.
std::uint64_t held_bytes(const Geometry& g, const Cell& cell);

}  // namespace tessera::convnet::tiles
