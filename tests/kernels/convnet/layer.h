#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/convnet/patches.h"
#include "kernels/convnet/weight_supply.h"
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
  program::Type type = program::Type::i8;

  [[nodiscard]] const VectorType& unit() const { return *gemm::vector_type(type); }
  [[nodiscard]] std::uint32_t planes() const { return inputs / 8; }
  [[nodiscard]] std::uint32_t blocks() const { return outputs / unit().outputs; }
  /// What is computed at a time.
  [[nodiscard]] std::uint32_t rounds() const { return blocks() / block_planes(unit()); }
  [[nodiscard]] std::uint32_t kept_inputs() const { return 8 * (kept == 0 ? planes() : kept); }
  /// Blocks of weights of an output block at a place of the window.
  [[nodiscard]] std::uint32_t kept_planes() const { return kept_inputs() / unit().inputs; }
  [[nodiscard]] std::uint64_t macs() const {
    return std::uint64_t{rows} * columns * outputs * kept_inputs() * height * width;
  }
  /// The largest input that is drawn.
  [[nodiscard]] int most() const { return type == program::Type::i8 ? 120 : 32000; }
  /// As the reference computes it.
  [[nodiscard]] convnet::Layer as(Operator op) const {
    convnet::Layer made;
    made.op = op;
    made.type = type;
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

/// Values of -most to most, of bf16 in 2^15.
template <class Number>
void draw(std::vector<Number>& values, std::mt19937& random, int most) {
  for (Number& value : values)
    value = static_cast<Number>(static_cast<int>(random() % static_cast<unsigned>(2 * most + 1)) -
                                most);
}
inline void draw_numbers(std::vector<std::int16_t>& values, std::mt19937& random, int most,
                         program::Type type) {
  draw(values, random, most);
  if (type != program::Type::bf16) return;
  for (std::int16_t& value : values)
    value = reference::bits_of_bf16(std::ldexp(static_cast<float>(value), -15));
}
inline Tensor drawn(const Shape& shape, std::mt19937& random, const Layer& layer) {
  Tensor tensor{shape, std::vector<std::int16_t>(shape.elements())};
  draw_numbers(tensor.values, random, layer.most(), layer.type);
  return tensor;
}

inline std::vector<std::int16_t> expected(const convnet::Layer& layer,
                                          const std::vector<const Tensor*>& inputs,
                                          const LayerWeights* weights = nullptr) {
  HostThreads threads(1);
  return forward(layer, weights, inputs, threads).values;
}

/// Where positions of a tensor lie. With stride 2 the even columns of a row come first.
struct Layout {
  const VectorType* unit;
  std::uint32_t columns;  ///< of the tensor
  std::uint32_t stride;
  std::uint32_t row_positions;
  std::uint32_t plane_positions;

  Layout(const VectorType& type, const Shape& shape, std::uint32_t step, std::uint32_t slack)
      : unit(&type),
        columns(shape.width),
        stride(step),
        row_positions(round_up(columns, step) + slack),
        plane_positions(row_positions * (shape.height + slack)) {}
  [[nodiscard]] std::uint32_t odd() const { return (columns + stride - 1) / stride; }
  [[nodiscard]] std::uint32_t row_bytes() const { return 8 * row_positions; }
  [[nodiscard]] std::uint32_t plane_bytes() const { return 8 * plane_positions; }
  [[nodiscard]] std::size_t bytes(std::uint32_t channels) const {
    return std::size_t{channels} / unit->outputs * plane_bytes();
  }
  [[nodiscard]] std::size_t byte(std::uint32_t channel, std::uint32_t row,
                                 std::uint32_t column) const {
    const std::uint32_t at = stride == 1 ? column : column % 2 * odd() + column / 2;
    return std::size_t{8} * (channel / unit->outputs * plane_positions + row * row_positions + at) +
           std::size_t{channel} % unit->outputs * unit->bytes;
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

inline std::vector<std::byte> laid_out(const Tensor& tensor, const Layout& layout) {
  std::vector<std::byte> bytes(layout.bytes(tensor.shape.channels), std::byte{99});
  for_bytes(tensor.shape, layout, [&](std::size_t i, std::size_t at) {
    std::memcpy(&bytes.at(at), &tensor.values[i], layout.unit->bytes);
  });
  return bytes;
}

/// A convolution's operands, drawn.
struct Operands {
  Layer layer;
  Tensor x;
  LayerWeights weights;

  Operands(const Layer& of, std::uint32_t seed) : layer(of) {
    weights.type = of.type;
    weights.outputs = of.outputs;
    weights.height = of.height;
    weights.width = of.width;
    weights.inputs = of.inputs;
    std::mt19937 random(seed);
    x = drawn(of.as(Operator::convolution).input, random, of);
    weights.bias.resize(of.outputs);
    draw(weights.bias, random, 10000);
    if (of.type == program::Type::bf16)
      for (std::int64_t& bias : weights.bias)
        bias = std::bit_cast<std::uint32_t>(static_cast<float>(bias) / 3);
    weights.values.resize(std::size_t{of.outputs} * of.height * of.width * of.inputs);
    draw_numbers(weights.values, random, of.type == program::Type::i8 ? 20 : 5000, of.type);
    std::vector<std::uint32_t> all(of.planes());
    std::iota(all.begin(), all.end(), 0U);
    weights.kept.assign(of.outputs / 8, all);
    prune_blocks(weights, 1 - double(of.kept_inputs()) / of.inputs);
  }
  [[nodiscard]] std::vector<std::int16_t> expected() const {
    return tile_code::expected(layer.as(Operator::convolution), {&x}, &weights);
  }
  /// The number of kept block `k` of weights of an output block.
  [[nodiscard]] std::uint32_t number(std::uint32_t block, std::uint32_t k) const {
    const VectorType& unit = layer.unit();
    const std::uint32_t each = 8 / unit.inputs;
    return weights.kept[block * unit.outputs / 8][k / each] * each + k % each;
  }
  /// Of kept blocks [first, last) of each output block, as Steps has them.
  [[nodiscard]] std::vector<std::byte> packed(std::uint32_t first, std::uint32_t last) const {
    const VectorType& unit = layer.unit();
    const std::uint32_t all = unit.inputs * unit.outputs, planes = block_planes(unit);
    std::vector<std::byte> part;
    for (std::uint32_t block = 0; block < layer.blocks(); block += planes)
      for (std::uint32_t k = first; k < last; ++k)
        for (std::uint32_t tap = 0; tap < layer.height * layer.width; ++tap)
          for (std::uint32_t i = 0; i < planes * all; ++i) {
            const std::size_t at = weights.index(
                unit.outputs * (block + i / all) + i % unit.outputs, tap / layer.width,
                tap % layer.width, unit.inputs * number(block, k) + i % all / unit.outputs);
            part.resize(part.size() + unit.bytes);
            std::memcpy(&part[part.size() - unit.bytes], &weights.values[at], unit.bytes);
          }
    part.resize(part.size() + kWeightBytesAhead);
    return part;
  }
  /// All biases, as the core has them.
  [[nodiscard]] std::vector<std::byte> biases() const {
    std::vector<std::byte> all(std::size_t{layer.blocks() + 2} * kBiasBlockBytes);
    for (std::uint32_t block = 0; block < layer.blocks(); ++block)
      write_bias(layer.unit(),
                 std::span(weights.bias).subspan(std::size_t{block} * layer.unit().outputs),
                 &all[std::size_t{block} * kBiasBlockBytes]);
    return all;
  }
};

struct Outcome {
  std::vector<std::int16_t> y = {};
  std::uint64_t cycles = 0;
  std::uint64_t prepare_cycles = 0;
  bool beside = false;                   ///< wrote outside of its outputs
  std::vector<std::int16_t> again = {};  ///< of a second call, where there is code for one
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
        in(of.unit(), input.shape, of.stride, of.slack),
        out(of.unit(), output, 1, of.slack),
        x(core.put(laid_out(input, in))),
        y(room()) {}
  /// Of outputs that are to be written.
  std::uint32_t room() {
    return core.put(std::vector<std::byte>(out.bytes(output.channels), kUntouched));
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
  /// Distances of these steps; without `numbers` of planes all. `planes_alone`: never pairs.
  Argument prepared(const Steps& steps, const std::vector<std::int32_t>& offsets,
                    const std::vector<std::uint16_t>& numbers, bool one_plane_each,
                    bool planes_alone = false) {
    const Prepare prepare{
        .steps = steps,
        .distances = core.reserve(steps.distance_bytes()),
        .numbers = numbers.empty() ? 0U : core.put(numbers),
        .tap_offsets = core.put(offsets),
        .input_plane_bytes = in.plane_bytes() * (planes_alone ? 1 : block_planes(layer.unit())),
        .one_plane_each = one_plane_each};
    prepare_cycles += core.call("prepare", prepare.arguments());
    return prepare.distances;
  }
  /// Outputs at an address; `beside`: something was written outside of them.
  [[nodiscard]] std::vector<std::int16_t> read_back(std::uint32_t address, bool& beside) const {
    std::vector<std::byte> bytes = core.get<std::byte>(address, out.bytes(output.channels));
    std::vector<std::int16_t> values(output.elements());
    for_bytes(output, out, [&](std::size_t i, std::size_t at) {
      const std::uint32_t size = out.unit->bytes;
      std::memcpy(&values[i], &bytes.at(at), size);
      if (size == 1) values[i] = static_cast<std::int16_t>((values[i] ^ 128) - 128);  // its sign
      std::fill_n(&bytes.at(at), size, kUntouched);
    });
    beside = beside || !std::ranges::all_of(bytes, [](std::byte b) { return b == kUntouched; });
    return values;
  }
  static constexpr std::byte kUntouched{55};
  std::uint64_t prepare_cycles = 0;
};

/// In so many calls over parts of the kept planes.
inline Outcome convolve(const Operands& operands, std::uint32_t parts = 1) {
  const Layer& layer = operands.layer;
  OnCore on(layer, operands.x);
  Core& core = on.core;
  const std::uint32_t y_again = on.room();
  const std::uint32_t biases = core.put(operands.biases());
  const std::uint32_t partials = core.reserve(
      patch_table(on.grid(), block_planes(layer.unit())).partial_bytes(layer.blocks()));
  Outcome outcome;
  for (std::uint32_t part = 0; part < parts; ++part) {
    const std::uint32_t first = layer.kept_planes() * part / parts;
    const std::uint32_t last = layer.kept_planes() * (part + 1) / parts;
    const Steps steps{layer.rounds(), last - first, layer.height * layer.width};
    std::vector<std::uint16_t> numbers;
    if (layer.kept != 0 || parts > 1)
      for (std::uint32_t block = 0; block < layer.blocks(); block += block_planes(layer.unit()))
        for (std::uint32_t k = first; k < last; ++k)
          numbers.push_back(static_cast<std::uint16_t>(operands.number(block, k)));
    Convolve call{.type = &layer.unit(),
                  .steps = steps,
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
    const auto again = call.again(calls.back(), call.calls(table).back(), table);
    if (!again || calls.size() > 1) continue;
    outcome.cycles_again = core.call(again->codelet, again->arguments);
    outcome.again = on.read_back(y_again, outcome.beside);
  }
  outcome.y = on.read_back(on.y, outcome.beside);
  outcome.prepare_cycles = on.prepare_cycles;
  return outcome;
}

}  // namespace tessera::convnet::tile_code
