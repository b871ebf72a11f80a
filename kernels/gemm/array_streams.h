#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/arrays/array_program.h"
#include "kernels/gemm/array_order.h"

/// Which bytes move in a product on an array.
namespace tessera::gemm {

/// Buffers, and the transfers between them.
class ArrayStreams {
 public:
  /// All are kept by reference.
  ArrayStreams(const VectorProduct& of, const arrays::Array& array, const ArrayOrder& order,
               program::Program& program, arrays::ArrayProgram& lists);

  /// The transfer of that number of a channel; the host's list is the same every time.
  [[nodiscard]] arrays::TransferId transfer(arrays::Channel channel, std::size_t number) const {
    const std::vector<arrays::TransferId>& of = transfers_.at(channel);
    return of[std::min(number, of.size() - 1)];
  }
  /// What a core computes in a step.
  [[nodiscard]] CoreProduct product(std::uint32_t node, std::uint32_t step) const;

 private:
  /// Writes a row of an operand, or a tile of kept blocks, as it lies in memory.
  using RowWriter = std::function<void(std::uint32_t row, std::span<std::byte> into)>;

  [[nodiscard]] const VectorPlan& plan() const { return grid_.plan; }
  program::BufferId add_operand(const char* name, std::uint32_t rows, std::uint32_t all_rows,
                                std::uint32_t columns, std::uint32_t pitch, const RowWriter& write);
  program::BufferId add_result();
  /// A transfer that comes next on a channel.
  void add(arrays::Channel channel, std::string_view name, program::Stream stream) {
    std::vector<program::Stream> streams;
    streams.push_back(std::move(stream));
    add(channel, name, std::move(streams));
  }
  void add(arrays::Channel channel, std::string_view name, std::vector<program::Stream> streams) {
    transfers_[channel].push_back(lists_.transfer(channel, std::string(name), std::move(streams)));
  }
  void add_buffers();
  void add_rows(std::uint32_t row);
  [[nodiscard]] program::Walk b_in_ddr(std::uint32_t tile, std::uint32_t step) const;
  [[nodiscard]] program::Walk b_staged(program::Place staged) const;
  void add_columns(std::uint32_t column);
  void add_results(std::uint32_t column);

  const VectorProduct& of_;
  const arrays::Array& array_;
  const ArrayOrder& order_;
  const VectorGrid& grid_;
  const VectorType& type_;
  CoreTile tile_;
  CoreLayout layout_;
  std::uint32_t b_bytes_;  ///< of a tile of B
  program::Program& program_;
  arrays::ArrayProgram& lists_;
  program::BufferId a_{}, b_{}, c_{};
  std::vector<program::BufferId> cores_, memories_;  ///< by node, by column
  std::uint32_t staged_b_ = 0, staged_c_ = 0;        ///< where they lie in a memory tile
  std::map<arrays::Channel, std::vector<arrays::TransferId>> transfers_;
};

}  // namespace tessera::gemm
