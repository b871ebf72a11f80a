#include "kernels/convnet/program.h"

#include <algorithm>
#include <optional>

#include "kernels/convnet/array_program.h"
#include "kernels/convnet/core_calls.h"
#include "kernels/convnet/weight_tile.h"
#include "sim/base/errors.h"

namespace tessera::convnet {
namespace {

using program::BufferId;
using program::Place;
using program::StreamExtent;
using program::Walk;

/// Kinds of transfers, each with numbers for its columns or rows of the array.
enum class Chain : std::uint8_t {
  load,
  store,
  halo,
  rows,
  results,
  weights,
  ddr_weights,
  ddr_rows,
  ddr_results
};

/// The buffers of a program.
struct Memory {
  std::vector<BufferId> cores, tiles;
  BufferId image, weights, result;
  BufferId tensors;  ///< of other layers, where DDR has some
};

/// `count` bytes side by side at a place.
Walk whole(Place place, std::uint32_t bytes) { return {place, bytes, {}, {}}; }

class Builder {
 public:
  Builder(const Plan& plan, program::Program& program)
      : plan_(plan), array_(plan.array), program_(program), lists_(program), calls_(program) {
    chains_.resize(array_.rows);
    for (std::uint32_t row = 0; row < array_.rows; ++row) chains_[row].weights = row;
    make_buffers();
  }

  void build() {
    plan_weights();
    for (std::uint32_t row = 0; row < array_.rows; ++row) start_ddr(row);
    load_image();
    for (std::uint32_t layer = 0; layer < network().layers.size(); ++layer)
      if (is_computed(network().layers[layer])) add_layer(layer);
    store_result();
    lists_.finish();
  }

 private:
  /// Tiles of weights of a row of cores over all layers, DDR to memory tile to cores.
  struct WeightChain {
    std::uint32_t weights;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> tiles;  ///< offset in DDR, bytes
    std::uint32_t asked = 0;                                     ///< of DDR so far
    std::uint32_t brought = 0;                                   ///< that have been waited for
    std::optional<TransferId> coming = {};
  };

  [[nodiscard]] const Network& network() const { return *plan_.network; }
  [[nodiscard]] static std::uint32_t kind(Chain chain, std::uint32_t number) {
    return static_cast<std::uint32_t>(chain) << 16U | number;
  }

  void make_buffers();
  void plan_weights();
  void start_ddr(std::uint32_t row);
  void wait_ddr(std::uint32_t row);
  void load_image();
  void store_result();
  void add_layer(std::uint32_t number);
  void add_halo(std::uint32_t number, const LayerShape& shape);
  void everywhere(const std::string& name);
  void start_all(TransferId id);
  void wait_all(TransferId id);
  void do_transfer(TransferId id);
  [[nodiscard]] BufferId ddr_buffer(std::uint32_t layer) const;

  const Plan& plan_;
  const Array& array_;
  program::Program& program_;
  ArrayProgram lists_;
  CoreCalls calls_;
  Memory memory_{};
  std::vector<WeightChain> chains_;                ///< by row of cores
  std::vector<std::vector<std::uint32_t>> bases_;  ///< by layer and row: its first tile in chains_

  friend class LayerBuilder;
};

void Builder::make_buffers() {
  const auto add = [&](std::uint32_t node, std::uint64_t bytes, std::string_view name) {
    program::Buffer buffer{};
    buffer.tile = TileId{node};
    buffer.bytes = bytes;
    buffer.align = kAlign;
    buffer.name = name;
    return buffer;
  };
  for (std::uint32_t row = 0; row < array_.rows; ++row)
    for (std::uint32_t column = 0; column < array_.columns; ++column)
      memory_.cores.push_back(program_.add_buffer(
          add(array_.core(row, column), plan_.core_bytes, "rows, weights and results")));
  for (std::uint32_t column = 0; column < array_.columns; ++column)
    memory_.tiles.push_back(program_.add_buffer(
        add(array_.memory(column), plan_.placement.bytes, "tensors and weights")));
  const Tensor& image = *plan_.image;
  program::Buffer input = add(
      array_.ddr,
      std::uint64_t{padded_channels(image.shape.channels)} * image.shape.height * image.shape.width,
      "image");
  input.contents = [&image](std::span<std::byte> into) { write_blocked(image, into); };
  memory_.image = program_.add_buffer(std::move(input));
  const Shape& shape = network().layers.back().output;
  program::Buffer output =
      add(array_.ddr, std::uint64_t{padded_channels(shape.channels)} * shape.height * shape.width,
          "result");
  output.keep = true;
  const auto bytes = static_cast<std::uint32_t>(output.bytes);
  memory_.result = program_.add_buffer(std::move(output));
  program::Tensor tensor{
      "Y", program::Role::result, program::Type::i8, {shape.height, shape.width, shape.channels}};
  tensor.parts = {{Place{memory_.result}, bytes}};
  tensor.runs = [shape](std::size_t /*part*/, program::Runs& runs) {
    for (std::uint32_t channel = 0; channel < shape.channels; ++channel)
      for (std::uint64_t i = 0; i < std::uint64_t{shape.height} * shape.width; ++i)
        runs.add((channel / kBlock * std::uint64_t{shape.height} * shape.width + i) * kBlock +
                     channel % kBlock,
                 i * shape.channels + channel);
  };
  program_.add_tensor(std::move(tensor));
  if (plan_.placement.ddr_bytes > 0)
    memory_.tensors = program_.add_buffer(add(array_.ddr, plan_.placement.ddr_bytes, "tensors"));
}

/// The buffer of a tensor in DDR.
BufferId Builder::ddr_buffer(std::uint32_t layer) const {
  return plan_.placement.views[layer].held == plan_.placement.views[0].held ? memory_.image
                                                                            : memory_.tensors;
}

/// Lays out the weights in DDR, tile after tile in the order in which cores take them.
void Builder::plan_weights() {
  struct Part {
    std::uint32_t layer, row, first_tile;
    std::uint32_t offset;
  };
  std::uint32_t bytes = 0;
  auto contents = std::make_shared<std::vector<WeightTile>>();
  bases_.resize(network().layers.size());
  for (std::uint32_t layer = 0; layer < network().layers.size(); ++layer) {
    if (!is_computed(network().layers[layer])) continue;
    const LayerShape shape = shape_of(plan_, layer);
    if (!shape.has_weights()) continue;
    const Mapping& mapping = plan_.mappings[layer];
    const std::uint32_t each = shape.weight_bytes(mapping);
    for (std::uint32_t row = 0; row < array_.rows; ++row) {
      bases_[layer].push_back(static_cast<std::uint32_t>(chains_[row].tiles.size()));
      const std::uint32_t first = bytes;
      const std::uint32_t groups = shape.is_convolution() ? shape.groups(mapping) : 1;
      for (std::uint32_t i = 0; i < groups * mapping.parts; ++i) {
        const Range blocks = shape.blocks(mapping, row, i / mapping.parts);
        if (blocks.size() == 0) break;
        contents->push_back({layer, blocks.begin, blocks.end, i % mapping.parts, bytes, each});
        bytes += each;
      }
      for (const Item& item : items_of(shape, mapping))
        if (item.new_weights && shape.has(mapping, row, item.group))
          chains_[row].tiles.emplace_back(first + (item.group * mapping.parts + item.part) * each,
                                          each);
    }
  }
  program::Buffer buffer{};
  buffer.tile = TileId{array_.ddr};
  buffer.bytes = bytes;
  buffer.align = kAlign;
  buffer.name = "weights";
  buffer.contents = [&plan = plan_, contents](std::span<std::byte> into) {
    for (const WeightTile& tile : *contents)
      write_tile(plan, tile, into.subspan(tile.offset, tile.bytes));
  };
  memory_.weights = program_.add_buffer(std::move(buffer));
}

/// Begins to bring the row's next tile of weights to its memory tile, which has room for two.
void Builder::start_ddr(std::uint32_t row) {
  WeightChain& chain = chains_[row];
  if (chain.asked == chain.tiles.size()) return;
  const auto [offset, bytes] = chain.tiles[chain.asked];
  const std::uint32_t node = array_.weights_memory(row);
  const std::uint32_t slot = row / array_.columns * 2 + chain.asked % 2;
  chain.coming = lists_.transfer(
      kind(Chain::ddr_weights, row), "weights from DDR",
      {{kLoadWeights,
        whole({memory_.weights, offset}, bytes),
        {whole({memory_.tiles[node - array_.first_memory], slot * plan_.ring_bytes}, bytes)}}});
  lists_.start(array_.ddr, *chain.coming);
  lists_.start(node, *chain.coming);
  ++chain.asked;
}

void Builder::wait_ddr(std::uint32_t row) {
  WeightChain& chain = chains_[row];
  lists_.wait(array_.weights_memory(row), *chain.coming);
  lists_.wait(array_.ddr, *chain.coming);
  chain.coming.reset();
  ++chain.brought;
}

/// On all its nodes at once.
void Builder::start_all(TransferId id) {
  for (const std::uint32_t node : lists_.nodes_of(id)) lists_.start(node, id);
}

void Builder::wait_all(TransferId id) {
  for (const std::uint32_t node : lists_.nodes_of(id)) lists_.wait(node, id);
}

void Builder::do_transfer(TransferId id) {
  start_all(id);
  wait_all(id);
}

/// Slices of a tensor that lies whole in DDR, to or from its memory tiles.
Stream slice_stream(const char* name, BufferId outside, BufferId tile, const Held& held,
                    std::uint32_t first_block, std::uint32_t blocks, std::uint32_t column,
                    bool to_ddr) {
  const Range slice = held.slice(column);
  const std::uint32_t row = held.width * kBlock;
  Walk ddr{{outside, slice.begin * kBlock},
           slice.size() * kBlock,
           {{1, 0}, {1, 0}, {blocks, held.height * row}, {held.height, row}},
           {}};
  const Walk held_walk = whole({tile, held.address + first_block * held.block_bytes(column)},
                               blocks * held.block_bytes(column));
  if (to_ddr) return {name, held_walk, {ddr}};
  return {name, ddr, {held_walk}};
}

void Builder::load_image() {
  const Held& held = plan_.placement.of(0);
  everywhere("load");
  if (held.outside) return;
  std::vector<TransferId> all;
  for (std::uint32_t column = 0; column < array_.columns; ++column) {
    if (held.slice(column).size() == 0) continue;
    all.push_back(lists_.transfer(kind(Chain::load, column), "image",
                                  {slice_stream(kLoad, memory_.image, memory_.tiles[column], held,
                                                0, held.blocks, column, false)}));
    start_all(all.back());
  }
  for (const TransferId id : all) wait_all(id);
}

void Builder::store_result() {
  const auto last = static_cast<std::uint32_t>(network().layers.size() - 1);
  const Held& held = plan_.placement.of(last);
  everywhere("store");
  for (std::uint32_t column = 0; column < array_.columns; ++column)
    if (held.slice(column).size() > 0)
      do_transfer(lists_.transfer(
          kind(Chain::store, column), "result",
          {slice_stream(kStore, memory_.result, memory_.tiles[column], held,
                        plan_.placement.views[last].first_block,
                        padded_channels(network().layers.back().output.channels) / kBlock, column,
                        true)}));
}

void Builder::everywhere(const std::string& name) {
  for (std::uint32_t node = 0; node < array_.nodes(); ++node) lists_.mark(node, name);
}

/// What a memory tile has under way for its column of cores.
struct ColumnState {
  std::size_t rows = 0;  ///< tiles that have been waited for
  std::size_t item = 0;  ///< of the results
  std::optional<TransferId> results, storing;
};

/// What the nodes do in one layer.
class LayerBuilder {
 public:
  LayerBuilder(Builder& builder, std::uint32_t number, const LayerShape& shape)
      : b_(builder),
        lists_(builder.lists_),
        number_(number),
        shape_(shape),
        mapping_(builder.plan_.mappings[number]),
        items_(items_of(shape, mapping_)),
        name_(shape.layer().name) {
    const auto aligned = [](std::uint32_t bytes) { return round_up(bytes, kAlign); };
    rows_at_ = 0;
    weights_at_ = rows_at_ + mapping_.row_buffers * aligned(shape.row_bytes(mapping_));
    results_at_ = weights_at_ + mapping_.weight_buffers * shape.weight_room(mapping_);
    steps_at_ = results_at_ + 2 * aligned(shape.result_bytes(mapping_));
    partials_at_ = steps_at_ + aligned(shape.step_bytes(mapping_));
  }

  void build() {
    const Array& array = b_.array_;
    rows_.resize(array.columns);
    results_.resize(array.columns);
    weights_.resize(array.rows);
    ddr_rows_.resize(array.columns);
    ddr_results_.resize(array.columns);
    for (std::uint32_t column = 0; column < array.columns; ++column) make_rows(column);
    for (std::uint32_t column = 0; column < array.columns; ++column) make_results(column);
    for (std::uint32_t row = 0; row < array.rows; ++row) make_weights(row);
    for (std::uint32_t row = 0; row < array.rows; ++row)
      for (std::uint32_t column = 0; column < array.columns; ++column)
        if (shape_.works(mapping_, row, column)) core(row, column);
    memories();
  }

 private:
  [[nodiscard]] bool has(std::uint32_t row, std::uint32_t group) const {
    return shape_.has(mapping_, row, group);
  }
  [[nodiscard]] bool column_works(std::uint32_t column) const {
    return shape_.column(column).outputs() > 0;
  }
  /// Rows of cores that a memory tile has the weights of.
  [[nodiscard]] std::vector<std::uint32_t> rows_of(std::uint32_t column) const {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = column; row < b_.array_.rows; row += b_.array_.columns)
      if (has(row, 0) && shape_.has_weights()) rows.push_back(row);
    return rows;
  }
  [[nodiscard]] BufferId core_buffer(std::uint32_t row, std::uint32_t column) const {
    return b_.memory_.cores[b_.array_.core(row, column)];
  }
  [[nodiscard]] std::uint32_t rows_at(std::size_t number) const {
    return rows_at_ + static_cast<std::uint32_t>(number % mapping_.row_buffers) *
                          round_up(shape_.row_bytes(mapping_), kAlign);
  }
  [[nodiscard]] std::uint32_t weights_at(std::size_t number) const {
    return weights_at_ + static_cast<std::uint32_t>(number % mapping_.weight_buffers) *
                             shape_.weight_room(mapping_);
  }
  [[nodiscard]] std::uint32_t results_at(std::size_t number) const {
    return results_at_ +
           static_cast<std::uint32_t>(number % 2) * round_up(shape_.result_bytes(mapping_), kAlign);
  }

  /// Where an operand's tile of rows from DDR lies in a memory tile.
  [[nodiscard]] std::uint32_t slot_at(std::size_t number, std::uint32_t operand) const {
    return b_.plan_.placement.rows[number_] +
           (static_cast<std::uint32_t>(number % 2) * shape_.tensors() + operand) *
               shape_.staged_row_bytes(mapping_);
  }

  void make_rows(std::uint32_t column);
  void add_pieces(std::uint32_t column, std::uint32_t operand, const RowTile& tile, Range needed,
                  std::uint32_t slot, std::uint32_t at, std::vector<Stream>& streams) const;
  void add_staged(std::uint32_t column, std::uint32_t operand, const RowTile& tile, Range needed,
                  std::uint32_t slot, std::vector<Stream>& streams) const;
  void make_results(std::uint32_t column);
  [[nodiscard]] Stream stored(std::uint32_t column, const RowTile& tile, Range blocks,
                              std::uint32_t from) const;
  void make_weights(std::uint32_t row);
  void core(std::uint32_t row, std::uint32_t column);
  void compute(std::uint32_t row, std::uint32_t column, const Item& item, std::size_t rows,
               std::size_t weights, std::size_t results);
  void memories();
  void send_rows(std::uint32_t column, std::size_t number);
  void take_results(std::uint32_t column, ColumnState& state, std::size_t item);

  Builder& b_;
  ArrayProgram& lists_;
  std::uint32_t number_;
  const LayerShape& shape_;
  const Mapping& mapping_;
  std::vector<Item> items_;
  std::string name_;
  std::uint32_t rows_at_, weights_at_, results_at_, steps_at_, partials_at_;  ///< in a core
  std::vector<std::vector<TransferId>> rows_;                    ///< by column, tile by tile
  std::vector<std::vector<std::optional<TransferId>>> results_;  ///< by column and item
  // The same between memory tiles and DDR, where tensors lie there.
  std::vector<std::vector<TransferId>> ddr_rows_;
  std::vector<std::vector<std::optional<TransferId>>> ddr_results_;
  std::vector<std::vector<TransferId>> weights_;  ///< by row, tile by tile
};

/// Tiles of rows from the memory tile to all cores of its column.
void LayerBuilder::make_rows(std::uint32_t column) {
  if (!column_works(column)) return;
  for (const Item& item : items_) {
    if (!item.new_rows) continue;
    const RowTile tile = row_tile(shape_.layer(), mapping_.rows, item.row_tile);
    std::vector<Stream> streams;
    std::vector<Stream> staged;
    const std::size_t number = rows_[column].size();
    const Range needed = shape_.needed_blocks(mapping_, item.group);
    for (std::uint32_t operand = 0; operand < shape_.tensors(); ++operand) {
      const std::uint32_t slot = slot_at(number, operand);
      add_staged(column, operand, tile, needed, slot, staged);
      add_pieces(column, operand, tile, needed, slot, rows_at(number), streams);
    }
    if (!staged.empty())
      ddr_rows_[column].push_back(lists_.transfer(Builder::kind(Chain::ddr_rows, column),
                                                  name_ + " rows from DDR", std::move(staged)));
    rows_[column].push_back(
        lists_.transfer(Builder::kind(Chain::rows, column), name_ + " rows", std::move(streams)));
  }
}

/// A window's columns of an operand in DDR, into a slot of the memory tile.
void LayerBuilder::add_staged(std::uint32_t column, std::uint32_t operand, const RowTile& tile,
                              Range needed, std::uint32_t slot,
                              std::vector<Stream>& streams) const {
  const std::uint32_t layer = shape_.layer().inputs[operand];
  const Placement& placement = b_.plan_.placement;
  const Held& held = placement.of(layer);
  const Piece inside = shape_.column(column).inside();
  if (!held.outside || inside.count == 0 || tile.input_count == 0) return;
  const std::uint32_t row = held.width * kBlock;
  const std::uint32_t bytes = inside.count * kBlock;
  const std::uint32_t first = placement.views[layer].first_block + needed.begin;
  const Walk from{{b_.ddr_buffer(layer), held.ddr + (first * held.height + tile.input_first) * row +
                                             inside.source_column * kBlock},
                  bytes,
                  {{1, 0}, {1, 0}, {needed.size(), held.height * row}, {tile.input_count, row}},
                  {}};
  streams.push_back(
      {kLoad,
       from,
       {whole({b_.memory_.tiles[column], slot}, needed.size() * tile.input_count * bytes)}});
}

/// The columns of a window of one operand, with zeros around.
void LayerBuilder::add_pieces(std::uint32_t column, std::uint32_t operand, const RowTile& tile,
                              Range needed, std::uint32_t slot, std::uint32_t at,
                              std::vector<Stream>& streams) const {
  const ColumnGeometry& geometry = shape_.column(column);
  const std::uint32_t layer = shape_.layer().inputs[operand];
  const Placement& placement = b_.plan_.placement;
  const Held& held = placement.of(layer);
  const BufferId memory = b_.memory_.tiles[column];
  const std::uint32_t blocks = needed.size();
  const std::uint32_t first_block = placement.views[layer].first_block + needed.begin;
  const std::uint32_t row_bytes = geometry.row_bytes();
  const std::uint32_t block_bytes = shape_.plane_bytes(mapping_, column);
  const std::uint32_t stride = geometry.stride();
  const std::uint32_t halo_row = geometry.halo_columns() * kBlock;
  std::uint32_t halo_done = 0;
  std::vector<Piece> pieces = geometry.pieces();
  const Piece inside = geometry.inside();
  if (held.outside) {
    std::erase_if(pieces, [](const Piece& piece) { return piece.from != Piece::From::zeros; });
    if (inside.count > 0) pieces.push_back(inside);
  }
  for (const Piece& piece : pieces) {
    for (std::uint32_t i = 0; i < std::min(stride, piece.count); ++i) {
      const std::uint32_t count = (piece.count - i + stride - 1) / stride;
      const std::uint32_t from = piece.begin + i;  // column of the window
      Walk source{{memory, 0}, kBlock, {}, {}};
      StreamExtent& rows = source.extents[2];
      rows = {tile.input_count, 0, tile.zeros_before, tile.zeros_after};
      source.extents[1] = {blocks, 0};
      source.extents[3] = {count, stride * kBlock};
      if (piece.from == Piece::From::own && held.outside) {
        rows.pitch = inside.count * kBlock;
        source.place.offset = slot + i * kBlock;
        source.extents[1].pitch = tile.input_count * rows.pitch;
      } else if (piece.from == Piece::From::own) {
        source.place.offset = held.address + first_block * held.block_bytes(column) +
                              tile.input_first * held.row_bytes(column) +
                              (piece.source_column + i - held.slice(column).begin) * kBlock;
        source.extents[1].pitch = held.block_bytes(column);
        rows.pitch = held.row_bytes(column);
      } else if (piece.from == Piece::From::halo) {
        source.place.offset = placement.halo[number_] +
                              (needed.begin * held.height + tile.input_first) * halo_row +
                              (halo_done + i) * kBlock;
        source.extents[1].pitch = held.height * halo_row;
        rows.pitch = halo_row;
      } else {
        source.extents[3] = {0, 0, count, 0};
      }
      if (stride == 1 && piece.from != Piece::From::zeros) {
        source.unit = count * kBlock;
        source.extents[3] = {1, 0};
      }
      Stream stream{kActivations, source, {}};
      for (std::uint32_t row = 0; row < b_.array_.rows; ++row) {
        if (!shape_.works(mapping_, row, column)) continue;
        Walk to{{core_buffer(row, column), at + operand * shape_.operand_bytes(mapping_, column) +
                                               from % stride * geometry.remainder_bytes() +
                                               from / stride * kBlock},
                count * kBlock,
                {{1, 0}, {blocks, block_bytes}, {tile.input_rows(), row_bytes}, {1, 0}},
                {}};
        stream.destinations.push_back(to);
      }
      streams.push_back(std::move(stream));
    }
    if (piece.from == Piece::From::halo) halo_done += piece.count;
  }
}

/// Results of the column's cores to its memory tile, which takes them one core after the other.
void LayerBuilder::make_results(std::uint32_t column) {
  results_[column].resize(items_.size());
  if (!column_works(column)) return;
  const Placement& placement = b_.plan_.placement;
  const View& view = placement.views[number_];
  const Held& held = placement.held[view.held];
  const std::uint32_t width = shape_.column(column).outputs() * kBlock;
  std::vector<std::size_t> made(b_.array_.rows);  // by each core
  std::size_t results = 0;
  ddr_results_[column].resize(items_.size());
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    if (!item.ends) continue;
    const RowTile tile = row_tile(shape_.layer(), mapping_.rows, item.row_tile);
    std::vector<Stream> streams;
    std::vector<Stream> stores;
    for (std::uint32_t row = 0; row < b_.array_.rows; ++row) {
      if (!has(row, item.group)) continue;
      const Range blocks = shape_.blocks(mapping_, row, item.group);
      const std::uint32_t pitch = shape_.column(column).computed() * kBlock;
      const Walk from{{core_buffer(row, column), results_at(made[row]++)},
                      width,
                      {{1, 0}, {1, 0}, {blocks.size(), mapping_.rows * pitch}, {tile.count, pitch}},
                      {}};
      if (held.outside) {
        const std::uint32_t slot =
            placement.results[number_] +
            static_cast<std::uint32_t>(results % 2) * shape_.staged_result_bytes(mapping_) +
            row * mapping_.group * mapping_.rows * width;
        streams.push_back(
            {kResults,
             from,
             {whole({b_.memory_.tiles[column], slot}, blocks.size() * tile.count * width)}});
        stores.push_back(stored(column, tile, blocks, slot));
        continue;
      }
      const Walk to{{b_.memory_.tiles[column],
                     held.address + (view.first_block + blocks.begin) * held.block_bytes(column) +
                         tile.first * width},
                    tile.count * width,
                    {{1, 0}, {1, 0}, {1, 0}, {blocks.size(), held.block_bytes(column)}},
                    {}};
      streams.push_back({kResults, from, {to}});
    }
    if (!stores.empty())
      ddr_results_[column][i] = lists_.transfer(Builder::kind(Chain::ddr_results, column),
                                                name_ + " results to DDR", std::move(stores));
    ++results;
    results_[column][i] = lists_.transfer(Builder::kind(Chain::results, column), name_ + " results",
                                          std::move(streams));
  }
}

/// Blocks of a tile of results from a slot of the memory tile to their place in DDR.
Stream LayerBuilder::stored(std::uint32_t column, const RowTile& tile, Range blocks,
                            std::uint32_t from) const {
  const View& view = b_.plan_.placement.views[number_];
  const Held& held = b_.plan_.placement.held[view.held];
  const std::uint32_t row = held.width * kBlock;
  const std::uint32_t width = shape_.column(column).outputs() * kBlock;
  const Walk to{{b_.ddr_buffer(number_),
                 held.ddr + ((view.first_block + blocks.begin) * held.height + tile.first) * row +
                     held.slice(column).begin * kBlock},
                width,
                {{1, 0}, {1, 0}, {blocks.size(), held.height * row}, {tile.count, row}},
                {}};
  return {
      kStore, whole({b_.memory_.tiles[column], from}, blocks.size() * tile.count * width), {to}};
}

/// Tiles of weights from their memory tile to all cores of a row.
void LayerBuilder::make_weights(std::uint32_t row) {
  if (!shape_.has_weights() || !has(row, 0)) return;
  const std::uint32_t memory = b_.array_.weights_memory(row);
  const std::uint32_t base = b_.bases_[number_][row];
  const std::uint32_t bytes = shape_.weight_bytes(mapping_);
  for (const Item& item : items_) {
    if (!item.new_weights || !has(row, item.group)) continue;
    const std::size_t number = weights_[row].size();
    const std::uint32_t slot =
        row / b_.array_.columns * 2 + (base + static_cast<std::uint32_t>(number)) % 2;
    Stream stream{
        kWeights,
        whole({b_.memory_.tiles[memory - b_.array_.first_memory], slot * b_.plan_.ring_bytes},
              bytes),
        {}};
    for (std::uint32_t column = 0; column < b_.array_.columns; ++column)
      if (shape_.works(mapping_, row, column))
        stream.destinations.push_back(whole({core_buffer(row, column), weights_at(number)}, bytes));
    weights_[row].push_back(lists_.transfer(Builder::kind(Chain::weights, row), name_ + " weights",
                                            {std::move(stream)}));
  }
}

void LayerBuilder::core(std::uint32_t row, std::uint32_t column) {
  const std::uint32_t node = b_.array_.core(row, column);
  b_.calls_.begin(node);
  const std::vector<TransferId>& rows = rows_[column];
  const std::vector<TransferId>& weights = weights_[row];
  // In the order of memories(): where nothing overlaps a start waits for all that take part.
  if (!weights.empty()) lists_.start(node, weights[0]);
  lists_.start(node, rows[0]);
  std::size_t row_tiles = 0;     // that have been waited for
  std::size_t weight_tiles = 0;  // likewise
  std::size_t results = 0;       // that it has made
  std::optional<TransferId> leaving;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    const bool works = has(row, item.group);
    if (item.new_rows) {
      lists_.wait(node, rows[row_tiles++]);
      if (mapping_.row_buffers == 2 && row_tiles < rows.size()) lists_.start(node, rows[row_tiles]);
    }
    if (item.new_weights && works && !weights.empty()) {
      lists_.wait(node, weights[weight_tiles++]);
      if (mapping_.weight_buffers == 2 && weight_tiles < weights.size())
        lists_.start(node, weights[weight_tiles]);
    }
    if (works) compute(row, column, item, row_tiles - 1, weight_tiles - 1, results);
    if (item.last_weights && works && mapping_.weight_buffers == 1 && weight_tiles < weights.size())
      lists_.start(node, weights[weight_tiles]);
    if (item.last_rows && mapping_.row_buffers == 1 && row_tiles < rows.size())
      lists_.start(node, rows[row_tiles]);
    if (!item.ends || !works) continue;
    ++results;
    if (leaving) lists_.wait(node, *leaving);
    leaving = results_[column][i];
    lists_.start(node, *leaving);
  }
  if (leaving) lists_.wait(node, *leaving);
}

void LayerBuilder::compute(std::uint32_t row, std::uint32_t column, const Item& item,
                           std::size_t rows, std::size_t weights, std::size_t results) {
  const BufferId buffer = core_buffer(row, column);
  const Operands operands{{buffer, rows_at(rows)},
                          {buffer, weights_at(weights)},
                          {buffer, results_at(results)},
                          {buffer, steps_at_},
                          {buffer, partials_at_}};
  b_.calls_.compute(lists_, b_.array_.core(row, column), shape_, mapping_, column, item,
                    shape_.blocks(mapping_, row, item.group), operands);
}

/// A memory tile sends rows to its column, weights to its rows of cores, and takes results.
void LayerBuilder::memories() {
  const Array& array = b_.array_;
  const auto bring = [&](std::uint32_t row, std::size_t number) {
    b_.wait_ddr(row);
    lists_.start(array.weights_memory(row), weights_[row][number]);
    b_.start_ddr(row);
  };
  std::vector<ColumnState> columns(array.columns);
  std::vector<std::size_t> weight_tiles(array.rows);
  const auto memory_rows = [&](const auto& use) {
    for (std::uint32_t column = 0; column < array.columns; ++column)
      for (const std::uint32_t row : rows_of(column)) use(row);
  };
  const auto working_columns = [&](const auto& use) {
    for (std::uint32_t column = 0; column < array.columns; ++column)
      if (column_works(column)) use(column, columns[column]);
  };
  memory_rows([&](std::uint32_t row) { bring(row, 0); });
  working_columns([&](std::uint32_t column, ColumnState& /*state*/) {
    if (!ddr_rows_[column].empty()) b_.start_all(ddr_rows_[column][0]);
    send_rows(column, 0);
  });
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    working_columns([&](std::uint32_t column, ColumnState& state) {
      if (!item.new_rows) return;
      lists_.wait(array.memory(column), rows_[column][state.rows++]);
      if (mapping_.row_buffers == 2) send_rows(column, state.rows);
    });
    memory_rows([&](std::uint32_t row) {
      if (!has(row, item.group)) return;
      std::size_t& tiles = weight_tiles[row];
      if (item.new_weights) {
        lists_.wait(array.weights_memory(row), weights_[row][tiles++]);
        if (mapping_.weight_buffers == 2 && tiles < weights_[row].size()) bring(row, tiles);
      }
      if (item.last_weights && mapping_.weight_buffers == 1 && tiles < weights_[row].size())
        bring(row, tiles);
    });
    working_columns([&](std::uint32_t column, ColumnState& state) {
      if (item.last_rows && mapping_.row_buffers == 1) send_rows(column, state.rows);
      if (item.ends) take_results(column, state, i);
    });
  }
  working_columns([&](std::uint32_t column, ColumnState& state) {
    take_results(column, state, items_.size());
    if (state.storing) b_.wait_all(*state.storing);
  });
}

/// Sends the next tile of rows, if there is one, and has the one behind it brought from DDR.
void LayerBuilder::send_rows(std::uint32_t column, std::size_t number) {
  if (number >= rows_[column].size()) return;
  const std::vector<TransferId>& staged = ddr_rows_[column];
  if (!staged.empty()) b_.wait_all(staged[number]);
  lists_.start(b_.array_.memory(column), rows_[column][number]);
  if (number + 1 < staged.size()) b_.start_all(staged[number + 1]);
}

/// Waits for the results before those of an item, stores them where they belong in DDR, and takes
/// the item's.
void LayerBuilder::take_results(std::uint32_t column, ColumnState& state, std::size_t item) {
  const std::uint32_t node = b_.array_.memory(column);
  if (state.results) {
    lists_.wait(node, *state.results);
    if (const std::optional<TransferId> store = ddr_results_[column][state.item]) {
      if (state.storing) b_.wait_all(*state.storing);
      state.storing = store;
      b_.start_all(*store);
    }
    state.results.reset();
  }
  if (item == items_.size()) return;
  state.item = item;
  state.results = results_[column][item];
  lists_.start(node, *state.results);
}

/// Columns that a memory tile needs of others', into its own memory.
void Builder::add_halo(std::uint32_t number, const LayerShape& shape) {
  const Layer& layer = network().layers[number];
  if (!layer.has_window()) return;
  const std::uint32_t input = layer.inputs[0];
  const Held& held = plan_.placement.of(input);
  if (held.outside) return;
  const std::uint32_t first = plan_.placement.views[input].first_block;
  std::vector<Stream> streams;
  for (std::uint32_t column = 0; column < array_.columns; ++column) {
    const ColumnGeometry& geometry = shape.column(column);
    const std::uint32_t row = geometry.halo_columns() * kBlock;
    std::uint32_t done = 0;
    for (const Piece& piece : geometry.pieces()) {
      if (piece.from != Piece::From::halo) continue;
      for (std::uint32_t at = piece.source_column; at < piece.source_column + piece.count;) {
        const std::uint32_t owner = at / held.slice(0).size();
        const std::uint32_t end =
            std::min(held.slice(owner).end, piece.source_column + piece.count);
        const std::uint32_t bytes = (end - at) * kBlock;
        const auto extents = [&](std::uint32_t pitch) {
          return Walk{
              {},
              bytes,
              {{1, 0}, {1, 0}, {shape.input_blocks(), held.height * pitch}, {held.height, pitch}},
              {}};
        };
        Walk from = extents(held.row_bytes(owner));
        from.place = {memory_.tiles[owner], held.address + first * held.block_bytes(owner) +
                                                (at - held.slice(owner).begin) * kBlock};
        Walk to = extents(row);
        to.place = {memory_.tiles[column], plan_.placement.halo[number] + done * kBlock};
        streams.push_back({kHalo, from, {to}});
        done += end - at;
        at = end;
      }
    }
  }
  if (!streams.empty())
    do_transfer(lists_.transfer(kind(Chain::halo, 0), layer.name + " halo", std::move(streams)));
}

void Builder::add_layer(std::uint32_t number) {
  const LayerShape shape = shape_of(plan_, number);
  everywhere(network().layers[number].name);
  add_halo(number, shape);
  LayerBuilder(*this, number, shape).build();
}

}  // namespace

LayerShape shape_of(const Plan& plan, std::uint32_t number) {
  const Layer& layer = plan.network->layers[number];
  const LayerWeights& weights = (*plan.weights)[number];
  return {layer, plan.array,
          layer.op == Operator::convolution
              ? static_cast<std::uint32_t>(weights.kept.empty() ? 0 : weights.kept[0].size())
              : 1};
}

std::uint32_t ring_end(const Plan& plan) {
  const std::uint32_t rows = (plan.array.rows + plan.array.columns - 1) / plan.array.columns;
  return rows * 2 * plan.ring_bytes;
}

program::Program make_program(const Plan& plan) {
  program::Program program(plan.array.nodes());
  Builder(plan, program).build();
  return program;
}

}  // namespace tessera::convnet
