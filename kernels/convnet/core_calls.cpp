#include "kernels/convnet/core_calls.h"

#include <cstring>

#include "kernels/codelet.h"
#include "kernels/convnet/patches.h"
#include "kernels/convnet/weight_tile.h"
#include "sim/elf/codelet.h"

namespace tessera::convnet {
using kernels::behind;

namespace {

program::Vertex call_of(std::uint32_t node, std::uint32_t codelet,
                        std::vector<Argument> arguments) {
  return {TileId{node}, codelet, program::Executor::all_workers, 0, std::move(arguments)};
}

std::vector<std::uint32_t> words_of(const std::vector<std::int8_t>& bytes) {
  std::vector<std::uint32_t> words(bytes.size() / sizeof(std::uint32_t));
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

std::vector<std::int32_t> taps_of(const LayerShape& shape, const Mapping& mapping,
                                  std::uint32_t column) {
  const Layer& layer = shape.layer();
  if (layer.op == Operator::add)
    return {0, static_cast<std::int32_t>(shape.operand_bytes(mapping, column))};
  const ColumnGeometry& geometry = shape.column(column);
  const Taps taps{layer.window.height, layer.window.width, geometry.stride(), geometry.row_bytes(),
                  geometry.remainder_bytes()};
  return layer.op == Operator::max_pool ? pool_tap_offsets(taps) : tap_offsets(taps);
}

}  // namespace

std::uint32_t CoreCalls::codelet(std::string_view name) {
  const auto found = codelets_.find(name);
  if (found != codelets_.end()) return found->second;
  return codelets_.emplace(name, program_.add_codelet(elf::embedded_codelet("convnet", name)))
      .first->second;
}

template <class Word>
program::Place CoreCalls::constant(std::uint32_t node, const std::vector<Word>& words) {
  std::vector<std::uint32_t> copy(words.begin(), words.end());
  const auto [entry, is_new] = constants_.try_emplace({node, copy});
  if (is_new) {
    program::Buffer buffer{};
    buffer.tile = TileId{node};
    buffer.bytes = round_up(copy.size() * sizeof copy[0], std::size_t{buffer.align});
    buffer.category = program::Category::arguments;
    buffer.name = "constants";
    buffer.contents = [copy = std::move(copy)](std::span<std::byte> into) {
      std::memcpy(into.data(), copy.data(), copy.size() * sizeof copy[0]);
    };
    entry->second = program_.add_buffer(std::move(buffer));
  }
  return {entry->second};
}

std::vector<program::Vertex> CoreCalls::prepare(std::uint32_t node, const LayerShape& shape,
                                                const Mapping& mapping, std::uint32_t column,
                                                const Item& item, std::uint32_t blocks,
                                                const Operands& operands) {
  const bool alike = shape.steps_alike();
  std::uint32_t& prepared = prepared_[node];
  if (alike ? prepared >= blocks : !item.new_weights) return {};
  prepared = blocks;
  std::vector<std::int32_t> taps = taps_of(shape, mapping, column);
  const auto count = static_cast<std::uint32_t>(taps.size());
  taps.push_back(0);  // read ahead
  Prepare call{{blocks, shape.kept() / mapping.parts, count},
               operands.steps,
               0U,
               constant(node, taps),
               shape.plane_bytes(mapping, column),
               !shape.is_convolution()};
  if (!alike) call.numbers = behind(operands.weights, tile_parts(shape, mapping).kept);
  return {call_of(node, codelet("prepare"), call.arguments())};
}

void CoreCalls::append(std::vector<program::Vertex>& vertices, std::uint32_t node,
                       std::vector<Convolve::Call> calls, const PatchTable& table) {
  if (!vertices.empty()) last_.erase(node);
  for (Convolve::Call& call : calls) {
    const auto before = last_.find(node);
    const std::optional<Convolve::Call> again =
        before == last_.end() ? std::nullopt : Convolve::again(before->second, call, table);
    vertices.push_back(again ? call_of(node, codelet(again->codelet), again->arguments)
                             : call_of(node, codelet(call.codelet), call.arguments));
    last_.insert_or_assign(node, std::move(call));
  }
}

void CoreCalls::compute(ArrayProgram& lists, std::uint32_t node, const LayerShape& shape,
                        const Mapping& mapping, std::uint32_t column, const Item& item,
                        Range blocks, const Operands& operands) {
  const Layer& layer = shape.layer();
  const RowTile tile = row_tile(layer, mapping.rows, item.row_tile);
  const Range needed = shape.needed_blocks(mapping, item.group, item.part);
  const ColumnGeometry& geometry = shape.column(column);
  Grid grid{tile.count, geometry.computed(), row_stride(layer) * geometry.row_bytes(),
            geometry.result_pitch() * kPositionBytes};
  const auto taps = static_cast<std::uint32_t>(taps_of(shape, mapping, column).size());
  const Steps steps{blocks.size(), shape.kept() / mapping.parts, taps};
  const std::uint32_t result_plane = mapping.rows * geometry.result_pitch() * kPositionBytes;
  const bool convolution = shape.is_convolution();
  const std::uint32_t first_plane = !convolution          ? blocks.begin - needed.begin
                                    : shape.steps_alike() ? item.part * steps.planes - needed.begin
                                                          : 0;
  const program::Place input =
      behind(operands.rows, std::uint64_t{first_plane} * shape.plane_bytes(mapping, column));
  if (layer.op == Operator::max_pool) {
    const PatchTable table = pool_patch_table(grid);
    std::vector<program::Vertex> calls =
        prepare(node, shape, mapping, column, item, blocks.size(), operands);
    const PoolMax call{
        steps, input, operands.results, operands.steps, constant(node, table.words), result_plane};
    calls.push_back(call_of(node, codelet("pool_max"), call.arguments()));
    return lists.call(node, layer.name, std::move(calls));
  }
  Convolve call{};
  call.steps = steps;
  call.input = input;
  call.output = operands.results;
  call.weights = operands.weights;
  call.bias = convolution
                  ? Argument(behind(operands.weights, tile_parts(shape, mapping).bias))
                  : Argument(constant(node, std::vector<std::uint32_t>(steps.bias_bytes() /
                                                                       sizeof(std::uint32_t))));
  call.distances = operands.steps;
  call.partials = operands.partials;
  call.output_plane_bytes = result_plane;
  call.shift = layer.shift;
  call.relu = layer.relu;
  call.begins_with_partials = item.part > 0;
  call.ends_with_partials = item.part + 1 < mapping.parts;
  call.shared_weights = !convolution;
  call.same_planes = convolution && shape.steps_alike();
  call.join_planes(grid, shape.plane_bytes(mapping, column));
  const PatchTable table = call.table(grid);
  call.patches = constant(node, table.words);
  std::vector<program::Vertex> calls =
      prepare(node, shape, mapping, column, item, call.prepared_blocks(table), operands);
  if (item.new_weights) last_.erase(node);  // it has begun to load those before
  append(calls, node, call.calls(table), table);
  lists.call(node, layer.name, std::move(calls));
}

void CoreCalls::add(ArrayProgram& lists, std::uint32_t node, const Sum& sum,
                    const LayerShape& shape, const Mapping& mapping, std::uint32_t column,
                    const Item& item, Range blocks, const Operands& operands,
                    std::uint32_t distance) {
  const std::uint32_t row_bytes = shape.column(column).result_pitch() * kPositionBytes;
  const std::uint32_t plane = mapping.rows * row_bytes;
  Convolve call{};
  call.steps = {blocks.size(), 1, 2};
  call.input = operands.rows;
  call.output = operands.results;
  call.weights = constant(node, words_of(addition_weights(*sum.layer, sum.operand)));
  call.bias =
      constant(node, std::vector<std::uint32_t>(call.steps.bias_bytes() / sizeof(std::uint32_t)));
  call.distances = operands.steps;
  call.output_plane_bytes = plane;
  call.shift = sum.layer->shift;
  call.relu = sum.layer->relu;
  call.shared_weights = true;
  Grid grid{row_tile(shape.layer(), mapping.rows, item.row_tile).count,
            shape.column(column).computed(), row_bytes, row_bytes};
  call.join_planes(grid, plane);
  const PatchTable table = call.table(grid);
  call.patches = constant(node, table.words);
  std::vector<program::Vertex> calls;
  std::uint32_t& prepared = prepared_sums_[node];
  if (prepared < call.steps.blocks) {
    prepared = call.steps.blocks;
    const Prepare prepare{call.steps, operands.steps,
                          0U,         constant(node, std::vector<std::uint32_t>{0, distance, 0}),
                          plane,      true};
    calls.push_back(call_of(node, codelet("prepare"), prepare.arguments()));
  }
  append(calls, node, call.calls(table), table);
  lists.call(node, sum.layer->name, std::move(calls));
}

}  // namespace tessera::convnet
