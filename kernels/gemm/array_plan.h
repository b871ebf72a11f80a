#pragma once

#include <vector>

#include "kernels/arrays/array.h"
#include "kernels/arrays/timeline.h"
#include "kernels/gemm/vector_product.h"

/// Products of vector types on an array of cores with memory tiles and DDR.
namespace tessera::gemm {

/// Addresses of a core's buffers. Throws UserError above 2^32 bytes.
struct CoreLayout {
  explicit CoreLayout(const VectorGrid& grid);
  std::uint32_t a, b, c, sums, zeros, end;
  std::uint32_t a_slot, b_slot, c_slot;  ///< bytes between the two buffers
};

/// The array of a machine with the streams that products use.
arrays::Array array_of(const MachineConfig& machine);

/// Search of vector_plan() on an array, with measured calls and the streams' rates.
Searched search_array(const VectorPlan& pinned, const Product& product, const VectorType& type,
                      MachineCosts& costs, const KeptBlocks* blocks);

/// A, B and C are in DDR, row-major, padded to whole blocks. Steps of a core row's A and of a core
/// column's B pass through memory tiles, double-buffered there and in the core; results leave as
/// tiles of C, which a memory tile gathers from its column. For each block of rows DDR waits for
/// the host's descriptor list, after everything of the previous list is stored.
program::Program make_array_program(const VectorProduct& of, const arrays::Array& array);

/// The order in which nodes of a product on an array start transfers, wait for them and compute.
class ArrayOrder {
 public:
  using Items = arrays::Items;
  /// Kinds of transfers, each indexed by row or column of cores: steps of A and B from DDR to a
  /// memory tile and on to cores, results to a memory tile and on to DDR, the host's list to DDR.
  enum class Kind : std::uint8_t { load_a, load_b, send_a, send_b, results, store, list };

  /// Holds references to both.
  ArrayOrder(const VectorGrid& grid, const arrays::Array& array);

  [[nodiscard]] arrays::Channel channel(Kind kind, std::uint32_t number) const {
    return static_cast<std::uint32_t>(kind) * kinds_ + number;
  }
  [[nodiscard]] std::uint32_t blocks() const { return grid_.row_blocks * grid_.column_blocks; }
  /// Number of steps of all blocks.
  [[nodiscard]] std::uint32_t steps() const { return blocks() * grid_.steps; }
  [[nodiscard]] std::uint32_t list_blocks() const {
    return grid_.plan.list_rows * grid_.column_blocks;
  }
  /// The memory tile that holds the A of a row of cores, and its index there.
  [[nodiscard]] std::uint32_t column_of(std::uint32_t row) const { return row % array_.columns; }
  [[nodiscard]] std::uint32_t place_of(std::uint32_t row) const { return row / array_.columns; }

  /// True if a transfer of the channel moves a step, false if a block.
  [[nodiscard]] bool is_of_steps(arrays::Channel channel) const {
    return channel < this->channel(Kind::results, 0);
  }
  /// Adds all channels.
  void add(arrays::Timeline& timeline) const;
  /// Adds a node's actions in a step; the work of a core is its call.
  void add(std::uint32_t node, std::uint32_t step, Items& items) const;

 private:
  /// Operands that pass through a memory tile step by step.
  struct Chain {
    arrays::Channel load, send;
  };
  void add_core(std::uint32_t row, std::uint32_t column, std::uint32_t step, Items& items) const;
  void add_memory(std::uint32_t column, std::uint32_t step, Items& items) const;
  void add_ddr(std::uint32_t step, Items& items) const;
  void wait_for_stores(Items& items) const;
  void store(std::uint32_t column, std::uint32_t block, Items& items) const;
  [[nodiscard]] bool begins_list(std::uint32_t block) const { return block % list_blocks() == 0; }
  [[nodiscard]] bool ends_list(std::uint32_t block) const {
    return block + 1 == blocks() || begins_list(block + 1);
  }
  [[nodiscard]] bool last(std::uint32_t step) const { return (step + 1) % grid_.steps == 0; }

  const VectorGrid& grid_;
  const arrays::Array& array_;
  std::uint32_t kinds_;
  std::vector<std::vector<Chain>> chains_;  ///< by memory tile
};

}  // namespace tessera::gemm
