#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/convnet/network.h"
#include "sim/base/errors.h"

namespace tessera::convnet {

/// A layer as a file says it, without shapes but the image's, `output`, and the channels of a
/// convolution's.
struct LayerStatement : Layer {
  std::vector<std::string> from;  ///< its inputs
  std::optional<Shape> expected;  ///< output shape that the file states
};

/// Makes a network of statements, one after the other. UserErrors name the file and the layer: an
/// input that is unknown or comes later (or a cycle), too few or too many of them, shapes that
/// disagree, a window larger than its input, more than network.h allows; concatenated channels
/// that are no multiple of 8 (all inputs but the last), a layer whose output nothing takes.
class NetworkBuilder {
 public:
  /// `file` stands in messages. `later` are names of layers to come, so that messages can tell a
  /// name of another order from an unknown one.
  NetworkBuilder(std::string name, std::string file, std::vector<std::string> later = {})
      : file_(std::move(file)), later_(std::move(later)) {
    network_.name = std::move(name);
  }

  void add(const LayerStatement& statement);
  /// The output of a layer that was added.
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
  Layer layer_;  ///< that is being added
};

}  // namespace tessera::convnet
