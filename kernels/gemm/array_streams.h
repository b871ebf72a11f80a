#pragma once

#include <vector>

#include "kernels/arrays/array_program.h"
#include "kernels/gemm/array_lists.h"

/// Which bytes move in a product on an array.
namespace tessera::gemm {

/// Operands that come step by step, each from DDR to a memory tile and on to cores.
struct Chain {
  std::uint32_t memory;                          ///< node
  std::vector<arrays::TransferId> loads, sends;  ///< by step over all blocks
};

/// Buffers, and the transfers between them.
class ArrayStreams {
 public:
  using ByBlock = std::vector<arrays::TransferId>;

  /// All are kept by reference.
  ArrayStreams(const ArrayProduct& of, program::Program& program, arrays::ArrayProgram& lists);

  [[nodiscard]] std::uint32_t blocks() const { return grid_.row_blocks * grid_.column_blocks; }
  /// Of all blocks.
  [[nodiscard]] std::uint32_t all_steps() const { return blocks() * grid_.steps; }
  /// Of A, to a row of cores; of B, to a column.
  [[nodiscard]] const std::vector<Chain>& rows() const { return rows_; }
  [[nodiscard]] const std::vector<Chain>& columns() const { return columns_; }
  /// Of a column's cores to its memory tile, and from there to DDR.
  [[nodiscard]] const ByBlock& results(std::uint32_t column) const { return results_[column]; }
  [[nodiscard]] const std::vector<ByBlock>& stores() const { return stores_; }
  /// A list of the host's to DDR.
  [[nodiscard]] arrays::TransferId list() const { return list_; }

  [[nodiscard]] const CoreLayout& layout() const { return layout_; }
  [[nodiscard]] program::Place in_core(std::uint32_t node, std::uint32_t at) const {
    return {cores_[node], at};
  }

 private:
  [[nodiscard]] const ArrayPlan& plan() const { return grid_.plan; }
  program::BufferId add(std::uint32_t node, std::uint64_t bytes, std::string_view name);
  program::BufferId add_operand(const char* name, std::uint32_t rows, std::uint32_t all_rows,
                                std::uint32_t columns, std::uint32_t pitch, const RowWriter& write);
  program::BufferId add_result();
  void add_buffers();
  void add_rows(std::uint32_t row);
  [[nodiscard]] program::Walk b_in_ddr(std::uint32_t tile, std::uint32_t step) const;
  [[nodiscard]] program::Walk b_staged(program::Place staged) const;
  void add_columns(std::uint32_t column);
  void add_results(std::uint32_t column);

  const ArrayProduct& of_;
  const ArrayGrid& grid_;
  const VectorType& type_;
  CoreTile tile_;
  CoreLayout layout_;
  std::uint32_t b_bytes_;  ///< of a tile of B
  program::Program& program_;
  arrays::ArrayProgram& lists_;
  program::BufferId a_{}, b_{}, c_{};
  std::vector<program::BufferId> cores_, memories_;  ///< by node, by column
  std::uint32_t staged_b_ = 0, staged_c_ = 0;        ///< where they lie in a memory tile
  std::vector<Chain> rows_, columns_;
  std::vector<ByBlock> results_, stores_;  ///< by column
  arrays::TransferId list_{};
};

}  // namespace tessera::gemm
