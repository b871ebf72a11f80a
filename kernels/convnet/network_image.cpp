#include "kernels/convnet/network_image.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/gemm/vector_operand.h"
#include "sim/base/errors.h"
#include "sim/data/numpy_file.h"
#include "sim/data/read_file.h"

namespace tessera::convnet {

namespace {

/// Rounds real numbers to the type.
Image rounded(const Shape& shape, const std::vector<double>& values, int exponent,
              program::Type type) {
  Image image{{shape, {}}, exponent};
  image.tensor.values.reserve(values.size());
  const auto most = static_cast<double>(largest_of(type));
  for (const double value : values) {
    const double scaled = type == program::Type::bf16 ? value : std::ldexp(value, -exponent);
    const std::int16_t nearest =
        type == program::Type::bf16
            ? reference::bits_of_bf16(static_cast<float>(value))
            : static_cast<std::int16_t>(std::clamp(std::nearbyint(scaled), -most - 1, most));
    image.tensor.values.push_back(nearest);
    image.rounded += number_of(type, nearest) != scaled ? 1 : 0;
  }
  return image;
}

Image of_bytes(const Shape& shape, std::vector<double> bytes, std::optional<int> fixed_exponent,
               program::Type type) {
  for (double& byte : bytes) byte = (byte - 128) / 128;
  return rounded(shape, bytes, fixed_exponent.value_or(image_exponent(type)), type);
}

Image of_array(const std::string& file, const Shape& shape, std::optional<int> fixed_exponent,
               const std::string& key, program::Type type) {
  const data::NumpyArray array = data::read_numpy(file);
  if (array.shape != std::vector<std::uint64_t>{shape.height, shape.width, shape.channels})
    throw KeyError(key, "found {} of shape {}, allowed {}", file, fmt::join(array.shape, "x"),
                   text_of(shape));
  if (array.dtype == "|u1") return of_bytes(shape, array.values, fixed_exponent, type);
  const std::string own = type == program::Type::i8 ? "|i1" : "<i2";
  if (type != program::Type::bf16 && array.dtype == own) {
    Image image{{shape, {}}, fixed_exponent.value_or(image_exponent(type))};
    for (const double q : array.values) image.tensor.values.push_back(static_cast<std::int16_t>(q));
    return image;
  }
  if (array.dtype != "<f4")
    throw KeyError(key, "found {} of type {}, allowed |u1, {}<f4", file, array.dtype,
                   type == program::Type::bf16 ? "" : own + ", ");
  data::require_finite(array, program::Type::f32, file);
  double largest = 0;
  for (const double value : array.values) largest = std::max(largest, std::abs(value));
  Image image =
      rounded(shape, array.values, fixed_exponent.value_or(smallest_exponent(largest, type)), type);
  if (type == program::Type::bf16 && !reference::are_finite(image.tensor.values))
    throw KeyError(key, "found {} with a value of {:g}, allowed at most {:g} with dtype bf16", file,
                   largest, gemm::kLargestBf16);
  return image;
}

}  // namespace

Image load_image(const std::string& file, const Shape& shape, std::optional<int> fixed_exponent,
                 const std::string& key, program::Type type) {
  const std::string ending = std::filesystem::path(file).extension();
  if (ending == ".npy") return of_array(file, shape, fixed_exponent, key, type);
  const bool png = ending == ".png";
  if (!png && ending != ".jpg" && ending != ".jpeg")
    throw KeyError(key, "found {}, allowed .npy, .png, .jpg, .jpeg files", file);
  if (shape.channels != 1 && shape.channels != 3)
    throw KeyError(
        key,
        "found {} for an input of {}, allowed .npy files, since it has neither 1 nor 3 channels",
        file, text_of(shape));
  const auto decode = png ? decode_png : decode_jpeg;
  const Pixels pixels = decode(data::read_file(file), shape.channels, file);
  if (pixels.shape != shape)
    throw KeyError(key, "found {} of {}, allowed {}", file, text_of(pixels.shape), text_of(shape));
  return of_bytes(shape, {pixels.values.begin(), pixels.values.end()}, fixed_exponent, type);
}

Image network_image(const Network& network, const std::string& file, std::uint64_t seed,
                    const std::string& key) {
  const Layer& input = network.layers.front();
  if (!file.empty()) return load_image(file, input.output, input.fixed_exponent, key, input.type);
  Image image = seeded_image(input.output, seed, input.type);
  image.exponent = input.fixed_exponent.value_or(image.exponent);
  return image;
}

}  // namespace tessera::convnet
