#include <algorithm>

#include "kernels/convnet/layer_program.h"
#include "sim/base/errors.h"

/// The transfers of a layer.
namespace tessera::convnet {

LayerProgram::LayerProgram(const Plan& plan, std::uint32_t layer, const ArrayMemory& memory,
                           WeightSupply& supply, CoreCode& code, ArrayProgram& lists,
                           CallCosts& costs)
    : plan_(plan),
      array_(plan.array),
      number_(layer),
      shape_(shape_of(plan, layer)),
      mapping_(shape_.mapping),
      memory_(memory),
      supply_(supply),
      code_(code),
      lists_(lists),
      costs_(costs),
      items_(items_of(shape_)),
      layout_(shape_.core_layout()),
      rows_(array_.columns),
      operands_(array_.columns),
      results_(array_.columns),
      weights_(array_.rows) {
  std::ranges::copy_if(items_, std::back_inserter(ends_), &Item::ends);
  const auto count = [this](bool Item::*flag) {
    return static_cast<std::uint64_t>(std::ranges::count(items_, true, flag));
  };
  check(counts_of(shape_) ==
            ItemCounts{count(&Item::new_rows), count(&Item::new_weights), count(&Item::ends)},
        "convnet: layer {} was priced by other counts of its items", shape_.layer().name);
  if (const auto addition = plan.addition(layer)) {
    const Layer& taker = plan.network->layers[*addition];
    sum_ = {&taker, taker.inputs[0] == layer ? 0U : 1U};
  }
  for (std::uint32_t column = 0; column < array_.columns; ++column) {
    if (shape_.column(column).outputs() == 0) continue;
    columns_.push_back(column);
    make_rows(column);
    if (sum_) make_tiles(column, false);
    make_tiles(column, true);
  }
  for (std::uint32_t column = 0; column < array_.columns; ++column)
    for (std::uint32_t row = column; row < array_.rows; row += array_.columns) {
      if (!shape_.has_weights() || !shape_.has(row, 0)) continue;
      weight_rows_.push_back(row);
      make_weights(row);
    }
}

TransferId LayerProgram::transfer(TransferChain chain, std::uint32_t number, const char* what,
                                  std::vector<Stream> streams) {
  return lists_.transfer(kind_of(chain, number), shape_.layer().name + what, std::move(streams));
}

void LayerProgram::add_halo() {
  const Layer& layer = shape_.layer();
  const Held& held = plan_.placement.of(layer.inputs[0]);
  if (!layer.has_window() || held.outside) return;
  const Range blocks{0, shape_.input_blocks()};
  const Range rows{0, layer.input.height};
  std::vector<Stream> streams;
  for (const auto& [column, owner, part, at] : halo_of(shape_)) {
    const std::uint32_t first = held.slice(owner).begin;
    const Area into = memory_.halo(number_, column, shape_.column(column).halo_columns());
    streams.push_back({kHalo,
                       memory_.slice(layer.inputs[0], owner)
                           .below(layer.first_row(0))
                           .part(blocks, rows, {part.begin - first, part.end - first}),
                       {into.part(blocks, rows, {at, at + part.size()})}});
  }
  if (streams.empty()) return;
  const TransferId id = transfer(TransferChain::halo, 0, " halo", std::move(streams));
  lists_.start_all(id);
  lists_.wait_all(id);
}

void LayerProgram::make_rows(std::uint32_t column) {
  for (const Item& item : items_) {
    if (!item.new_rows) continue;
    std::vector<Stream> streams, staged;
    for (std::uint32_t operand = 0; operand < shape_.tensors(); ++operand)
      add_rows(column, operand, shape_.tile(item.row_tile),
               shape_.needed_blocks(item.group, item.part), streams, staged);
    if (!staged.empty())
      rows_[column].staged.push_back(
          transfer(TransferChain::ddr_rows, column, " rows from DDR", std::move(staged)));
    rows_[column].moves.push_back(
        transfer(TransferChain::rows, column, " rows", std::move(streams)));
  }
}

/// Adds the next tile of rows of an operand: pieces of the window's columns, from their memory
/// tile's buffers; data in DDR is first loaded into one of two slots.
void LayerProgram::add_rows(std::uint32_t column, std::uint32_t operand, const RowTile& tile,
                            Range needed, std::vector<Stream>& streams,
                            std::vector<Stream>& staged) const {
  const ColumnGeometry& geometry = shape_.column(column);
  const std::uint32_t input = shape_.layer().inputs[operand];
  const std::uint32_t first_row = shape_.layer().first_row(operand);
  const Held& held = plan_.placement.of(input);
  const Range rows{tile.input_first, tile.input_first + tile.input_count};
  const std::size_t number = rows_[column].moves.size();
  const std::uint32_t at = layout_.rows_at(number) + operand * shape_.operand_bytes(column);
  std::uint32_t halo = 0;  // halo columns so far
  for (const Piece& piece : geometry.pieces()) {
    const Range window{piece.begin, piece.begin + piece.count};
    if (piece.from == Piece::From::zeros) {
      const Walk zeros =
          rows_of(memory_.in_tile(column, 0), 0, {needed.size(), 0}, {rows.size(), 0});
      add_columns(column, tile, at, window, zeros, streams);
    } else if (!held.outside) {  // data in DDR is loaded as a whole below
      const bool own = piece.from == Piece::From::own;
      const std::uint32_t first = own ? piece.source_column - held.slice(column).begin : halo;
      const Area area = own ? memory_.slice(input, column).below(first_row)
                            : memory_.halo(number_, column, geometry.halo_columns());
      add_columns(column, tile, at, window,
                  area.part(needed, rows, {first, first + piece.count}, tile.input_step), streams);
      if (!own) halo += piece.count;
    }
  }
  const Piece inside = geometry.inside();
  if (!held.outside || inside.count == 0) return;
  const std::uint32_t slot = static_cast<std::uint32_t>(number % 2) * shape_.tensors() + operand;
  const Area between{memory_.in_tile(column, plan_.placement.beside[number_].rows +
                                                 slot * shape_.staged_row_bytes()),
                     tile.input_count, inside.count};
  const Walk all = between.part({0, needed.size()}, {0, tile.input_count}, {0, inside.count});
  add_columns(column, tile, at, {inside.begin, inside.begin + inside.count}, all, streams);
  if (tile.input_count == 0) return;
  const Range columns{inside.source_column, inside.source_column + inside.count};
  staged.push_back(
      {kLoad,
       memory_.outside(input).below(first_row).part(needed, rows, columns, tile.input_step),
       {all}});
}

/// Adds columns of the window: a stream for each remainder modulo the stride, with rows of zeros
/// around; `from` with unit 0: all are zeros.
void LayerProgram::add_columns(std::uint32_t column, const RowTile& tile, std::uint32_t at,
                               Range columns, Walk from, std::vector<Stream>& streams) const {
  const ColumnGeometry& geometry = shape_.column(column);
  const std::uint32_t stride = geometry.stride();
  const bool zeros = from.unit == 0;
  from.extents[2].before = tile.zeros_before;
  from.extents[2].after = tile.zeros_after;
  for (std::uint32_t i = 0; i < std::min(stride, columns.size()); ++i) {
    if (!geometry.is_read(columns.begin + i)) continue;
    const std::uint32_t count = ceil_div(columns.size() - i, stride);
    Walk each = from;
    if (zeros || stride > 1) each.unit = kPositionBytes;
    if (zeros) {
      each.extents[3] = {0, 0, count, 0};
    } else if (stride > 1) {
      each.place.offset += i * kPositionBytes;
      each.extents[3] = {count, stride * kPositionBytes};
    }
    Stream stream{kActivations, each, {}};
    for (std::uint32_t row = 0; row < array_.rows; ++row)
      if (shape_.works(row, column))
        stream.destinations.push_back(
            rows_of(memory_.in_core(row, column, at + geometry.place(columns.begin + i)),
                    count * kPositionBytes, {from.extents[1].count, shape_.plane_bytes(column)},
                    {tile.input_rows(), geometry.row_bytes()}));
    streams.push_back(std::move(stream));
  }
}

/// Makes the transfers of tiles of results from the cores to the memory tile, or of operands the
/// other way. Data in DDR passes through one of the column's two slots, shared by all its cores.
void LayerProgram::make_tiles(std::uint32_t column, bool results) {
  Chain& chain = results ? results_[column] : operands_[column];
  std::vector<std::size_t> made(array_.rows);  // tiles made, by core
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    std::vector<Stream> streams, staged;
    for (std::uint32_t row = 0; row < shape_.core_rows(); ++row) {
      if (!shape_.has(row, ends_[i].group)) continue;
      const auto slot = static_cast<std::uint32_t>(i % 2) * shape_.core_rows() + row;
      add_tile(column, results, row, ends_[i], made[row]++, slot, streams, staged);
    }
    if (!staged.empty())
      chain.staged.push_back(
          results ? transfer(TransferChain::ddr_results, column, " results to DDR", staged)
                  : transfer(TransferChain::ddr_operands, column, " operand from DDR", staged));
    chain.moves.push_back(results ? transfer(TransferChain::results, column, " results", streams)
                                  : transfer(TransferChain::operands, column, " operand", streams));
  }
}

/// Adds a core's part of such a tile to the streams. `number` counts the core's own tiles; `slot`
/// is the core's part of the column's two slots.
void LayerProgram::add_tile(std::uint32_t column, bool results, std::uint32_t row, const Item& item,
                            std::size_t number, std::uint32_t slot, std::vector<Stream>& streams,
                            std::vector<Stream>& staged) const {
  const ColumnGeometry& geometry = shape_.column(column);
  const std::uint32_t tensor = results ? number_ : sum_->layer->inputs[1 - sum_->operand];
  const std::uint32_t first_row = results ? 0 : sum_->layer->first_row(1 - sum_->operand);
  const Held& held = plan_.placement.of(tensor);
  const RowTile tile = shape_.tile(item.row_tile);
  const Range rows{tile.first, tile.first + tile.count}, all_rows{0, tile.count};
  const Range blocks = shape_.blocks(row, item.group), all_blocks{0, blocks.size()};
  const Range outputs{0, geometry.outputs()};
  const Range columns = results ? Range{0, geometry.sent()} : outputs;
  const auto add = [results](const char* name, const Walk& outer, const Walk& inner,
                             std::vector<Stream>& into) {
    into.push_back(results ? Stream{name, inner, {outer}} : Stream{name, outer, {inner}});
  };
  const Area in_core{memory_.in_core(row, column,
                                     results ? layout_.results_at(number)
                                             : layout_.convolved_at(number) + layout_.results),
                     mapping_.rows, geometry.result_pitch()};
  Walk outer = memory_.slice(tensor, column).below(first_row).part(blocks, rows, columns);
  if (held.outside) {
    const StagedBytes& beside = plan_.placement.beside[number_];
    const std::uint32_t slot_bytes = shape_.staged_result_bytes() / shape_.core_rows();
    const std::uint32_t at = (results ? beside.results : beside.operands) + slot * slot_bytes;
    const Area between{memory_.in_tile(column, at), tile.count, geometry.sent()};
    outer = between.part(all_blocks, all_rows, columns);
    add(results ? kStore : kLoad,
        memory_.outside(tensor).below(first_row).part(blocks, rows, held.slice(column)),
        between.part(all_blocks, all_rows, outputs), staged);
  }
  add(results ? kResults : kActivations, outer, in_core.part(all_blocks, all_rows, columns),
      streams);
}

/// Makes the transfers of pieces of a row's tiles of weights to all its cores.
void LayerProgram::make_weights(std::uint32_t row) {
  const std::uint32_t pieces = shape_.pieces();
  const Range all = supply_.pieces(number_, row);
  for (std::uint32_t number = 0; number < all.size(); ++number) {
    const Range piece = shape_.piece(number % pieces);
    const std::uint32_t at = layout_.weights_at(number / pieces) + piece.begin;
    Stream stream{kWeights, whole(supply_.place(row, all.begin + number), piece.size()), {}};
    for (std::uint32_t column = 0; column < array_.columns; ++column)
      if (shape_.works(row, column))
        stream.destinations.push_back(whole(memory_.in_core(row, column, at), piece.size()));
    weights_[row].push_back(transfer(TransferChain::weights, row, " weights", {std::move(stream)}));
  }
}

}  // namespace tessera::convnet
