#include <algorithm>
#include <array>

#include "kernels/convnet/onnx_file.h"
#include "sim/base/ranges.h"

namespace tessera::convnet::onnx {

std::uint32_t Node::extent(const char* key, std::int64_t value, std::int64_t least) const {
  if (value < least || value > kMostExtent)
    fail("{}: found {}, allowed {} to {}", key, value, least, kMostExtent);
  return static_cast<std::uint32_t>(value);
}

std::vector<std::uint32_t> Node::integers(const std::string& key, std::size_t count,
                                          std::int64_t least, std::int64_t otherwise) const {
  const std::vector<std::int64_t> values =
      attribute(key, &Attribute::integers, std::vector(count, otherwise));
  if (values.size() != count)
    fail("{}: found {} numbers, allowed {}: two dimensions", key, values.size(), count);
  return mapped(values, [&](std::int64_t value) { return extent(key.c_str(), value, least); });
}

Window Node::window(const std::optional<std::pair<std::int64_t, std::int64_t>>& shape) const {
  const std::string automatic = auto_pad();
  if (!contains(std::array<std::string_view, 4>{"NOTSET", "VALID", kSameUpper, kSameLower},
                automatic))
    fail("auto_pad: found {}, allowed NOTSET, VALID, {}, {}", automatic, kSameUpper, kSameLower);
  if (automatic.starts_with("SAME") && attributes.contains("pads"))
    fail("auto_pad: found {} beside pads, allowed one of them", automatic);
  if (integer("ceil_mode", 0) != 0) fail("ceil_mode: found 1, allowed 0");
  const auto dilations = integers("dilations", 2, 1, 1);
  if (std::ranges::any_of(dilations, [](std::uint32_t d) { return d != 1; }))
    fail("dilations: found {}, {}, allowed 1", dilations[0], dilations[1]);
  std::vector<std::uint32_t> kernel = {1, 1};
  if (shape) kernel = {extent("W", shape->first, 1), extent("W", shape->second, 1)};
  if (!shape && !attributes.contains("kernel_shape")) fail("kernel_shape is missing");
  const auto said = integers("kernel_shape", 2, 1, 1);
  if (shape && attributes.contains("kernel_shape") && said != kernel)
    fail("kernel_shape: found {}x{}, but W is of {}x{}", said[0], said[1], kernel[0], kernel[1]);
  if (!shape) kernel = said;
  const auto strides = integers("strides", 2, 1, 1);
  const auto pads = integers("pads", 4, 0, 0);
  return {kernel[0], kernel[1], strides[0], strides[1], pads[0], pads[1], pads[2], pads[3]};
}

}  // namespace tessera::convnet::onnx
