#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/arrays/array_program.h"
#include "kernels/gemm/array_plan.h"
#include "sim/elf/codelet.h"

namespace tessera::gemm {
namespace {

using program::BufferId;
using program::Place;
using program::Stream;
using program::Walk;

constexpr std::uint32_t kDescriptorBytes = 32;

Walk whole(Place place, std::uint32_t bytes) { return {place, bytes, {}, {}}; }

/// `rows` rows of `bytes`, `pitch` apart.
Walk apart(Place first, std::uint32_t bytes, std::uint32_t rows, std::uint32_t pitch) {
  return {first, bytes, {{1, 0}, {1, 0}, {1, 0}, {rows, pitch}}, {}};
}

using Kind = ArrayOrder::Kind;

/// Buffers, and the transfers between them.
class ArrayStreams {
 public:
  /// Keeps all arguments by reference.
  ArrayStreams(const VectorProduct& of, const arrays::Array& array, const ArrayOrder& order,
               program::Program& program, arrays::ArrayProgram& lists)
      : of_(of),
        array_(array),
        order_(order),
        grid_(of.grid),
        type_(*of.grid.type),
        tile_(of.grid.plan.tile()),
        layout_(of.grid),
        b_bytes_(word(of.grid.b_tile_bytes())),
        program_(program),
        lists_(lists) {
    add_buffers();
    for (std::uint32_t row = 0; row < plan().array_rows; ++row) add_rows(row);
    for (std::uint32_t column = 0; column < plan().array_columns; ++column) {
      add_columns(column);
      add_results(column);
    }
  }

  /// Transfer `number` of a channel; the host's list is always the same transfer.
  [[nodiscard]] arrays::TransferId transfer(arrays::Channel channel, std::size_t number) const {
    const std::vector<arrays::TransferId>& of = transfers_.at(channel);
    return of[std::min(number, of.size() - 1)];
  }
  /// A core's product in a step.
  [[nodiscard]] CoreProduct product(std::uint32_t node, std::uint32_t step) const {
    const auto at = [&](std::uint32_t offset) { return Place{cores_[node], offset}; };
    const std::uint32_t k = step % grid_.steps;
    const std::uint32_t block = step / grid_.steps;
    CoreProduct product{&type_,
                        tile_,
                        at(layout_.a + step % 2 * layout_.a_slot),
                        at(layout_.b + step % 2 * layout_.b_slot),
                        at(layout_.c + block % 2 * layout_.c_slot),
                        at(layout_.sums),
                        at(layout_.zeros),
                        of_.shift,
                        grid_.begins(k),
                        grid_.ends(k),
                        {}};
    if (grid_.kept) {
      const auto lists = grid_.kept->lists(grid_.kept->block_bytes());
      product.lists = {lists.pairs, lists.steps};
    }
    return product;
  }

 private:
  /// Writes a row of an operand, or a tile of kept blocks, in its memory format.
  using RowWriter = std::function<void(std::uint32_t row, std::span<std::byte> into)>;

  [[nodiscard]] const VectorPlan& plan() const { return grid_.plan; }
  /// Adds an operand in DDR: a matrix of `rows` x `columns`, padded with zeros to `all_rows` x
  /// `pitch`.
  BufferId add_operand(const char* name, std::uint32_t rows, std::uint32_t all_rows,
                       std::uint32_t columns, std::uint32_t pitch, const RowWriter& write) {
    const std::size_t row_bytes = std::size_t{pitch} * type_.bytes;
    const auto fill = [rows, row_bytes, write,
                       each = std::size_t{columns} * type_.bytes](std::span<std::byte> into) {
      std::ranges::fill(into, std::byte{});
      for (std::uint32_t row = 0; row < rows; ++row)
        write(row, into.subspan(row * row_bytes, each));
    };
    return program_.add_buffer(arrays::buffer_of(array_.ddr, all_rows * row_bytes, name, fill));
  }
  BufferId add_result() {
    program::Buffer buffer = arrays::buffer_of(array_.ddr, grid_.c_bytes(), of_.names.c);
    buffer.keep = true;
    const BufferId made = program_.add_buffer(std::move(buffer));
    const std::uint64_t rows = of_.product.m;
    const std::uint64_t columns = of_.product.n;
    const bool across = of_.names.transposed;
    program::Tensor tensor = of_.result();
    tensor.parts = {{Place{made}, static_cast<std::uint32_t>(grid_.c_bytes())}};
    tensor.runs = [=, pitch = std::uint64_t{grid_.n}](std::size_t /*part*/, program::Runs& runs) {
      for (std::uint64_t row = 0; row < rows; ++row)
        runs.add({row * pitch, across ? row : row * columns, columns, across ? rows : 1});
    };
    program_.add_tensor(std::move(tensor));
    return made;
  }
  /// Adds the next transfer of a channel.
  void add(arrays::Channel channel, std::string_view name, std::vector<program::Stream> streams) {
    transfers_[channel].push_back(lists_.transfer(channel, std::string(name), std::move(streams)));
  }
  void add_buffers() {
    const Product& p = of_.product;
    const std::uint32_t b_numbers = b_bytes_ / type_.bytes;
    const std::uint32_t tiles = word(grid_.b_tiles());
    const auto rows_of = [](const VectorOperand& operand) {
      return [operand](std::uint32_t row, std::span<std::byte> into) { operand.write(row, into); };
    };
    a_ = add_operand(of_.names.a, p.m, grid_.m, p.k, grid_.k, rows_of(of_.a));
    b_ = of_.b ? add_operand(of_.names.b, p.k, grid_.k, p.n, grid_.n, rows_of(*of_.b))
               : add_operand(of_.names.b, tiles, tiles, b_numbers, b_numbers,
                             [grid = grid_](std::uint32_t tile, std::span<std::byte> into) {
                               grid.write_kept(tile, into);
                             });
    c_ = add_result();
    const arrays::Array& array = array_;
    const std::uint32_t list_bytes = 3 * array.columns * kDescriptorBytes;
    transfers_[order_.channel(Kind::list, 0)] = {lists_.from_host(
        array.ddr, "list",
        {program_.add_buffer(arrays::buffer_of(array.ddr, list_bytes, "descriptors"))},
        list_bytes)};
    cores_.resize(std::size_t{array.rows} * array.columns);
    for (std::uint32_t row = 0; row < plan().array_rows; ++row)
      for (std::uint32_t column = 0; column < plan().array_columns; ++column) {
        const std::uint32_t core = array.core(row, column);
        cores_[core] = program_.add_buffer(arrays::buffer_of(
            core, layout_.end, "tiles",
            [](std::span<std::byte> into) { std::ranges::fill(into, std::byte{}); }));
      }
    staged_b_ = 2 * ceil_div(plan().array_rows, array.columns) * layout_.a_slot;
    staged_c_ = staged_b_ + 2 * layout_.b_slot;
    const std::uint32_t bytes = staged_c_ + 2 * plan().array_rows * layout_.c_slot;
    for (std::uint32_t column = 0; column < array.columns; ++column)
      memories_.push_back(
          program_.add_buffer(arrays::buffer_of(array.memory(column), bytes, "staged")));
  }
  /// Walks a tile's rows, `pitch` bytes apart, in the order [patch][unit][row].
  [[nodiscard]] Walk patches(Place first, std::uint32_t unit, std::uint32_t units,
                             std::uint32_t pitch) const {
    const std::uint32_t rows = grid_.patch.rows;
    return {
        first, unit, {{1, 0}, {tile_.rows / rows, rows * pitch}, {units, unit}, {rows, pitch}}, {}};
  }
  /// Adds the steps of A for a row of cores: the tile's rows, a step's depth of columns. The layout
  /// in a core is [patch of rows][step][row][input].
  void add_rows(std::uint32_t row) {
    const std::uint32_t memory = order_.column_of(row);
    const std::uint32_t bytes = word(tile_.a_bytes(type_));
    const std::uint32_t pitch = tile_.depth * type_.bytes;
    for (std::uint32_t step = 0; step < order_.steps(); ++step) {
      const std::uint32_t block = step / grid_.steps;
      const std::uint32_t first =
          (block / grid_.column_blocks * plan().array_rows + row) * tile_.rows;
      const std::uint32_t from = first * grid_.k * type_.bytes + step % grid_.steps * pitch;
      const Place staged{memories_[memory], (2 * order_.place_of(row) + step % 2) * layout_.a_slot};
      add(order_.channel(Kind::load_a, row), of_.names.a + std::string(" from DDR"),
          {{arrays::kLoadWeights,
            apart({a_, from}, pitch, tile_.rows, grid_.k * type_.bytes),
            {whole(staged, bytes)}}});
      const std::uint32_t unit = type_.inputs * type_.bytes;
      Stream send{arrays::kWeights, patches(staged, unit, tile_.depth / type_.inputs, pitch), {}};
      for (std::uint32_t column = 0; column < plan().array_columns; ++column)
        send.destinations.push_back(whole(
            {cores_[array_.core(row, column)], layout_.a + step % 2 * layout_.a_slot}, bytes));
      add(order_.channel(Kind::send_a, row), of_.names.a, {send});
    }
  }
  /// A tile of B in DDR, and as a memory tile sends it. A dense B is row-major in DDR and [2
  /// blocks][step][block][input][column] in a core; kept blocks are stored tile by tile everywhere,
  /// in the core's layout.
  [[nodiscard]] Walk b_in_ddr(std::uint32_t tile, std::uint32_t step) const {
    if (grid_.kept) return whole({b_, (tile * grid_.steps + step) * b_bytes_}, b_bytes_);
    const std::uint32_t pitch = tile_.columns * type_.bytes;
    const std::uint32_t row_bytes = grid_.n * type_.bytes;
    return apart({b_, step * tile_.depth * row_bytes + tile * pitch}, pitch, tile_.depth,
                 row_bytes);
  }
  [[nodiscard]] Walk b_staged(program::Place staged) const {
    if (grid_.kept) return whole(staged, b_bytes_);
    const std::uint32_t pitch = tile_.columns * type_.bytes;
    const std::uint32_t unit = type_.outputs * type_.bytes;
    return {staged,
            unit,
            {{tile_.columns / column_unit(type_, grid_.patch), grid_.patch.blocks * unit},
             {tile_.depth / type_.inputs, type_.inputs * pitch},
             {grid_.patch.blocks, unit},
             {type_.inputs, pitch}},
            {}};
  }
  /// Adds the steps of B for a column of cores: the tile's columns, a step's depth of rows.
  void add_columns(std::uint32_t column) {
    for (std::uint32_t step = 0; step < order_.steps(); ++step) {
      const std::uint32_t block = step / grid_.steps;
      const std::uint32_t tile = block % grid_.column_blocks * plan().array_columns + column;
      const Place staged{memories_[column], staged_b_ + step % 2 * layout_.b_slot};
      add(order_.channel(Kind::load_b, column), of_.names.b + std::string(" from DDR"),
          {{arrays::kLoad, b_in_ddr(tile, step % grid_.steps), {whole(staged, b_bytes_)}}});
      Stream send{arrays::kActivations, b_staged(staged), {}};
      for (std::uint32_t row = 0; row < plan().array_rows; ++row)
        send.destinations.push_back(whole(
            {cores_[array_.core(row, column)], layout_.b + step % 2 * layout_.b_slot}, b_bytes_));
      add(order_.channel(Kind::send_b, column), of_.names.b, {send});
    }
  }
  /// Adds the transfers of tiles of C: [patch of rows][block][row][column] in a core, row-major in
  /// the memory tile, core after core.
  void add_results(std::uint32_t column) {
    const std::uint32_t bytes = word(tile_.c_bytes(type_));
    const std::uint32_t pitch = tile_.columns * type_.bytes;
    const std::uint32_t unit = type_.outputs * type_.bytes;
    const std::uint32_t all_rows = plan().array_rows * tile_.rows;
    for (std::uint32_t block = 0; block < order_.blocks(); ++block) {
      const std::uint32_t staged = staged_c_ + block % 2 * plan().array_rows * layout_.c_slot;
      std::vector<Stream> streams;
      for (std::uint32_t row = 0; row < plan().array_rows; ++row)
        streams.push_back(
            {arrays::kResults,
             whole({cores_[array_.core(row, column)], layout_.c + block % 2 * layout_.c_slot},
                   bytes),
             {patches({memories_[column], staged + row * bytes}, unit,
                      tile_.columns / type_.outputs, pitch)}});
      add(order_.channel(Kind::results, column), of_.names.c, std::move(streams));
      const std::uint32_t to =
          block / grid_.column_blocks * all_rows * grid_.n * type_.bytes +
          (block % grid_.column_blocks * plan().array_columns + column) * pitch;
      add(order_.channel(Kind::store, column), of_.names.c + std::string(" to DDR"),
          {{arrays::kStore,
            whole({memories_[column], staged}, plan().array_rows * bytes),
            {apart({c_, to}, pitch, all_rows, grid_.n * type_.bytes)}}});
    }
  }

  const VectorProduct& of_;
  const arrays::Array& array_;
  const ArrayOrder& order_;
  const VectorGrid& grid_;
  const VectorType& type_;
  CoreTile tile_;
  CoreLayout layout_;
  std::uint32_t b_bytes_;  ///< bytes of a tile of B
  program::Program& program_;
  arrays::ArrayProgram& lists_;
  program::BufferId a_{}, b_{}, c_{};
  std::vector<program::BufferId> cores_, memories_;  ///< by node, by column
  std::uint32_t staged_b_ = 0, staged_c_ = 0;        ///< offsets of B and C in a memory tile
  std::map<arrays::Channel, std::vector<arrays::TransferId>> transfers_;
};

}  // namespace

program::Program make_array_program(const VectorProduct& of, const arrays::Array& array) {
  program::Program program(array.nodes());
  arrays::ArrayProgram lists(program);
  const ArrayOrder order(of.grid, array);
  const ArrayStreams streams(of, array, order, program, lists);
  const std::uint32_t code =
      elf::KernelCode("gemm").in(program, core_code(*of.grid.type, of.grid.kept != nullptr));
  for (std::uint32_t node = 0; node < array.nodes(); ++node) {
    lists.mark(node, "product");
    std::map<arrays::Channel, std::size_t> started;
    for (std::uint32_t step = 0; step < order.steps(); ++step) {
      arrays::Items items;
      order.add(node, step, items);
      for (const arrays::Item& item : items) {
        if (item.kind == arrays::Item::Kind::work)
          lists.call(node, "product", {streams.product(node, step).vertex(node, code)});
        else if (item.kind == arrays::Item::Kind::start)
          lists.start(node, streams.transfer(item.channel, started[item.channel]++));
        else
          lists.wait(node, streams.transfer(item.channel, started[item.channel] - 1));
      }
    }
  }
  lists.finish();
  return program;
}

}  // namespace tessera::gemm
