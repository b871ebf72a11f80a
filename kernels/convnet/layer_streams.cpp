#include "kernels/convnet/layer_streams.h"

#include <algorithm>

#include "sim/base/types.h"

namespace tessera::convnet {

CoreLayout::CoreLayout(const LayerShape& shape, const Mapping& mapping)
    : mapping_(mapping),
      rows_(round_up(shape.row_bytes(mapping), kAlign)),
      weights_(shape.weight_room(mapping)),
      results_(round_up(shape.result_bytes(mapping), kAlign)),
      weights_at_(mapping.row_buffers * rows_),
      results_at_(weights_at_ + mapping.weight_buffers * weights_),
      steps_at_(results_at_ + 2 * results_),
      partials_at_(steps_at_ + round_up(shape.step_bytes(mapping), kAlign)),
      sum_steps_at_(partials_at_ + round_up(shape.partial_bytes(mapping), kAlign)),
      sums_at_(sum_steps_at_ + round_up(shape.sum_step_bytes(mapping), kAlign)) {}

namespace {

/// As many rows as a tile takes of the input, from its first.
Range input_rows(const RowTile& tile) {
  return {tile.input_first, tile.input_first + tile.input_count};
}

}  // namespace

LayerStreams::LayerStreams(const Plan& plan, std::uint32_t layer, const LayerShape& shape,
                           const std::vector<Item>& items, const ArrayMemory& memory,
                           const WeightSupply& supply, ArrayProgram& lists)
    : plan_(plan),
      layer_(layer),
      shape_(shape),
      mapping_(plan.mappings[layer]),
      items_(items),
      memory_(memory),
      supply_(supply),
      lists_(lists),
      layout_(shape, mapping_),
      rows_(plan.array.columns),
      ddr_rows_(plan.array.columns),
      weights_(plan.array.rows),
      operands_(plan.array.columns),
      ddr_operands_(plan.array.columns),
      results_(plan.array.columns),
      ddr_results_(plan.array.columns) {
  if (const auto addition = plan.addition(layer)) {
    const Layer& taker = plan.network->layers[*addition];
    sum_ = {&taker, taker.inputs[0] == layer ? 0U : 1U};
  }
  for (std::uint32_t column = 0; column < plan.array.columns; ++column) {
    if (shape.column(column).outputs() == 0) continue;
    make_rows(column);
    if (sum_) make_operands(column);
    make_results(column);
  }
  for (std::uint32_t row = 0; row < plan.array.rows; ++row)
    if (shape.has_weights() && shape.has(mapping_, row, 0)) make_weights(row);
}

void LayerStreams::make_rows(std::uint32_t column) {
  for (const Item& item : items_) {
    if (!item.new_rows) continue;
    const RowTile tile = row_tile(shape_.layer(), mapping_.rows, item.row_tile);
    const Range needed = shape_.needed_blocks(mapping_, item.group, item.part);
    const std::size_t number = rows_[column].size();
    std::vector<Stream> streams, staged;
    for (std::uint32_t operand = 0; operand < shape_.tensors(); ++operand) {
      add_staged(column, operand, tile, needed, number, staged);
      const std::uint32_t at =
          layout_.rows(number) + operand * shape_.operand_bytes(mapping_, column);
      for (const Source& source : sources(column, operand, tile, needed, number))
        add_rows(column, tile, source, at, streams);
    }
    const std::string& name = shape_.layer().name;
    if (!staged.empty())
      ddr_rows_[column].push_back(lists_.transfer(kind_of(TransferChain::ddr_rows, column),
                                                  name + " rows from DDR", std::move(staged)));
    rows_[column].push_back(
        lists_.transfer(kind_of(TransferChain::rows, column), name + " rows", std::move(streams)));
  }
}

/// Where an operand's tile of rows from DDR lies in the memory tile.
Area LayerStreams::staged_rows(std::uint32_t column, std::uint32_t operand, const RowTile& tile,
                               std::size_t number) const {
  const std::uint32_t slot = static_cast<std::uint32_t>(number % 2) * shape_.tensors() + operand;
  return {memory_.in_tile(column,
                          plan_.placement.rows[layer_] + slot * shape_.staged_row_bytes(mapping_)),
          tile.input_count, shape_.column(column).inside().count};
}

void LayerStreams::add_staged(std::uint32_t column, std::uint32_t operand, const RowTile& tile,
                              Range needed, std::size_t number,
                              std::vector<Stream>& streams) const {
  const std::uint32_t input = shape_.layer().inputs[operand];
  const Piece inside = shape_.column(column).inside();
  if (!plan_.placement.of(input).outside || inside.count == 0 || tile.input_count == 0) return;
  const Range columns{inside.source_column, inside.source_column + inside.count};
  streams.push_back({kLoad,
                     memory_.outside(input)
                         .below(shape_.layer().first_row(operand))
                         .part(needed, input_rows(tile), columns, tile.input_step),
                     {staged_rows(column, operand, tile, number)
                          .part({0, needed.size()}, {0, tile.input_count}, {0, inside.count})}});
}

/// Where the columns of a window lie for the memory tile.
std::vector<LayerStreams::Source> LayerStreams::sources(std::uint32_t column, std::uint32_t operand,
                                                        const RowTile& tile, Range needed,
                                                        std::size_t number) const {
  const ColumnGeometry& geometry = shape_.column(column);
  const std::uint32_t input = shape_.layer().inputs[operand];
  const Held& held = plan_.placement.of(input);
  const Range rows = input_rows(tile);
  std::vector<Source> sources;
  std::uint32_t halo = 0;  // columns of it so far
  const auto add = [&](const Area& area, std::uint32_t first, const Piece& piece) {
    sources.push_back(
        {area, needed, rows, tile.input_step, {first, first + piece.count}, piece.begin, 0});
  };
  for (const Piece& piece : geometry.pieces()) {
    if (piece.from == Piece::From::zeros) {
      sources.push_back(
          {memory_.slice(input, column), needed, rows, 1, {}, piece.begin, piece.count});
    } else if (held.outside) {
      continue;  // all together below
    } else if (piece.from == Piece::From::own) {
      add(memory_.slice(input, column).below(shape_.layer().first_row(operand)),
          piece.source_column - held.slice(column).begin, piece);
    } else {
      add(memory_.halo(layer_, column, geometry.halo_columns()), halo, piece);
      halo += piece.count;
    }
  }
  const Piece inside = geometry.inside();
  if (held.outside && inside.count > 0)
    sources.push_back({staged_rows(column, operand, tile, number),
                       {0, needed.size()},
                       {0, tile.input_count},
                       1,
                       {0, inside.count},
                       inside.begin,
                       0});
  return sources;
}

/// Adds the streams of a source, one for each remainder of its columns by the stride, with rows of
/// zeros around.
void LayerStreams::add_rows(std::uint32_t column, const RowTile& tile, const Source& source,
                            std::uint32_t at, std::vector<Stream>& streams) const {
  const ColumnGeometry& geometry = shape_.column(column);
  const std::uint32_t stride = geometry.stride();
  const std::uint32_t columns = source.zeros + source.columns.size();
  for (std::uint32_t i = 0; i < std::min(stride, columns); ++i) {
    if (!geometry.is_read(source.begin + i)) continue;
    const std::uint32_t count = (columns - i + stride - 1) / stride;
    Walk from = source.area.part(source.blocks, source.rows,
                                 {source.columns.begin + i, source.columns.end}, source.step);
    from.extents[2].before = tile.zeros_before;
    from.extents[2].after = tile.zeros_after;
    if (source.zeros > 0) {
      from = {memory_.in_tile(column, 0),
              kBlock,
              {{1, 0}, {source.blocks.size(), 0}, from.extents[2], {0, 0, count, 0}},
              {}};
      from.extents[2].pitch = 0;
    } else if (stride > 1) {
      from.unit = kBlock;
      from.extents[3] = {count, stride * kBlock};
    }
    const std::uint32_t first = source.begin + i;  // column of the window
    Stream stream{kActivations, from, {}};
    for (std::uint32_t row = 0; row < plan_.array.rows; ++row)
      if (shape_.works(mapping_, row, column))
        stream.destinations.push_back(
            {memory_.in_core(row, column, at + geometry.place(first)),
             count * kBlock,
             {{1, 0},
              {source.blocks.size(), shape_.plane_bytes(mapping_, column)},
              {tile.input_rows(), geometry.row_bytes()},
              {1, 0}},
             {}});
    streams.push_back(std::move(stream));
  }
}

/// A core's tile of results, or what it adds to it.
Area LayerStreams::in_core(std::uint32_t row, std::uint32_t column, std::uint32_t at) const {
  return {memory_.in_core(row, column, at), mapping_.rows, shape_.column(column).result_pitch()};
}

/// The same of a row of cores in a memory tile on its way from or to DDR, the column's `number`-th.
Area LayerStreams::staged(std::uint32_t column, std::uint32_t slots, const RowTile& tile,
                          std::uint32_t row, std::size_t number) const {
  const std::uint32_t slot = static_cast<std::uint32_t>(number % 2) * plan_.array.rows + row;
  const std::uint32_t bytes = shape_.staged_result_bytes(mapping_) / plan_.array.rows;
  return {memory_.in_tile(column, slots + slot * bytes), tile.count, shape_.column(column).sent()};
}

void LayerStreams::make_operands(std::uint32_t column) {
  const std::uint32_t operand = sum_->layer->inputs[1 - sum_->operand];
  const std::uint32_t first = sum_->layer->first_row(1 - sum_->operand);
  operands_[column].resize(items_.size());
  ddr_operands_[column].resize(items_.size());
  const Held& held = plan_.placement.of(operand);
  const Range columns{0, shape_.column(column).outputs()};
  std::vector<std::size_t> taken(plan_.array.rows);  // by each core
  std::size_t number = 0;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    if (!item.ends) continue;
    const RowTile tile = row_tile(shape_.layer(), mapping_.rows, item.row_tile);
    const Range rows{tile.first, tile.first + tile.count};
    std::vector<Stream> streams, loads;
    for (std::uint32_t row = 0; row < plan_.array.rows; ++row) {
      if (!shape_.has(mapping_, row, item.group)) continue;
      const Range blocks = shape_.blocks(mapping_, row, item.group);
      const Range all_blocks{0, blocks.size()};
      const Range all_rows{0, tile.count};
      const std::uint32_t at = layout_.convolved(taken[row]++) + layout_.sum_distance();
      Walk from = memory_.slice(operand, column).below(first).part(blocks, rows, columns);
      if (held.outside) {
        from = staged(column, plan_.placement.operands[layer_], tile, row, number)
                   .part(all_blocks, all_rows, columns);
        loads.push_back(
            {kLoad,
             memory_.outside(operand).below(first).part(blocks, rows, held.slice(column)),
             {from}});
      }
      streams.push_back(
          {kActivations, from, {in_core(row, column, at).part(all_blocks, all_rows, columns)}});
    }
    const std::string& name = shape_.layer().name;
    if (!loads.empty())
      ddr_operands_[column][i] = lists_.transfer(kind_of(TransferChain::ddr_operands, column),
                                                 name + " operand from DDR", std::move(loads));
    operands_[column][i] = lists_.transfer(kind_of(TransferChain::operands, column),
                                           name + " operand", std::move(streams));
    ++number;
  }
}

void LayerStreams::make_results(std::uint32_t column) {
  results_[column].resize(items_.size());
  ddr_results_[column].resize(items_.size());
  std::vector<std::size_t> made(plan_.array.rows);  // by each core
  std::size_t number = 0;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    if (!item.ends) continue;
    const RowTile tile = row_tile(shape_.layer(), mapping_.rows, item.row_tile);
    std::vector<Stream> streams, stores;
    for (std::uint32_t row = 0; row < plan_.array.rows; ++row)
      if (shape_.has(mapping_, row, item.group))
        add_results(column, tile, row, shape_.blocks(mapping_, row, item.group), made[row]++,
                    number, streams, stores);
    const std::string& name = shape_.layer().name;
    if (!stores.empty())
      ddr_results_[column][i] = lists_.transfer(kind_of(TransferChain::ddr_results, column),
                                                name + " results to DDR", std::move(stores));
    results_[column][i] = lists_.transfer(kind_of(TransferChain::results, column),
                                          name + " results", std::move(streams));
    ++number;
  }
}

/// A core's results, its `made`-th, to their place in the memory tile; or to the slot of the
/// column's transfer of that number, and from there to DDR.
void LayerStreams::add_results(std::uint32_t column, const RowTile& tile, std::uint32_t row,
                               Range blocks, std::size_t made, std::size_t number,
                               std::vector<Stream>& streams, std::vector<Stream>& stores) const {
  const ColumnGeometry& geometry = shape_.column(column);
  const Range all_blocks{0, blocks.size()};
  const Range all_rows{0, tile.count};
  const Range sent{0, geometry.sent()};
  const Walk from = in_core(row, column, layout_.results(made)).part(all_blocks, all_rows, sent);
  const Range rows{tile.first, tile.first + tile.count};
  const Held& held = plan_.placement.of(layer_);
  if (!held.outside) {
    streams.push_back({kResults, from, {memory_.slice(layer_, column).part(blocks, rows, sent)}});
    return;
  }
  const Area between = staged(column, plan_.placement.results[layer_], tile, row, number);
  streams.push_back({kResults, from, {between.part(all_blocks, all_rows, sent)}});
  stores.push_back({kStore,
                    between.part(all_blocks, all_rows, {0, geometry.outputs()}),
                    {memory_.outside(layer_).part(blocks, rows, held.slice(column))}});
}

/// Bytes of a row's tile of weights of that number, to all cores of the row.
void LayerStreams::add_piece(std::uint32_t row, std::uint32_t tile, Range piece) {
  const auto number = static_cast<std::uint32_t>(weights_[row].size());
  Stream stream{kWeights,
                whole(supply_.place(row, supply_.first_piece(layer_, row) + number), piece.size()),
                {}};
  for (std::uint32_t column = 0; column < plan_.array.columns; ++column)
    if (shape_.works(mapping_, row, column))
      stream.destinations.push_back(
          whole(memory_.in_core(row, column, layout_.weights(tile) + piece.begin), piece.size()));
  weights_[row].push_back(lists_.transfer(kind_of(TransferChain::weights, row),
                                          shape_.layer().name + " weights", {std::move(stream)}));
}

void LayerStreams::make_weights(std::uint32_t row) {
  const std::uint32_t pieces = shape_.pieces(mapping_);
  std::uint32_t tiles = 0;
  for (const Item& item : items_) {
    if (!item.new_weights || !shape_.has(mapping_, row, item.group)) continue;
    for (std::uint32_t number = 0; number < pieces; ++number)
      add_piece(row, tiles, shape_.piece(mapping_, number));
    ++tiles;
  }
}

}  // namespace tessera::convnet
