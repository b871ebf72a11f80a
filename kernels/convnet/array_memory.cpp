#include "kernels/convnet/array_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tessera::convnet {
namespace {

// Bytes of a tensor in DDR, [plane][row][column][8].
std::uint64_t bytes_of(const Shape& shape, const VectorType& type) {
  return std::uint64_t{padded_channels(shape.channels)} * type.bytes * shape.height * shape.width;
}
/// Calls use(index in DDR, index in [row][column][channel]) for all elements of a tensor.
template <class Use>
void for_elements(const Shape& shape, const VectorType& type, const Use& use) {
  const std::uint64_t positions = std::uint64_t{shape.height} * shape.width;
  const std::uint32_t channels = type.outputs;  // channels per plane
  for (std::uint32_t channel = 0; channel < shape.channels; ++channel)
    for (std::uint64_t i = 0; i < positions; ++i)
      use((channel / channels * positions + i) * channels + channel % channels,
          i * shape.channels + channel);
}

}  // namespace

Walk Area::part(Range blocks, Range rows, Range columns, std::uint32_t step) const {
  const std::uint32_t row = width * kPositionBytes;
  const std::uint32_t block = height * row;
  const std::uint32_t first =
      blocks.begin * block + rows.begin * row + columns.begin * kPositionBytes;
  return rows_of({base.buffer, base.offset + first}, columns.size() * kPositionBytes,
                 {blocks.size(), block}, {rows.size(), step * row});
}

ArrayMemory::ArrayMemory(const Plan& plan, program::Program& program)
    : plan_(plan), program_(program) {
  const Array& array = plan.array;
  const auto add = [&program](auto&&... of) { return program.add_buffer(buffer_of(of...)); };
  for (std::uint32_t row = 0; row < array.rows; ++row)
    for (std::uint32_t column = 0; column < array.columns; ++column)
      cores_.push_back(add(array.core(row, column), plan.core_bytes, "rows, weights and results"));
  for (std::uint32_t column = 0; column < array.columns; ++column)
    tiles_.push_back(add(array.memory(column), plan.placement.bytes, "tensors and weights"));
  const Tensor& image = *plan.image;
  const VectorType& type = type_of(plan.network->layers.front());
  image_ = add(array.ddr, bytes_of(image.shape, type), "image",
               [&image, &type](std::span<std::byte> into) {
                 std::ranges::fill(into, std::byte{});
                 for_elements(image.shape, type, [&](std::uint64_t at, std::uint64_t element) {
                   std::memcpy(&into[at * type.bytes], &image.values[element], type.bytes);
                 });
               });
  if (plan.placement.ddr_bytes > 0) tensors_ = add(array.ddr, plan.placement.ddr_bytes, "tensors");
  add_result();
}

void ArrayMemory::add_result() {
  const Shape& shape = plan_.network->layers.back().output;
  const VectorType& type = type_of(plan_.network->layers.back());
  const std::uint64_t bytes = bytes_of(shape, type);
  program::Buffer buffer = buffer_of(plan_.array.ddr, bytes, "result");
  buffer.keep = true;
  result_ = program_.add_buffer(std::move(buffer));
  program::Tensor tensor{
      "Y", program::Role::result, type.type, {shape.height, shape.width, shape.channels}};
  tensor.parts = {{Place{result_}, static_cast<std::uint32_t>(bytes)}};
  tensor.runs = [shape, &type](std::size_t /*part*/, program::Runs& runs) {
    for_elements(shape, type,
                 [&](std::uint64_t at, std::uint64_t element) { runs.add(at, element); });
  };
  program_.add_tensor(std::move(tensor));
}

Area ArrayMemory::slice(std::uint32_t layer, std::uint32_t column) const {
  const Held& held = plan_.placement.of(layer);
  const View& view = plan_.placement.views[layer];
  const Area all{in_tile(column, held.address + view.first_block * held.block_bytes(column)),
                 held.height, held.pitch(column)};
  return all.below(view.first_row);
}

Area ArrayMemory::halo(std::uint32_t layer, std::uint32_t column, std::uint32_t columns) const {
  return {in_tile(column, plan_.placement.beside[layer].halo),
          plan_.network->layers[layer].input.height, columns};
}

Area ArrayMemory::outside(std::uint32_t layer) const {
  const View& view = plan_.placement.views[layer];
  const Held& held = plan_.placement.held[view.held];
  const BufferId buffer = view.held == plan_.placement.views.front().held  ? image_
                          : view.held == plan_.placement.views.back().held ? result_
                                                                           : tensors_;
  const Area all{{buffer, held.ddr + view.first_block * held.height * held.width * kPositionBytes},
                 held.height,
                 held.width};
  return all.below(view.first_row);
}

Area ArrayMemory::result() const {
  const Shape& shape = plan_.network->layers.back().output;
  return {{result_}, shape.height, shape.width};
}

}  // namespace tessera::convnet
