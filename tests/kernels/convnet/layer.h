#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "kernels/convnet/patches.h"
#include "kernels/convnet/weights.h"
#include "tests/kernels/convnet/core.h"

/// Layers with their operands in plain order, as the reference has them, and their calls of the
/// tile code.
namespace tessera::convnet::tile_code {

struct Layer {
  std::uint32_t rows, columns;    ///< of the output
  std::uint32_t inputs, outputs;  ///< channels
  std::uint32_t height = 1, width = 1, stride = 1;
  std::uint32_t kept = 0;  ///< planes of 8 inputs that each block of 8 outputs has; 0: all
  std::uint32_t shift = 7;
  bool relu = false;
  std::uint32_t slack = 0;  ///< positions and rows beyond what is needed in pitches

  [[nodiscard]] std::uint32_t planes() const { return inputs / 8; }
  [[nodiscard]] std::uint32_t blocks() const { return outputs / 8; }
  [[nodiscard]] std::uint32_t kept_planes() const { return kept == 0 ? planes() : kept; }
  [[nodiscard]] std::uint64_t macs() const {
    return std::uint64_t{8} * rows * columns * outputs * kept_planes() * height * width;
  }
  /// As the reference computes it.
  [[nodiscard]] convnet::Layer as(Operator op) const {
    convnet::Layer made;
    made.op = op;
    made.input = {(rows - 1) * stride + height, (columns - 1) * stride + width, inputs};
    made.output = {rows, columns, outputs};
    made.window = {height, width, stride, stride};
    made.shift = shift;
    made.relu = relu;
    return made;
  }
};

inline std::uint32_t pick(std::mt19937& random, std::uint32_t low, std::uint32_t high) {
  return low + static_cast<std::uint32_t>(random() % (high - low + 1));
}
/// As many outputs as inputs, all of which are kept.
inline Layer random_size(std::mt19937& random) {
  Layer layer{
      .rows = pick(random, 1, 9), .columns = pick(random, 2, 17), .inputs = 8 * pick(random, 1, 6)};
  layer.outputs = layer.inputs;
  layer.height = pick(random, 1, 3);
  layer.width = pick(random, 1, 3);
  layer.stride = pick(random, 1, 2);
  layer.slack = pick(random, 0, 2);
  return layer;
}

/// Values of -most to most.
template <class Number>
void draw(std::vector<Number>& values, std::mt19937& random, int most) {
  for (Number& value : values)
    value = static_cast<Number>(static_cast<int>(random() % static_cast<unsigned>(2 * most + 1)) -
                                most);
}
inline Tensor drawn(const Shape& shape, std::mt19937& random, int most) {
  Tensor tensor{shape, std::vector<std::int8_t>(shape.elements())};
  draw(tensor.values, random, most);
  return tensor;
}

inline std::vector<std::int8_t> expected(const convnet::Layer& layer,
                                         const std::vector<const Tensor*>& inputs,
                                         const LayerWeights* weights = nullptr) {
  HostThreads threads(1);
  return forward(layer, weights, inputs, threads).values;
}

/// Where positions of a tensor lie. With stride 2 the even columns of a row come first.
struct Layout {
  std::uint32_t columns;  ///< of the tensor
  std::uint32_t stride;
  std::uint32_t row_positions;
  std::uint32_t plane_positions;

  Layout(const Shape& shape, std::uint32_t step, std::uint32_t slack)
      : columns(shape.width),
        stride(step),
        row_positions(round_up(columns, step) + slack),
        plane_positions(row_positions * (shape.height + slack)) {}
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

/// Calls use(element of the tensor, byte) of all elements.
template <class Use>
void for_bytes(const Shape& shape, const Layout& layout, const Use& use) {
  std::size_t element = 0;
  for (std::uint32_t row = 0; row < shape.height; ++row)
    for (std::uint32_t column = 0; column < shape.width; ++column)
      for (std::uint32_t c = 0; c < shape.channels; ++c)
        use(element++, layout.byte(c, row, column));
}

inline std::vector<std::int8_t> laid_out(const Tensor& tensor, const Layout& layout) {
  std::vector<std::int8_t> bytes(layout.bytes(tensor.shape.channels), 99);
  for_bytes(tensor.shape, layout,
            [&](std::size_t i, std::size_t at) { bytes.at(at) = tensor.values[i]; });
  return bytes;
}

/// A convolution's operands, drawn.
struct Operands {
  Layer layer;
  Tensor x;
  LayerWeights weights;

  Operands(const Layer& of, std::uint32_t seed) : layer(of) {
    weights.outputs = of.outputs;
    weights.height = of.height;
    weights.width = of.width;
    weights.inputs = of.inputs;
    std::mt19937 random(seed);
    x = drawn(of.as(Operator::convolution).input, random, 100);
    weights.bias.resize(of.outputs);
    draw(weights.bias, random, 10000);
    weights.values.resize(std::size_t{of.outputs} * of.height * of.width * of.inputs);
    draw(weights.values, random, 20);
    std::vector<std::uint32_t> all(of.planes());
    std::iota(all.begin(), all.end(), 0U);
    weights.kept.assign(of.blocks(), all);
    prune_blocks(weights, 1 - double(of.kept_planes()) / of.planes());
  }
  [[nodiscard]] std::vector<std::int8_t> expected() const {
    return tile_code::expected(layer.as(Operator::convolution), {&x}, &weights);
  }
  /// Of kept planes [first, last) of each block, [block][kept][tap][8 inputs][8 outputs].
  [[nodiscard]] std::vector<std::int8_t> packed(std::uint32_t first, std::uint32_t last) const {
    std::vector<std::int8_t> part;
    for (std::uint32_t block = 0; block < layer.blocks(); ++block)
      for (std::uint32_t k = first; k < last; ++k)
        for (std::uint32_t tap = 0; tap < layer.height * layer.width; ++tap)
          for (std::uint32_t i = 0; i < 64; ++i)
            part.push_back(weights.values[weights.index(8 * block + i % 8, tap / layer.width,
                                                        tap % layer.width,
                                                        8 * weights.kept[block][k] + i / 8)]);
    part.resize(part.size() + kWeightBytesAhead);
    return part;
  }
};

struct Outcome {
  std::vector<std::int8_t> y = {};
  std::uint64_t cycles = 0;
  std::uint64_t prepare_cycles = 0;
  bool beside = false;                  ///< wrote outside of its outputs
  std::vector<std::int8_t> again = {};  ///< of a second call, where there is code for one
  std::uint64_t cycles_again = 0;
};

/// A layer's tensors on a core, and its calls.
struct OnCore {
  Layer layer;
  Shape output;
  Layout in, out;
  Core core = {};
  std::uint32_t x, y;

  OnCore(const Layer& of, const Tensor& input)
      : layer(of),
        output{of.rows, of.columns, of.outputs},
        in(input.shape, of.stride, of.slack),
        out(output, 1, of.slack),
        x(core.put(laid_out(input, in))),
        y(room()) {}
  /// Of outputs that are to be written.
  std::uint32_t room() {
    return core.put(std::vector<std::int8_t>(out.bytes(output.channels), 55));
  }
  [[nodiscard]] Grid grid() const {
    return {layer.rows,       layer.columns,    layer.stride * in.row_bytes(), out.row_bytes(), 1,
            in.plane_bytes(), out.plane_bytes()};
  }
  /// Bytes from the first input of an output position to that of each tap.
  [[nodiscard]] std::vector<std::int32_t> tap_offsets() const {
    std::vector<std::int32_t> offsets;
    for (std::uint32_t tap = 0; tap < layer.height * layer.width; ++tap)
      offsets.push_back(
          static_cast<std::int32_t>(in.byte(0, tap / layer.width, tap % layer.width)));
    return offsets;
  }
  /// Distances of these steps; without `numbers` of planes all.
  Argument prepared(const Steps& steps, const std::vector<std::int32_t>& offsets,
                    const std::vector<std::uint16_t>& numbers, bool one_plane_each) {
    const Prepare prepare{.steps = steps,
                          .distances = core.reserve(steps.distance_bytes()),
                          .numbers = numbers.empty() ? 0U : core.put(numbers),
                          .tap_offsets = core.put(offsets),
                          .input_plane_bytes = in.plane_bytes(),
                          .one_plane_each = one_plane_each};
    prepare_cycles += core.call("prepare", prepare.arguments());
    return prepare.distances;
  }
  /// Outputs at an address; `beside`: something was written outside of them.
  [[nodiscard]] std::vector<std::int8_t> read_back(std::uint32_t address, bool& beside) const {
    std::vector<std::int8_t> bytes = core.get<std::int8_t>(address, out.bytes(output.channels));
    std::vector<std::int8_t> values(output.elements());
    for_bytes(output, out,
              [&](std::size_t i, std::size_t at) { values[i] = std::exchange(bytes.at(at), 55); });
    beside = beside || !std::ranges::all_of(bytes, [](std::int8_t byte) { return byte == 55; });
    return values;
  }
  std::uint64_t prepare_cycles = 0;
};

/// In so many calls over parts of the kept planes.
inline Outcome convolve(const Operands& operands, std::uint32_t parts = 1) {
  const Layer& layer = operands.layer;
  OnCore on(layer, operands.x);
  Core& core = on.core;
  const std::uint32_t y_again = on.room();
  std::vector<std::int32_t> bias = operands.weights.bias;
  bias.resize(bias.size() + kBiasBytesAhead / 4);
  const std::uint32_t biases = core.put(bias);
  const std::uint32_t partials = core.reserve(patch_table(on.grid()).partial_bytes(layer.blocks()));
  Outcome outcome;
  for (std::uint32_t part = 0; part < parts; ++part) {
    const std::uint32_t first = layer.kept_planes() * part / parts;
    const std::uint32_t last = layer.kept_planes() * (part + 1) / parts;
    const Steps steps{layer.blocks(), last - first, layer.height * layer.width};
    std::vector<std::uint16_t> numbers;
    if (layer.kept != 0 || parts > 1)
      for (const std::vector<std::uint32_t>& kept : operands.weights.kept)
        numbers.insert(numbers.end(), kept.begin() + first, kept.begin() + last);
    Convolve call{.steps = steps,
                  .grid = on.grid(),
                  .input = on.x,
                  .output = on.y,
                  .weights = core.put(operands.packed(first, last)),
                  .bias = biases,
                  .distances = on.prepared(steps, on.tap_offsets(), numbers, false),
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
    call.input = core.put(laid_out(operands.x, on.in));
    call.output = y_again;
    const auto again = Convolve::again(calls.back(), call.calls(table).back(), table);
    if (!again || calls.size() > 1) continue;
    outcome.cycles_again = core.call(again->codelet, again->arguments);
    outcome.again = on.read_back(y_again, outcome.beside);
  }
  outcome.y = on.read_back(on.y, outcome.beside);
  outcome.prepare_cycles = on.prepare_cycles;
  return outcome;
}

}  // namespace tessera::convnet::tile_code
