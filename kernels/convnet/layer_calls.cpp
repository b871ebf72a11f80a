#include <cstring>

#include "kernels/convnet/layer_program.h"

/// Calls of cores in a layer.
namespace tessera::convnet {

/// Bytes from the first input of an output position to that of each tap.
std::vector<std::uint32_t> LayerProgram::tap_offsets(std::uint32_t column) const {
  const Layer& layer = shape_.layer();
  if (layer.op == Operator::add) return {0, shape_.operand_bytes(column)};
  const ColumnGeometry& geometry = shape_.column(column);
  std::vector<std::uint32_t> offsets;
  for (std::uint32_t row = 0; row < layer.window.height; ++row)
    for (std::uint32_t place = 0; place < layer.window.width; ++place)
      offsets.push_back(row * geometry.row_bytes() + geometry.place(place));
  offsets.resize(shape_.step_taps(), offsets.back());
  return offsets;
}

/// Adds the call that writes a call's distances, unless the core has usable ones. Returns its
/// cycles.
std::uint64_t LayerProgram::add_steps(Core& core, Prepare call, std::vector<std::uint32_t> taps,
                                      std::uint32_t& prepared, std::vector<Vertex>& vertices) {
  const std::uint32_t blocks = call.steps.blocks;
  if (distances_serve(prepared, blocks, call.one_plane_each)) return 0;
  prepared = blocks;
  taps.push_back(0);  // read ahead
  call.tap_offsets = code_.constant(core.node, std::move(taps));
  vertices.push_back(code_.call(core.node, "prepare", call.arguments()));
  return costs_.of(call);
}

/// Adds a convolution's calls, after `prepare` if needed, for which this sets blocks and tap
/// offsets.
void LayerProgram::run(Core& core, const Layer& layer, Convolve call, Prepare prepare,
                       std::vector<std::uint32_t> taps, std::uint32_t& prepared) {
  if (call.shared_weights)
    call.bias = code_.constant(
        core.node,
        std::vector<std::uint32_t>(call.steps.bias_bytes(*call.type) / sizeof(std::uint32_t)));
  const Convolve given = call;
  call.join_planes();
  const PatchTable table = call.table();
  call.patches = code_.constant(core.node, table.words);
  prepare.steps.blocks = call.prepared_blocks(table);
  std::vector<Vertex> vertices;
  std::uint64_t cycles = add_steps(core, prepare, std::move(taps), prepared, vertices);
  if (!vertices.empty()) core.last.reset();
  bool goes_on = false;
  for (const Call& each : call.calls(table)) {
    const auto again = core.last ? call.again(*core.last, each, table) : std::nullopt;
    const Call& next = again ? *again : each;
    goes_on = goes_on || again;
    vertices.push_back(code_.call(core.node, next.codelet, next.arguments));
    core.last = each;
  }
  cycles += costs_.of(given, goes_on);
  lists_.call(core.node, layer.name, std::move(vertices), cycles);
}

/// Address in a core of the first input plane of an item's call.
Place LayerProgram::input_of(const Core& core, const Item& item, const Grid& grid) const {
  const std::uint32_t first = shape_.needed_blocks(item.group, item.part).begin;
  std::uint32_t plane = first;
  if (!shape_.is_convolution())
    plane = shape_.blocks(core.row, item.group).begin;
  else if (shape_.steps_alike())
    plane = item.part * shape_.kept_of_part() * block_planes(shape_.type());
  return at(core, layout_.rows_at(core.rows - 1) + (plane - first) * grid.input_plane_bytes);
}

/// Adds the calls of max_pool for a tile of rows.
void LayerProgram::pool(Core& core, const Grid& grid, const Prepare& prepare, Place input,
                        Place output) {
  std::vector<Vertex> vertices;
  const std::uint64_t prepared =
      add_steps(core, prepare, tap_offsets(core.column), core.prepared, vertices);
  const Argument table = code_.constant(core.node, pool_patch_table(grid).words);
  const PoolMax call{prepare.steps,     input, output,
                     prepare.distances, table, grid.output_plane_bytes};
  vertices.push_back(code_.call(core.node, code_name("pool_max", shape_.type()), call.arguments()));
  lists_.call(core.node, shape_.layer().name, std::move(vertices),
              prepared + costs_.of(call, grid));
}

/// Adds the calls that compute output blocks of a tile of rows with one part of their weights.
void LayerProgram::compute(Core& core, const Item& item) {
  const Layer& layer = shape_.layer();
  const VectorType& type = shape_.type();
  const bool convolution = shape_.is_convolution(), alike = shape_.steps_alike();
  const Grid grid = shape_.grid(core.column, shape_.tile(item.row_tile).count);
  const Steps steps{shape_.rounds(shape_.blocks(core.row, item.group).size()),
                    shape_.kept_of_part(), shape_.step_taps()};
  const Place input = input_of(core, item, grid);
  const Place output =
      at(core, sum_ ? layout_.convolved_at(core.results) : layout_.results_at(core.results));
  Prepare prepare{
      .steps = steps,
      .distances = at(core, layout_.steps_at()),
      .tap_offsets = 0U,
      .input_plane_bytes = grid.input_plane_bytes * (shape_.has_weights() ? block_planes(type) : 1),
      .one_plane_each = !convolution};
  if (!alike && item.new_weights) core.prepared = 0;
  if (layer.op == Operator::max_pool) return pool(core, grid, prepare, input, output);
  const std::uint32_t weights = layout_.weights_at(core.weights - 1);
  if (!alike) prepare.numbers = at(core, weights + shape_.numbers_at());
  if (item.new_weights) core.last.reset();  // its last call has preloaded the previous weights
  run(core, layer,
      {.type = &type,
       .steps = steps,
       .grid = grid,
       .input = input,
       .output = output,
       .weights = at(core, weights),
       .bias = at(core, weights + shape_.bias_at()),
       .distances = prepare.distances,
       .patches = 0U,
       .partials = at(core, layout_.partials_at()),
       .shift = layer.shift,
       .relu = layer.relu,
       .begins_with_partials = item.part > 0,
       .ends_with_partials = item.part + 1 < mapping_.parts,
       .shared_weights = !convolution,
       .same_planes = convolution && alike},
      prepare, tap_offsets(core.column), core.prepared);
}

/// Adds the calls that add the other operand to the core's results.
void LayerProgram::add(Core& core, const Item& item) {
  const Layer& layer = *sum_->layer;
  const std::vector<std::byte> factors = lone_weights(layer, sum_->operand);
  std::vector<std::uint32_t> words(factors.size() / sizeof(std::uint32_t));
  std::memcpy(words.data(), factors.data(), factors.size());
  const Steps steps{shape_.rounds(shape_.blocks(core.row, item.group).size()), 1, 2};
  const Grid grid = shape_.grid(core.column, shape_.tile(item.row_tile).count, true);
  const Place distances = at(core, layout_.sum_steps_at());
  run(core, layer,
      {.type = &type_of(layer),
       .steps = steps,
       .grid = grid,
       .input = at(core, layout_.convolved_at(core.results)),
       .output = at(core, layout_.results_at(core.results)),
       .weights = code_.constant(core.node, std::move(words)),
       .distances = distances,
       .patches = 0U,
       .shift = layer.shift,
       .relu = layer.relu,
       .shared_weights = true},
      {steps, distances, 0U, 0U, grid.input_plane_bytes * block_planes(shape_.type()), true},
      {0, layout_.results}, core.prepared_sums);
}

}  // namespace tessera::convnet
