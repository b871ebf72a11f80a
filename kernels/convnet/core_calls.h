#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/convnet/calls.h"
#include "kernels/convnet/mapping.h"

/// The calls of a core in one layer: codelets with their arguments and constants.
namespace tessera::convnet {

/// Where a call's operands lie in a core.
struct Operands {
  program::Place rows, weights, results, steps, partials;
};

/// An addition that is made with a convolution: which of its operands that one is.
struct Sum {
  const Layer* layer;
  std::uint32_t operand;
};

class CoreCalls {
 public:
  explicit CoreCalls(program::Program& program) : program_(program) {}

  /// A layer begins on the core.
  void begin(std::uint32_t node) {
    prepared_[node] = prepared_sums_[node] = 0;
    last_.erase(node);
  }
  /// Computes output blocks of a tile of rows, by one part of their weights. Before, it writes the
  /// steps of weights that have just come, unless they are there already.
  void compute(ArrayProgram& lists, std::uint32_t node, const LayerShape& shape,
               const Mapping& mapping, std::uint32_t column, const Item& item, Range blocks,
               const Operands& operands);
  /// Adds to what a convolution has made, operands.rows, what lies `distance` bytes behind. Of
  /// `operands` it takes no weights.
  void add(ArrayProgram& lists, std::uint32_t node, const Sum& sum, const LayerShape& shape,
           const Mapping& mapping, std::uint32_t column, const Item& item, Range blocks,
           const Operands& operands, std::uint32_t distance);

 private:
  /// Appends calls over `table` that come next on the node.
  void append(std::vector<program::Vertex>& vertices, std::uint32_t node,
              std::vector<Convolve::Call> calls, const PatchTable& table);
  [[nodiscard]] std::vector<program::Vertex> prepare(std::uint32_t node, const LayerShape& shape,
                                                     const Mapping& mapping, std::uint32_t column,
                                                     const Item& item, std::uint32_t blocks,
                                                     const Operands& operands);
  [[nodiscard]] std::uint32_t codelet(std::string_view name);
  /// Constants of a core: those of equal words are one buffer.
  template <class Word>
  program::Place constant(std::uint32_t node, const std::vector<Word>& words);

  program::Program& program_;
  std::map<std::string, std::uint32_t, std::less<>> codelets_;  ///< those that it calls, by name
  std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, program::BufferId> constants_;
  /// By node: blocks of the layer's steps, and of its addition's.
  std::map<std::uint32_t, std::uint32_t> prepared_, prepared_sums_;
  std::map<std::uint32_t, Convolve::Call> last_;  ///< by node: what `convolve` did last
};

}  // namespace tessera::convnet
