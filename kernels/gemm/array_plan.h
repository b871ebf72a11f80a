#pragma once

#include <vector>

#include "kernels/arrays/array.h"
#include "kernels/arrays/timeline.h"
#include "kernels/gemm/vector_product.h"

/// Products of types with vectors on an array of cores with memory tiles and DDR.
namespace tessera::gemm {

/// Where a core's buffers lie. Throws UserError above 2^32 bytes.
struct CoreLayout {
  explicit CoreLayout(const VectorGrid& grid);
  std::uint32_t a, b, c, sums, zeros, end;
  std::uint32_t a_slot, b_slot, c_slot;  ///< bytes from a buffer to the other
};

/// The streams that it sends over.
arrays::Array array_of(const MachineConfig& machine);

/// The search of vector_plan(), by measured calls and the streams' rates.
Searched search_array(const VectorPlan& pinned, const Product& product, const VectorType& type,
                      MachineCosts& costs, const KeptBlocks* blocks);

/// A, B and C lie in DDR, row after row, padded to whole blocks. Steps of a core's row of A and of
/// its column of B come through memory tiles, each with two buffers there and in the core, and
/// leave as tiles of C, which a memory tile gathers from its column. Block of rows by block of rows
/// DDR waits for the host's list of descriptors, when all of the list before is stored.
program::Program make_array_program(const VectorProduct& of, const arrays::Array& array);

/// In which order nodes of a product on an array start transfers, wait for them and compute.
class ArrayOrder {
 public:
  using Items = arrays::Items;
  /// Kinds of transfers, each numbered by row or column of cores: steps of A and B from DDR to a
  /// memory tile and on to cores, results to a memory tile and on to DDR, the host's list to DDR.
  enum class Kind : std::uint8_t { load_a, load_b, send_a, send_b, results, store, list };

  /// Both are kept by reference.
  ArrayOrder(const VectorGrid& grid, const arrays::Array& array);

  [[nodiscard]] arrays::Channel channel(Kind kind, std::uint32_t number) const {
    return static_cast<std::uint32_t>(kind) * kinds_ + number;
  }
  [[nodiscard]] std::uint32_t blocks() const { return grid_.row_blocks * grid_.column_blocks; }
  /// Steps of all blocks.
  [[nodiscard]] std::uint32_t steps() const { return blocks() * grid_.steps; }
  [[nodiscard]] std::uint32_t list_blocks() const {
    return grid_.plan.list_rows * grid_.column_blocks;
  }
  /// The memory tile that has the A of a row of cores, and the number of it there.
  [[nodiscard]] std::uint32_t column_of(std::uint32_t row) const { return row % array_.columns; }
  [[nodiscard]] std::uint32_t place_of(std::uint32_t row) const { return row / array_.columns; }

  /// True if a transfer of the channel moves a step, else a block.
  [[nodiscard]] bool is_of_steps(arrays::Channel channel) const {
    return channel < this->channel(Kind::results, 0);
  }
  /// Adds all channels.
  void add(arrays::Timeline& timeline) const;
  /// Adds what a node does in a step; work of a core is its call.
  void add(std::uint32_t node, std::uint32_t step, Items& items) const;

 private:
  /// Operands that come step by step through a memory tile.
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
