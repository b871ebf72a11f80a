#include "kernels/convnet/call_costs.h"

#include <algorithm>

#include "kernels/convnet/core_code.h"
#include "sim/base/errors.h"

namespace tessera::convnet {
namespace {

using program::Place;

Place add(program::Program& sample, std::uint64_t bytes) {
  return {sample.add_buffer(buffer_of(0, bytes, "sample"))};
}

}  // namespace

CallCosts::Tile CallCosts::tile_of(Kind kind, const Grid& grid, bool same_planes) {
  const Grid flat = flattened(grid);
  Grid planes = flat;
  planes.planes = 2;
  const bool follow = flattened(planes).planes == 1;
  return {kind, flat.rows, flat.columns, same_planes, kind.code == Code::shared && follow};
}

Grid CallCosts::grid_of(const Tile& tile) {
  const std::uint32_t row = (tile.columns + 1) * kPositionBytes;
  const std::uint32_t plane = tile.planes_follow ? tile.columns * kPositionBytes : tile.rows * row;
  return {tile.rows, tile.columns, row, row, 1, plane, plane};
}

/// Steps of distance 0 take as long as others, so samples use them.
std::uint64_t CallCosts::measured(const Tile& tile, std::uint32_t blocks, std::uint32_t steps,
                                  bool again) const {
  const auto calls_of = [&](program::Program& sample) -> std::vector<program::Vertex> {
    CoreCode code(sample);
    const auto [kind, begins, ends] = tile.kind;
    const Grid grid = grid_of(tile);
    const std::uint32_t plane = grid.output_plane_bytes;
    const std::uint64_t at_once = kind == Code::pool_max ? 1 : block_planes(*type_);
    const std::uint64_t planes = kind == Code::shared ? blocks : 1;
    const Steps all{blocks, 1, steps};
    const Place input = add(sample, planes * at_once * plane + kAlign);
    const Place output = add(sample, blocks * at_once * plane + kAlign);
    const Place distances = add(sample, all.distance_bytes());
    if (kind == Code::pool_max) {
      const Place table = code.constant(0, pool_patch_table(grid).words);
      const PoolMax call{all, input, output, distances, table, plane};
      return {code.call(0, code_name("pool_max", *type_), call.arguments())};
    }
    Convolve call{};
    call.type = type_;
    call.steps = all;
    call.grid = grid;
    call.input = input;
    call.output = output;
    call.weights = add(sample, all.weight_bytes(*type_));
    call.bias = add(sample, all.bias_bytes(*type_));
    call.distances = distances;
    call.begins_with_partials = begins;
    call.ends_with_partials = ends;
    call.shared_weights = kind == Code::shared;
    call.same_planes = tile.same_planes;
    call.join_planes();
    const PatchTable table = call.table();
    call.patches = code.constant(0, table.words);
    call.partials = add(sample, table.partial_bytes(static_cast<std::uint32_t>(blocks * at_once)));
    std::vector<Call> calls = call.calls(table);
    check(calls.size() == 1, "convnet: {} calls at once", calls.size());
    std::vector<program::Vertex> vertices{
        code.call(0, calls.front().codelet, calls.front().arguments)};
    if (!again) return vertices;
    const Call second = call.again(calls.front(), calls.front(), table).value_or(calls.front());
    vertices.push_back(code.call(0, second.codelet, second.arguments));
    return vertices;
  };
  return steps_.vertices(calls_of);
}

/// Cycles of the calls into which Convolve::calls() divides the blocks.
std::uint64_t CallCosts::compute(const Tile& tile, std::uint32_t blocks, std::uint32_t steps,
                                 bool again) {
  const std::uint32_t at_once = blocks_at_once(tile, blocks);
  const std::uint32_t rest = blocks % at_once;
  const std::uint64_t sum =
      compute_rounds(tile, at_once, again && at_once == 1, blocks / at_once, steps);
  return rest == 0 ? sum : sum + compute_rounds(tile, 1, false, rest, steps);
}

std::uint32_t CallCosts::blocks_at_once(const Tile& tile, std::uint32_t blocks) {
  const auto [table, is_new] = tables_.try_emplace({tile.rows, tile.columns});
  const std::uint32_t planes = block_planes(*type_);
  if (is_new) table->second = patch_table(grid_of(tile), planes);
  if (planes > 1) return 1;
  if (tile.kind.code == Code::shared && table->second.is_small()) return blocks;
  const std::optional<WideCode>& wide = table->second.wide;
  return tile.same_planes && wide && blocks >= wide->blocks ? wide->blocks : 1;
}

std::uint64_t CallCosts::compute_rounds(const Tile& tile, std::uint32_t at_once, bool again,
                                        std::uint32_t rounds, std::uint32_t steps) {
  FittedCost& fitted =
      computes_
          .try_emplace({tile, at_once, again}, std::vector<FittedCost::Axis>{{1, 1, 2}, {4, 4, 2}})
          .first->second;
  return fitted({rounds, steps}, [&](const FittedCost::Sizes& sizes) {
    Tile sample = tile;
    sample.same_planes = tile.same_planes && at_once > 1;
    const std::uint32_t blocks = static_cast<std::uint32_t>(sizes[0]) * at_once;
    const auto of_block = static_cast<std::uint32_t>(sizes[1]);
    const std::uint64_t once = measured(sample, blocks, of_block, false);
    return again ? measured(sample, blocks, of_block, true) - once : once;
  });
}

std::uint64_t CallCosts::of(const Prepare& given) {
  const auto* const none = std::get_if<std::uint32_t>(&given.numbers);
  const bool numbered = none == nullptr || *none != 0;
  const std::uint32_t taps = given.steps.taps;
  const std::uint64_t first = numbered ? 2 : 4;  // measured one by one below that
  FittedCost& fitted = prepares_
                           .try_emplace({taps, numbered, given.one_plane_each},
                                        std::vector<FittedCost::Axis>{{1, 1, 2}, {2, first, 4}})
                           .first->second;
  return fitted({given.steps.blocks, given.steps.planes}, [&](const FittedCost::Sizes& sizes) {
    return steps_.vertex([&](program::Program& sample) {
      const Steps all{static_cast<std::uint32_t>(sizes[0]), static_cast<std::uint32_t>(sizes[1]),
                      taps};
      Prepare call{};
      call.steps = all;
      call.distances = add(sample, all.distance_bytes());
      if (numbered) call.numbers = add(sample, (sizes[0] * sizes[1] + 2) * sizeof(std::uint16_t));
      call.tap_offsets = add(sample, (taps + 1) * sizeof(std::uint32_t));
      call.one_plane_each = given.one_plane_each;
      return CoreCode(sample).call(0, "prepare", call.arguments());
    });
  });
}

std::uint64_t CallCosts::of(const Convolve& call, bool again) {
  const Kind kind{call.shared_weights ? Code::shared : Code::convolve, call.begins_with_partials,
                  call.ends_with_partials};
  return compute(tile_of(kind, call.grid, call.same_planes), call.steps.blocks,
                 call.steps.of_block(), again);
}

std::uint64_t CallCosts::of(const PoolMax& call, const Grid& grid) {
  return compute(tile_of({Code::pool_max}, grid, false), call.steps.blocks, call.steps.of_block());
}

CallCosts::Work CallCosts::work(const LayerShape& shape, std::uint32_t column,
                                const WorkSize& size) {
  const bool same_planes = shape.is_convolution() && shape.steps_alike();
  const Tile tile = tile_of(size.kind, shape.grid(column, size.rows), same_planes);
  const std::uint32_t blocks = shape.rounds(size.blocks);
  const std::uint32_t at_once = blocks_at_once(tile, blocks);
  Work work{size};
  work.listed = at_once > 1 ? std::max(blocks % at_once, 1U) : blocks;
  const std::uint32_t steps = shape.kept_of_part() * shape.step_taps();
  work.cycles = compute(tile, blocks, steps);
  work.cycles_again =
      size.kind == Kind() && !size.adds ? compute(tile, blocks, steps, true) : work.cycles;
  if (!size.adds) return work;
  const Tile added = tile_of({Code::shared}, shape.grid(column, size.rows, true), false);
  work.listed_sums = blocks_at_once(added, blocks) > 1 ? 1 : blocks;
  work.cycles_again = work.cycles += compute(added, blocks, 2);
  return work;
}

/// A core with fewer columns or blocks than the others may take longer: tile code computes
/// leftovers at a lower rate. So the last row and column of cores are priced too.
std::uint64_t CallCosts::layer(const LayerShape& shape) {
  std::uint32_t last_row = shape.core_rows() - 1;
  while (!shape.has(last_row, 0)) --last_row;
  std::uint32_t last_column = shape.split().output - 1;
  while (shape.column(last_column).outputs() == 0) --last_column;
  const bool blocks_alike = shape.blocks(last_row, shape.groups() - 1).size() ==
                            shape.blocks(0, shape.groups() - 1).size();
  const bool columns_alike = shape.column(last_column).computed() == shape.column(0).computed();
  std::uint64_t most = core(shape, 0, 0);
  if (!blocks_alike) most = std::max(most, core(shape, last_row, 0));
  if (!columns_alike) most = std::max(most, core(shape, 0, last_column));
  return blocks_alike || columns_alike ? most : std::max(most, core(shape, last_row, last_column));
}

std::uint64_t CallCosts::core(const LayerShape& shape, std::uint32_t row, std::uint32_t column) {
  const Mapping& mapping = shape.mapping;
  std::vector<Work> known;
  std::uint64_t sum = 0;
  const Code code = shape.layer().op == Operator::max_pool ? Code::pool_max
                    : shape.is_convolution()               ? Code::convolve
                                                           : Code::shared;
  Prepare prepare{};  // of the last call; that of the addition
  prepare.steps = {0, shape.kept_of_part(), shape.step_taps()};
  prepare.numbers = shape.steps_alike() ? 0U : 1U;
  prepare.one_plane_each = !shape.is_convolution();
  Prepare of_sums{};
  of_sums.steps = {0, 1, 2};
  of_sums.one_plane_each = true;
  const auto list = [&](Prepare& last, std::uint32_t blocks) {
    last.steps.blocks = blocks;
    sum += of(last);
  };
  std::optional<WorkSize> before;
  for (const Item& item : items_of(shape)) {
    const bool last = item.part + 1 == mapping.parts;
    const WorkSize size{{code, item.part > 0, !last},
                        shape.tile(item.row_tile).count,
                        shape.blocks(row, item.group).size(),
                        mapping.adds && last};
    if (size.blocks == 0) continue;
    auto found = std::ranges::find(known, size, &Work::size);
    if (found == known.end()) found = known.insert(found, work(shape, column, size));
    const bool served =
        distances_serve(prepare.steps.blocks, found->listed, prepare.one_plane_each);
    if (shape.steps_alike() ? !served : item.new_weights) list(prepare, found->listed);
    if (found->listed_sums > 0 && !distances_serve(of_sums.steps.blocks, found->listed_sums, true))
      list(of_sums, found->listed_sums);
    const bool again = !item.new_weights && before == size;
    sum += again ? found->cycles_again : found->cycles;
    before = size;
  }
  return sum;
}

}  // namespace tessera::convnet
