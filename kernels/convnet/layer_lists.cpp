#include "kernels/convnet/layer_lists.h"

namespace tessera::convnet {

void LayerLists::core(std::uint32_t row, std::uint32_t column) {
  const std::uint32_t node = array_.core(row, column);
  const LayerStreams::Transfers& rows = streams_.rows(column);
  const LayerStreams::Transfers& weights = streams_.weights(row);
  calls_.begin(node);
  if (!weights.empty()) lists_.start(node, weights[0]);
  lists_.start(node, rows[0]);
  if (mapping_.adds) lists_.start(node, *streams_.operands(column)[*next_result(row, 0)]);
  std::size_t row_tiles = 0;     // that have been waited for
  std::size_t weight_tiles = 0;  // likewise
  std::size_t pieces = 0;        // of them
  std::size_t results = 0;       // that it has made
  std::optional<TransferId> leaving;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    const bool works = shape_.has(mapping_, row, item.group);
    if (item.new_rows) {
      lists_.wait(node, rows[row_tiles++]);
      if (mapping_.row_buffers == 2 && row_tiles < rows.size()) lists_.start(node, rows[row_tiles]);
    }
    if (item.new_weights && works && !weights.empty()) {
      ++weight_tiles;
      const std::size_t end = weight_tiles * shape_.pieces(mapping_);
      while (pieces < end) {
        lists_.wait(node, weights[pieces++]);
        if (pieces < (mapping_.weight_buffers == 2 ? weights.size() : end))
          lists_.start(node, weights[pieces]);
      }
    }
    if (works)
      compute(row, column, item, row_tiles - 1, weights.empty() ? 0 : weight_tiles - 1, results);
    if (item.last_weights && works && mapping_.weight_buffers == 1 && pieces < weights.size())
      lists_.start(node, weights[pieces]);
    if (item.last_rows && mapping_.row_buffers == 1 && row_tiles < rows.size())
      lists_.start(node, rows[row_tiles]);
    if (!item.ends || !works) continue;
    if (mapping_.adds) add(row, column, i, results);
    ++results;
    if (leaving) lists_.wait(node, *leaving);
    leaving = streams_.results(column)[i];
    lists_.start(node, *leaving);
  }
  if (leaving) lists_.wait(node, *leaving);
}

void LayerLists::compute(std::uint32_t row, std::uint32_t column, const Item& item,
                         std::size_t rows, std::size_t weights, std::size_t results) {
  const CoreLayout& layout = streams_.layout();
  const auto at = [&](std::uint32_t offset) { return memory_.in_core(row, column, offset); };
  calls_.compute(lists_, array_.core(row, column), shape_, mapping_, column, item,
                 shape_.blocks(mapping_, row, item.group),
                 {at(layout.rows(rows)), at(layout.weights(weights)),
                  at(mapping_.adds ? layout.convolved(results) : layout.results(results)),
                  at(layout.steps()), at(layout.partials())});
}

/// Adds the other operand to the results of an item, and has the next one's brought meanwhile.
void LayerLists::add(std::uint32_t row, std::uint32_t column, std::size_t item,
                     std::size_t results) {
  const std::uint32_t node = array_.core(row, column);
  const CoreLayout& layout = streams_.layout();
  const auto at = [&](std::uint32_t offset) { return memory_.in_core(row, column, offset); };
  lists_.wait(node, *streams_.operands(column)[item]);
  if (const auto next = next_result(row, item + 1))
    lists_.start(node, *streams_.operands(column)[*next]);
  calls_.add(
      lists_, node, *streams_.sum(), shape_, mapping_, column, items_[item],
      shape_.blocks(mapping_, row, items_[item].group),
      {at(layout.convolved(results)), {}, at(layout.results(results)), at(layout.sum_steps()), {}},
      layout.sum_distance());
}

/// The first item from `from` on whose results a row of cores completes.
std::optional<std::size_t> LayerLists::next_result(std::uint32_t row, std::size_t from) const {
  for (std::size_t i = from; i < items_.size(); ++i)
    if (items_[i].ends && shape_.has(mapping_, row, items_[i].group)) return i;
  return std::nullopt;
}

/// Columns of cores that have something to compute.
std::vector<std::uint32_t> LayerLists::columns() const {
  std::vector<std::uint32_t> columns;
  for (std::uint32_t column = 0; column < array_.columns; ++column)
    if (!streams_.rows(column).empty()) columns.push_back(column);
  return columns;
}

/// Rows of cores that take weights, memory tile by memory tile.
std::vector<std::uint32_t> LayerLists::weight_rows() const {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t column = 0; column < array_.columns; ++column)
    for (std::uint32_t row = column; row < array_.rows; row += array_.columns)
      if (!streams_.weights(row).empty()) rows.push_back(row);
  return rows;
}

void LayerLists::memory_tiles() {
  std::vector<Column> states(array_.columns);
  std::vector<std::size_t> pieces(array_.rows);
  for (const std::uint32_t row : weight_rows()) send_weights(row, 0);
  for (const std::uint32_t column : columns()) {
    const LayerStreams::Transfers& staged = streams_.ddr_rows(column);
    if (!staged.empty()) lists_.start_all(staged[0]);
    send_rows(column, 0);
    if (!mapping_.adds) continue;
    if (const auto& first = streams_.ddr_operands(column)[*next_result(0, 0)])
      lists_.start_all(*first);
    send_operand(column, 0);
  }
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    for (const std::uint32_t column : columns()) {
      if (!item.new_rows) break;
      lists_.wait(array_.memory(column), streams_.rows(column)[states[column].rows++]);
      if (mapping_.row_buffers == 2) send_rows(column, states[column].rows);
    }
    weights_of(item, pieces);
    for (const std::uint32_t column : columns()) {
      if (item.last_rows && mapping_.row_buffers == 1) send_rows(column, states[column].rows);
      if (item.ends && mapping_.adds) {
        lists_.wait(array_.memory(column), *streams_.operands(column)[i]);
        send_operand(column, i + 1);
      }
    }
    // Behind all of these, so that DDR waits for no column's store before it loads another's rows.
    for (const std::uint32_t column : columns())
      if (item.ends) take_results(column, states[column], i);
  }
  for (const std::uint32_t column : columns()) {
    take_results(column, states[column], items_.size());
    if (states[column].storing) lists_.wait_all(*states[column].storing);
  }
}

/// Sends the next tile of rows, if there is one, and has the one behind it brought from DDR.
void LayerLists::send_rows(std::uint32_t column, std::size_t number) {
  const LayerStreams::Transfers& rows = streams_.rows(column);
  if (number >= rows.size()) return;
  const LayerStreams::Transfers& staged = streams_.ddr_rows(column);
  if (!staged.empty()) lists_.wait_all(staged[number]);
  lists_.start(array_.memory(column), rows[number]);
  if (number + 1 < staged.size()) lists_.start_all(staged[number + 1]);
}

/// Sends what is added to the next results from item `from` on, as send_rows does.
void LayerLists::send_operand(std::uint32_t column, std::size_t from) {
  const std::optional<std::size_t> item = next_result(0, from);
  if (!item) return;
  const LayerStreams::ItemTransfers& staged = streams_.ddr_operands(column);
  if (staged[*item]) lists_.wait_all(*staged[*item]);
  lists_.start(array_.memory(column), *streams_.operands(column)[*item]);
  const std::optional<std::size_t> next = next_result(0, *item + 1);
  if (next && staged[*next]) lists_.start_all(*staged[*next]);
}

/// Sends the next piece of weights, if the layer has one, when it has come from DDR, and asks for
/// the one behind it, which may be the next layer's.
void LayerLists::send_weights(std::uint32_t row, std::size_t number) {
  const LayerStreams::Transfers& weights = streams_.weights(row);
  if (number >= weights.size()) return;
  supply_.wait(row);
  lists_.start(array_.weights_memory(row), weights[number]);
  supply_.ask(row, streams_.layer());
}

/// What memory tiles do for the weights of an item; `pieces`, by row, have been waited for. All
/// rows go on piece by piece.
void LayerLists::weights_of(const Item& item, std::vector<std::size_t>& pieces) {
  for (std::uint32_t left = item.new_weights ? shape_.pieces(mapping_) : 0; left > 0; --left)
    for (const std::uint32_t row : weight_rows()) {
      if (!shape_.has(mapping_, row, item.group)) continue;
      lists_.wait(array_.weights_memory(row), streams_.weights(row)[pieces[row]++]);
      if (left > 1 || mapping_.weight_buffers == 2) send_weights(row, pieces[row]);
    }
  if (!item.last_weights || mapping_.weight_buffers == 2) return;
  for (const std::uint32_t row : weight_rows())
    if (shape_.has(mapping_, row, item.group)) send_weights(row, pieces[row]);
}

/// Waits for the results before those of an item, stores them where they belong in DDR, and takes
/// the item's.
void LayerLists::take_results(std::uint32_t column, Column& state, std::size_t item) {
  const std::uint32_t node = array_.memory(column);
  if (state.results) {
    lists_.wait(node, *state.results);
    if (const std::optional<TransferId> store = streams_.ddr_results(column)[state.item]) {
      if (state.storing) lists_.wait_all(*state.storing);
      state.storing = store;
      lists_.start_all(*store);
    }
    state.results.reset();
  }
  if (item == items_.size()) return;
  state.item = item;
  state.results = streams_.results(column)[item];
  lists_.start(node, *state.results);
}

}  // namespace tessera::convnet
