#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/convnet/mapping.h"

/// The calls of a core in one layer: codelets with their arguments and constants.
namespace tessera::convnet {

/// Where a call's operands lie in a core.
struct Operands {
  program::Place rows, weights, results, steps, partials;
};

class CoreCalls {
 public:
  explicit CoreCalls(program::Program& program);

  /// A layer begins on the core.
  void begin(std::uint32_t node) { prepared_[node] = 0; }
  /// Computes output blocks of a tile of rows, by one part of their weights. Before, it writes the
  /// steps of weights that have just come, unless they are there already.
  void compute(ArrayProgram& lists, std::uint32_t node, const LayerShape& shape,
               const Mapping& mapping, std::uint32_t column, const Item& item, Range blocks,
               const Operands& operands);

 private:
  [[nodiscard]] std::vector<program::Vertex> prepare(std::uint32_t node, const LayerShape& shape,
                                                     const Mapping& mapping, std::uint32_t column,
                                                     const Item& item, std::uint32_t blocks,
                                                     const Operands& operands);
  /// Constants of a core: those of equal words are one buffer.
  template <class Word>
  program::Place constant(std::uint32_t node, const std::vector<Word>& words);

  program::Program& program_;
  std::uint32_t prepare_, convolve_, pool_max_;  ///< codelets
  std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, program::BufferId> constants_;
  std::map<std::uint32_t, std::uint32_t> prepared_;  ///< by node: blocks of the layer's steps
};

}  // namespace tessera::convnet
