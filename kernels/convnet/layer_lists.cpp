#include "kernels/convnet/layer_program.h"

/// The order in which the nodes of an array start a layer's transfers, wait for them and compute.
namespace tessera::convnet {

void LayerProgram::add_lists() {
  for (std::uint32_t row = 0; row < array_.rows; ++row)
    for (std::uint32_t column = 0; column < array_.columns; ++column)
      if (shape_.works(row, column)) add_core(row, column);
  add_memory_tiles();
}

void LayerProgram::add_core(std::uint32_t row, std::uint32_t column) {
  Core core{row, column, array_.core(row, column)};
  const std::vector<TransferId>& rows = rows_[column].moves;
  const std::vector<TransferId>& weights = weights_[row];
  const auto start = [&](TransferId id) { lists_.start(core.node, id); };
  if (!weights.empty()) start(weights[0]);
  start(rows[0]);
  if (sum_) start(operands_[column].moves[*next_result(row, 0)]);
  std::size_t ended = 0;  // items so far that complete results of any core
  for (const Item& item : items_) {
    const bool works = shape_.has(row, item.group);
    if (item.new_rows) {
      lists_.wait(core.node, rows[core.rows++]);
      if (mapping_.row_buffers == 2 && core.rows < rows.size()) start(rows[core.rows]);
    }
    if (item.new_weights && works && !weights.empty()) take_weights(core);
    if (works) compute(core, item);
    if (item.last_weights && works && mapping_.weight_buffers == 1 && core.pieces < weights.size())
      start(weights[core.pieces]);
    if (item.last_rows && mapping_.row_buffers == 1 && core.rows < rows.size())
      start(rows[core.rows]);
    if (!item.ends) continue;
    if (works) give_results(core, item, ended);
    ++ended;
  }
  if (core.leaving) lists_.wait(core.node, *core.leaving);
}

/// Waits for a tile of weights, piece by piece, while the next one arrives.
void LayerProgram::take_weights(Core& core) {
  const std::vector<TransferId>& weights = weights_[core.row];
  const std::size_t end = ++core.weights * shape_.pieces();
  while (core.pieces < end) {
    lists_.wait(core.node, weights[core.pieces++]);
    if (core.pieces < (mapping_.weight_buffers == 2 ? weights.size() : end))
      lists_.start(core.node, weights[core.pieces]);
  }
}

/// Adds the operand, if any, to results `number` and sends them after the previous ones.
void LayerProgram::give_results(Core& core, const Item& item, std::size_t number) {
  if (sum_) {
    const std::vector<TransferId>& operands = operands_[core.column].moves;
    lists_.wait(core.node, operands[number]);
    if (const auto next = next_result(core.row, number + 1))
      lists_.start(core.node, operands[*next]);
    add(core, item);
  }
  ++core.results;
  if (core.leaving) lists_.wait(core.node, *core.leaving);
  core.leaving = results_[core.column].moves[number];
  lists_.start(core.node, *core.leaving);
}

/// The first results from number `from` on of which a row of cores has a part.
std::optional<std::size_t> LayerProgram::next_result(std::uint32_t row, std::size_t from) const {
  for (std::size_t i = from; i < ends_.size(); ++i)
    if (shape_.has(row, ends_[i].group)) return i;
  return std::nullopt;
}

/// Adds the lists of all memory tiles, and DDR's actions for them.
void LayerProgram::add_memory_tiles() {
  std::vector<std::size_t> pieces(array_.rows);
  std::size_t rows = 0, results = 0;  // tiles of rows, and of results, waited for
  for (const std::uint32_t row : weight_rows_) send_weights(row, 0);
  for (const std::uint32_t column : columns_)
    for (const Chain* const chain : {&rows_[column], &operands_[column]}) {
      if (!chain->staged.empty()) lists_.start_all(chain->staged[0]);
      send(column, *chain, 0);
    }
  for (const Item& item : items_) {
    for (const std::uint32_t column : columns_) {
      if (!item.new_rows) break;
      lists_.wait(array_.memory(column), rows_[column].moves[rows]);
      if (mapping_.row_buffers == 2) send(column, rows_[column], rows + 1);
    }
    if (item.new_rows) ++rows;
    add_weights(item, pieces);
    for (const std::uint32_t column : columns_) {
      if (item.last_rows && mapping_.row_buffers == 1) send(column, rows_[column], rows);
      if (item.ends && sum_) {
        lists_.wait(array_.memory(column), operands_[column].moves[results]);
        send(column, operands_[column], results + 1);
      }
    }
    if (!item.ends) continue;
    // After all of these, so that DDR does not wait for a column's store before it loads another's
    // rows.
    for (const std::uint32_t column : columns_) take_results(column, results);
    ++results;
  }
  for (const std::uint32_t column : columns_) {
    take_results(column, results);
    if (!results_[column].staged.empty()) lists_.wait_all(results_[column].staged.back());
  }
}

/// Sends the next tile to the cores, if there is one, and starts loading the one after it from DDR.
void LayerProgram::send(std::uint32_t column, const Chain& chain, std::size_t number) {
  if (number >= chain.moves.size()) return;
  if (!chain.staged.empty()) lists_.wait_all(chain.staged[number]);
  lists_.start(array_.memory(column), chain.moves[number]);
  if (number + 1 < chain.staged.size()) lists_.start_all(chain.staged[number + 1]);
}

/// Sends the next piece of weights, if the layer has one, once it has arrived from DDR, and starts
/// loading the one after it, which may be the next layer's.
void LayerProgram::send_weights(std::uint32_t row, std::size_t number) {
  if (number >= weights_[row].size()) return;
  supply_.wait(row);
  lists_.start(array_.weights_memory(row), weights_[row][number]);
  supply_.ask(row, number_);
}

/// Adds the memory tiles' actions for the weights of an item; `pieces`: pieces waited for so far,
/// by row. All rows advance piece by piece.
void LayerProgram::add_weights(const Item& item, std::vector<std::size_t>& pieces) {
  std::vector<std::uint32_t> rows = weight_rows_;
  std::erase_if(rows, [&](std::uint32_t row) { return !shape_.has(row, item.group); });
  for (std::uint32_t left = item.new_weights ? shape_.pieces() : 0; left > 0; --left)
    for (const std::uint32_t row : rows) {
      lists_.wait(array_.weights_memory(row), weights_[row][pieces[row]++]);
      if (left > 1 || mapping_.weight_buffers == 2) send_weights(row, pieces[row]);
    }
  if (item.last_weights && mapping_.weight_buffers == 1)
    for (const std::uint32_t row : rows) send_weights(row, pieces[row]);
}

/// Waits for results `number` - 1, stores them if they belong to DDR, and starts receiving results
/// `number`, if there are any.
void LayerProgram::take_results(std::uint32_t column, std::size_t number) {
  const auto& [moves, staged] = results_[column];
  if (number > 0) {
    lists_.wait(array_.memory(column), moves[number - 1]);
    if (!staged.empty() && number > 1) lists_.wait_all(staged[number - 2]);
    if (!staged.empty()) lists_.start_all(staged[number - 1]);
  }
  if (number < moves.size()) lists_.start(array_.memory(column), moves[number]);
}

}  // namespace tessera::convnet
