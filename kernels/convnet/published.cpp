#include "kernels/convnet/plan.h"
#include "sim/base/types.h"

namespace tessera::convnet {
namespace {

constexpr std::uint32_t kActivationBytes = 8192;
constexpr std::uint32_t kPoolBytes = 16384;  ///< buffer of pools, which hold no weights
constexpr std::uint32_t kWeightBytes = 16384;

/// Columns of a layer's input that its widest column of cores reads.
std::uint32_t input_columns(const LayerShape& shape) {
  const Window& window = shape.layer().window;
  return (shape.column(0).outputs() - 1) * window.stride_width + window.width;
}

/// True if `rows` output rows and their inputs fit the buffers, with the input channels in `parts`.
bool rows_fit(const LayerShape& shape, std::uint32_t rows, std::uint32_t parts) {
  const Layer& layer = shape.layer();
  const std::uint32_t stride = layer.window.stride_height;
  const std::uint64_t inputs = padded_channels(layer.input.channels) / parts;
  if (layer.op == Operator::max_pool || layer.op == Operator::average_pool)
    return inputs * input_columns(shape) * ((rows - 1) * stride + layer.window.height) <=
           kPoolBytes;
  const auto row = [](std::uint32_t columns) { return round_up(columns, 8U); };
  const std::uint32_t input_rows = stride > 1 ? rows * stride : rows + layer.window.height - 1;
  return inputs * row(input_columns(shape)) * input_rows <= kActivationBytes &&
         std::uint64_t{padded_channels(layer.output.channels)} * row(shape.column(0).outputs()) *
                 rows <=
             kActivationBytes;
}

/// Sets the largest part of the input blocks, then of the output blocks, that divides a core's
/// share and fits the buffer of weights.
void cut_weights(LayerShape& shape) {
  Mapping& mapping = shape.mapping;
  for (mapping.parts = 1; mapping.parts <= shape.kept(); ++mapping.parts) {
    if (shape.kept() % mapping.parts != 0) continue;
    for (mapping.group = shape.most_blocks(); mapping.group > 0; --mapping.group)
      if (shape.most_blocks() % mapping.group == 0 && shape.weight_bytes() <= kWeightBytes) return;
  }
  mapping.parts = shape.kept();
  mapping.group = 1;
}

}  // namespace

std::vector<Mapping> published_mappings(LayerShape shape) {
  // Input channels are halved until a row fits; the tile of rows still has all of them.
  std::uint32_t parts = 1;
  while (shape.is_convolution() && !rows_fit(shape, 1, parts) &&
         shape.input_blocks() % (2 * parts) == 0)
    parts *= 2;
  Mapping whole;
  while (whole.rows < shape.layer().output.height && rows_fit(shape, whole.rows + 1, parts))
    ++whole.rows;
  whole.row_buffers = whole.rows < shape.layer().output.height ? 2 : 1;
  whole.weight_buffers = 1;
  whole.group = shape.is_convolution() ? shape.most_blocks()
                                       : ceil_div(shape.output_blocks(), shape.array().rows);
  std::vector<Mapping> mappings{whole};
  if (!shape.is_convolution()) {
    mappings.push_back(whole);
    mappings.back().group = 1;
    return mappings;
  }
  shape.mapping = whole;
  cut_weights(shape);
  Mapping cut = shape.mapping;
  mappings.front().pieces = cut.parts * (whole.group / cut.group);
  for (const Order order : {Order::rows, Order::weights, Order::inputs}) {
    if (order == Order::weights && cut.parts > 1) continue;
    if (order == Order::inputs && (cut.parts == 1 || !shape.steps_alike())) continue;
    cut.order = order;
    if (order == Order::inputs) cut.row_buffers = 2;
    mappings.push_back(cut);
  }
  return mappings;
}

}  // namespace tessera::convnet
