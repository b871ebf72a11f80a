#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/arrays/array.h"
#include "kernels/gemm/vector_product.h"
#include "sim/plan/step_costs.h"

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

/// Memory, and time by measured calls and the streams' rates, of plans of one product.
class ArrayPricer {
 public:
  /// `blocks`: as VectorGrid.
  ArrayPricer(const Product& product, const VectorType& type, MachineCosts& costs,
              const KeptBlocks* blocks);

  [[nodiscard]] const arrays::Array& array() const { return array_; }
  [[nodiscard]] std::optional<Room> too_large(const VectorGrid& grid) const;
  /// The same before a grid is made: its tiles have so many kept blocks, at least, that DDR does
  /// not hold them.
  [[nodiscard]] std::optional<Room> too_many(const VectorPlan& plan) const;
  /// None if it takes `below` cycles or more.
  [[nodiscard]] std::optional<PricedProduct> price(const VectorGrid& grid, std::uint64_t below);
  [[nodiscard]] VectorGrid grid(const VectorPlan& plan) const {
    return {product_, type_, plan, blocks_};
  }

 private:
  [[nodiscard]] std::uint64_t call(const CoreTile& tile, Begins begins, Ends ends,
                                   std::uint32_t pairs = 0);
  [[nodiscard]] std::uint64_t kept_call(const VectorGrid& grid, Begins begins, Ends ends,
                                        std::uint64_t pairs);
  [[nodiscard]] std::uint64_t kept_compute(const VectorGrid& grid);
  /// Of a block's steps: the first, each between, the last; with kept blocks all take what one does
  /// on average.
  [[nodiscard]] std::vector<std::uint64_t> calls(const VectorGrid& grid);

  Product product_;
  VectorType type_;
  const KeptBlocks* blocks_;
  StepCosts steps_;
  MachineConfig machine_;
  arrays::Array array_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, Begins, Ends, std::uint32_t>,
           std::uint64_t>
      calls_;
};

}  // namespace tessera::gemm
