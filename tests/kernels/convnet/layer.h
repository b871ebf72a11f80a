#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "kernels/convnet/patches.h"
#include "tests/kernels/convnet/core.h"

/// Layers with their operands in plain order, a reference that knows nothing of planes or patches,
/// and their calls of the tile code.
namespace tessera::convnet::tile_code {

struct Layer {
  std::uint32_t rows, columns;    ///< of the output
  std::uint32_t inputs, outputs;  ///< channels
  std::uint32_t height = 1, width = 1, stride = 1;
  std::uint32_t kept = 0;  ///< planes of 8 inputs that each block of 8 outputs has; 0: all
  std::uint32_t shift = 7;
  bool relu = false;
  std::uint32_t slack = 0;  ///< positions and rows beyond what is needed in pitches

  [[nodiscard]] std::uint32_t input_rows() const { return (rows - 1) * stride + height; }
  [[nodiscard]] std::uint32_t input_columns() const { return (columns - 1) * stride + width; }
  [[nodiscard]] std::uint32_t planes() const { return inputs / 8; }
  [[nodiscard]] std::uint32_t blocks() const { return outputs / 8; }
  [[nodiscard]] std::uint32_t kept_planes() const { return kept == 0 ? planes() : kept; }
  [[nodiscard]] std::uint64_t macs() const {
    return std::uint64_t{8} * rows * columns * outputs * kept_planes() * height * width;
  }
};

/// Values by channel, row and column.
template <class T>
class Tensor {
 public:
  Tensor(std::uint32_t channels, std::uint32_t rows, std::uint32_t columns)
      : rows_(rows), columns_(columns), values_(std::size_t{channels} * rows * columns) {}
  T& at(std::uint32_t channel, std::uint32_t row, std::uint32_t column) {
    return values_.at((std::size_t{channel} * rows_ + row) * columns_ + column);
  }
  [[nodiscard]] T at(std::uint32_t channel, std::uint32_t row, std::uint32_t column) const {
    return values_.at((std::size_t{channel} * rows_ + row) * columns_ + column);
  }
  [[nodiscard]] std::uint32_t rows() const { return rows_; }
  [[nodiscard]] std::uint32_t columns() const { return columns_; }
  void fill_with(std::mt19937& random, std::uint32_t most) {
    for (T& value : values_)
      value = static_cast<T>(static_cast<int>(random() % (2 * most + 1)) - static_cast<int>(most));
  }
  bool operator==(const Tensor&) const = default;

 private:
  std::uint32_t rows_, columns_;
  std::vector<T> values_;
};

/// Where positions of a tensor lie. With stride 2 the even columns of a row come first.
struct Layout {
  std::uint32_t columns;  ///< of the tensor
  std::uint32_t stride;
  std::uint32_t row_positions;
  std::uint32_t plane_positions;

  Layout(std::uint32_t rows, std::uint32_t width, std::uint32_t step, std::uint32_t slack)
      : columns(width),
        stride(step),
        row_positions((width + step - 1) / step * step + slack),
        plane_positions(row_positions * (rows + slack)) {}
  [[nodiscard]] std::uint32_t odd() const { return (columns + stride - 1) / stride; }
  [[nodiscard]] std::uint32_t row_bytes() const { return 8 * row_positions; }
  [[nodiscard]] std::uint32_t plane_bytes() const { return 8 * plane_positions; }
  [[nodiscard]] std::size_t bytes(std::uint32_t channels) const {
    return std::size_t{channels} / 8 * plane_bytes();
  }
  [[nodiscard]] std::size_t byte(std::uint32_t channel, std::uint32_t row,
                                 std::uint32_t column) const {
    const std::uint32_t at = stride == 1 ? column : column % 2 * odd() + column / 2;
    return std::size_t{8} * (channel / 8 * plane_positions + row * row_positions + at) +
           channel % 8;
  }
};

inline Grid grid_of(const Layer& layer, const Layout& in, const Layout& out) {
  return {layer.rows,       layer.columns,    layer.stride * in.row_bytes(), out.row_bytes(), 1,
          in.plane_bytes(), out.plane_bytes()};
}

/// Bytes from the first input of an output position to that of each tap.
inline std::vector<std::int32_t> tap_offsets(const Layer& layer, const Layout& layout) {
  std::vector<std::int32_t> offsets;
  for (std::uint32_t tap = 0; tap < layer.height * layer.width; ++tap)
    offsets.push_back(
        static_cast<std::int32_t>(layout.byte(0, tap / layer.width, tap % layer.width)));
  return offsets;
}

inline std::vector<std::int8_t> laid_out(const Tensor<std::int8_t>& tensor, std::uint32_t channels,
                                         const Layout& layout) {
  std::vector<std::int8_t> bytes(layout.bytes(channels), 99);
  for (std::uint32_t c = 0; c < channels; ++c)
    for (std::uint32_t row = 0; row < tensor.rows(); ++row)
      for (std::uint32_t column = 0; column < tensor.columns(); ++column)
        bytes.at(layout.byte(c, row, column)) = tensor.at(c, row, column);
  return bytes;
}

inline std::int8_t requantise(std::int64_t sum, std::uint32_t shift, bool relu) {
  const double rounded = std::nearbyint(std::ldexp(static_cast<double>(sum), -int(shift)));
  return static_cast<std::int8_t>(std::clamp(rounded, relu ? 0.0 : -128.0, 127.0));
}

/// A layer's operands, drawn.
struct Operands {
  Layer layer;
  Tensor<std::int8_t> x;
  std::vector<std::int32_t> bias;
  std::vector<std::uint16_t> numbers;  ///< of kept planes, [block][kept]
  std::vector<std::int8_t> weights;    ///< [block][kept][tap][8 inputs][8 outputs]

  Operands(const Layer& of, std::uint32_t seed)
      : layer(of), x(of.inputs, of.input_rows(), of.input_columns()), bias(of.outputs) {
    std::mt19937 random(seed);
    x.fill_with(random, 100);
    for (std::int32_t& b : bias) b = static_cast<std::int32_t>(random() % 20001) - 10000;
    for (std::uint32_t block = 0; block < layer.blocks(); ++block) {
      std::vector<std::uint16_t> all(layer.planes());
      std::iota(all.begin(), all.end(), std::uint16_t{0});
      if (layer.kept != 0) std::shuffle(all.begin(), all.end(), random);
      std::sort(all.begin(), all.begin() + layer.kept_planes());
      numbers.insert(numbers.end(), all.begin(), all.begin() + layer.kept_planes());
    }
    weights.resize(numbers.size() * layer.height * layer.width * 64);
    for (std::int8_t& w : weights)
      w = static_cast<std::int8_t>(static_cast<int>(random() % 41) - 20);
  }

  [[nodiscard]] std::int64_t sum(std::uint32_t output, std::uint32_t row, std::uint32_t column,
                                 std::uint32_t first, std::uint32_t last) const {
    std::int64_t total = 0;
    const std::uint32_t taps = layer.height * layer.width;
    for (std::uint32_t k = first; k < last; ++k) {
      const std::uint32_t at = output / 8 * layer.kept_planes() + k;
      for (std::uint32_t tap = 0; tap < taps; ++tap)
        for (std::uint32_t i = 0; i < 8; ++i)
          total +=
              std::int64_t{x.at(8U * numbers[at] + i, row * layer.stride + tap / layer.width,
                                column * layer.stride + tap % layer.width)} *
              weights.at((std::size_t{at} * taps + tap) * 64 + std::size_t{8} * i + output % 8);
    }
    return total;
  }
  [[nodiscard]] Tensor<std::int8_t> expected() const {
    Tensor<std::int8_t> y(layer.outputs, layer.rows, layer.columns);
    for (std::uint32_t c = 0; c < layer.outputs; ++c)
      for (std::uint32_t row = 0; row < layer.rows; ++row)
        for (std::uint32_t column = 0; column < layer.columns; ++column)
          y.at(c, row, column) = requantise(sum(c, row, column, 0, layer.kept_planes()) + bias[c],
                                            layer.shift, layer.relu);
    return y;
  }
};

struct Outcome {
  Tensor<std::int8_t> y;
  std::uint64_t cycles;
  std::uint64_t prepare_cycles;
  bool beside = false;                            ///< wrote outside of its outputs
  std::optional<Tensor<std::int8_t>> again = {};  ///< of a second call, where there is code for one
  std::uint64_t cycles_again = 0;
};

inline Tensor<std::int8_t> read_back(const Core& core, std::uint32_t address, const Layer& layer,
                                     const Layout& layout, bool& beside) {
  std::vector<std::int8_t> bytes = core.get<std::int8_t>(address, layout.bytes(layer.outputs));
  Tensor<std::int8_t> y(layer.outputs, layer.rows, layer.columns);
  for (std::uint32_t c = 0; c < layer.outputs; ++c) {
    for (std::uint32_t row = 0; row < layer.rows; ++row) {
      for (std::uint32_t column = 0; column < layer.columns; ++column) {
        std::int8_t& byte = bytes.at(layout.byte(c, row, column));
        y.at(c, row, column) = byte;
        byte = 55;
      }
    }
  }
  beside = !std::all_of(bytes.begin(), bytes.end(), [](std::int8_t byte) { return byte == 55; });
  return y;
}

/// Weights of some of each block's kept planes.
inline std::vector<std::int8_t> weights_of(const Operands& operands, std::uint32_t first,
                                           std::uint32_t last) {
  const std::size_t plane = std::size_t{operands.layer.height} * operands.layer.width * 64;
  std::vector<std::int8_t> part;
  for (std::uint32_t block = 0; block < operands.layer.blocks(); ++block) {
    const auto* const from =
        operands.weights.data() + (block * operands.layer.kept_planes() + first) * plane;
    part.insert(part.end(), from, from + (last - first) * plane);
  }
  part.resize(part.size() + kWeightBytesAhead);
  return part;
}

/// In so many calls over parts of the kept planes.
inline Outcome convolve(const Operands& operands, std::uint32_t parts = 1) {
  const Layer& layer = operands.layer;
  const Layout in(layer.input_rows(), layer.input_columns(), layer.stride, layer.slack);
  const Layout out(layer.rows, layer.columns, 1, layer.slack);
  Core core;
  const std::uint32_t x = core.put(laid_out(operands.x, layer.inputs, in));
  const std::uint32_t y = core.put(std::vector<std::int8_t>(out.bytes(layer.outputs), 55));
  const std::uint32_t y_again = core.put(std::vector<std::int8_t>(out.bytes(layer.outputs), 55));
  const Grid grid = grid_of(layer, in, out);
  const std::uint32_t taps = core.put(tap_offsets(layer, in));
  std::vector<std::int32_t> bias = operands.bias;
  bias.resize(bias.size() + kBiasBytesAhead / 4);
  const std::uint32_t biases = core.put(bias);
  const std::uint32_t partials = core.reserve(patch_table(grid).partial_bytes(layer.blocks()));
  Outcome outcome{Tensor<std::int8_t>(1, 1, 1), 0, 0};
  for (std::uint32_t part = 0; part < parts; ++part) {
    const std::uint32_t first = layer.kept_planes() * part / parts;
    const std::uint32_t last = layer.kept_planes() * (part + 1) / parts;
    const Steps steps{layer.blocks(), last - first, layer.height * layer.width};
    std::vector<std::uint16_t> numbers;
    for (std::uint32_t block = 0; block < layer.blocks(); ++block)
      for (std::uint32_t k = first; k < last; ++k)
        numbers.push_back(operands.numbers[block * layer.kept_planes() + k]);
    Prepare prepare{.steps = steps,
                    .distances = core.reserve(steps.distance_bytes()),
                    .tap_offsets = taps,
                    .input_plane_bytes = in.plane_bytes()};
    if (layer.kept != 0 || parts > 1) prepare.numbers = core.put(numbers);
    outcome.prepare_cycles += core.call("prepare", prepare.arguments());
    Convolve call{.steps = steps,
                  .grid = grid,
                  .input = x,
                  .output = y,
                  .weights = core.put(weights_of(operands, first, last)),
                  .bias = biases,
                  .distances = prepare.distances,
                  .partials = partials,
                  .shift = layer.shift,
                  .relu = layer.relu,
                  .begins_with_partials = part > 0,
                  .ends_with_partials = part + 1 < parts,
                  .same_planes = layer.kept == 0};
    const PatchTable table = call.table();
    call.patches = core.put(table.words);
    const std::vector<Call> calls = call.calls(table);
    for (const Call& each : calls) outcome.cycles += core.call(each.codelet, each.arguments);
    call.input = core.put(laid_out(operands.x, layer.inputs, in));
    call.output = y_again;
    const auto again = Convolve::again(calls.back(), call.calls(table).back(), table);
    if (!again || calls.size() > 1) continue;
    outcome.cycles_again = core.call(again->codelet, again->arguments);
    outcome.again = read_back(core, y_again, layer, out, outcome.beside);
  }
  bool beside = false;
  outcome.y = read_back(core, y, layer, out, beside);
  outcome.beside = outcome.beside || beside;
  return outcome;
}

}  // namespace tessera::convnet::tile_code
