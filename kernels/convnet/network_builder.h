#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/convnet/network.h"
#include "sim/base/errors.h"

namespace tessera::convnet {

/// A layer as stated in a file: the only shapes given are the image's, in `output`, and a
/// convolution's output channels.
struct LayerStatement : Layer {
  std::vector<std::string> from;  ///< names of its inputs
  std::optional<Shape> expected;  ///< output shape given in the file
};

/// Builds a network from statements in order. UserErrors name the file and the layer: an input that
/// is unknown, stated later or part of a cycle, a wrong number of inputs, shapes that disagree, a
/// window larger than its input, more than network.h allows, concatenated channels that are no
/// multiple of 8 (all inputs but the last), a layer whose output is unused.
class NetworkBuilder {
 public:
  /// `file` is used in messages. `later` are names of layers stated later, so that messages
  /// distinguish a wrong order from an unknown name.
  NetworkBuilder(std::string name, std::string file, std::vector<std::string> later = {})
      : file_(std::move(file)), later_(std::move(later)) {
    network_.name = std::move(name);
  }

  void add(const LayerStatement& statement);
  /// The output shape of an added layer.
  [[nodiscard]] const Shape& shape_of(const std::string& name) const {
    return network_.layers[numbers_.at(name)].output;
  }
  /// The network of all statements.
  Network finish();

 private:
  [[nodiscard]] std::uint32_t number_of(const std::string& from) const;
  void require_inputs(const LayerStatement& statement) const;
  void set_shapes();
  void set_window_shapes();
  void set_joined_shapes();
  void require_sizes() const;
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> problem, Args&&... args) const {
    throw UserError("{}: layer '{}': {}", file_, layer_.name,
                    fmt::format(problem, std::forward<Args>(args)...));
  }

  std::string file_;
  std::vector<std::string> later_;
  Network network_;
  std::map<std::string, std::uint32_t> numbers_;
  Layer layer_;  ///< the layer being added
};

}  // namespace tessera::convnet
