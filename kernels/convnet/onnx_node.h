#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/convnet/network.h"
#include "kernels/convnet/onnx_file.h"
#include "sim/base/errors.h"

namespace tessera::convnet::onnx {

/// A node with what messages of it need, and its attributes as layers understand them.
class NodeReader {
 public:
  NodeReader(const Node& node, const std::string& file) : node_(node), file_(file) {}

  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] const std::string& type() const { return node_.type; }
  /// Its name, or that of what it gives.
  [[nodiscard]] std::string name() const {
    if (!node_.name.empty() || node_.outputs.empty()) return node_.name;
    return node_.outputs.front();
  }
  /// Input `number`; empty if it is left out.
  [[nodiscard]] std::string input(std::size_t number) const {
    return number < node_.inputs.size() ? node_.inputs[number] : std::string();
  }
  void require_inputs(std::size_t least, std::size_t most) const {
    if (node_.inputs.size() < least || node_.inputs.size() > most)
      fail("found {} inputs, allowed {} to {}", node_.inputs.size(), least, most);
  }

  [[nodiscard]] std::int64_t integer(const std::string& key, std::int64_t otherwise) const;
  [[nodiscard]] double number(const std::string& key, double otherwise) const;
  /// Strides, padding and, unless `shape` is given (a Conv's weights), kernel_shape. Refuses
  /// dilation, ceil_mode and automatic padding.
  [[nodiscard]] Window window(
      const std::optional<std::pair<std::int64_t, std::int64_t>>& shape = {}) const;

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> problem, Args&&... args) const {
    throw UserError(fmt::format("{}: node '{}' ({}): {}", file_, name(), node_.type,
                                fmt::format(problem, std::forward<Args>(args)...)));
  }

 private:
  /// `count` integers, each from `least` to kMostExtent; `otherwise` each if there are none.
  [[nodiscard]] std::vector<std::uint32_t> integers(const std::string& key, std::size_t count,
                                                    std::int64_t least,
                                                    std::int64_t otherwise) const;
  [[nodiscard]] std::uint32_t extent(const char* key, std::int64_t value, std::int64_t least) const;

  const Node& node_;
  const std::string& file_;
};

}  // namespace tessera::convnet::onnx
