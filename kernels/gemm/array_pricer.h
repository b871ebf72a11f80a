#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "kernels/gemm/array_plan.h"
#include "sim/plan/step_costs.h"

/// What plans of a product on an array take.
namespace tessera::gemm {

/// Memory, and time by measured calls and the streams' rates, of plans of one product.
class ArrayPricer {
 public:
  /// `blocks`: as ArrayGrid.
  ArrayPricer(const Product& product, const VectorType& type, MachineCosts& costs,
              const KeptBlocks* blocks);

  [[nodiscard]] const arrays::Array& array() const { return array_; }
  /// Bytes of what a plan needs too much of, and that there are.
  struct Room {
    const char* what;
    std::uint64_t needed, there;
  };
  [[nodiscard]] std::optional<Room> too_large(const ArrayGrid& grid) const;
  /// The same before a grid is made: its tiles have so many kept blocks, at least, that DDR does
  /// not hold them.
  [[nodiscard]] std::optional<Room> too_many(const ArrayPlan& plan) const;
  [[nodiscard]] PricedArray price(const ArrayGrid& grid);
  [[nodiscard]] ArrayGrid grid(const ArrayPlan& plan) const {
    return {product_, type_, plan, blocks_};
  }

 private:
  [[nodiscard]] std::uint64_t call(const CoreTile& tile, Begins begins, Ends ends,
                                   std::uint32_t pairs = 0);
  [[nodiscard]] std::uint64_t kept_call(const ArrayGrid& grid, Begins begins, Ends ends,
                                        std::uint64_t pairs);
  [[nodiscard]] std::uint64_t kept_compute(const ArrayGrid& grid);
  [[nodiscard]] std::uint64_t compute(const ArrayGrid& grid);
  [[nodiscard]] std::uint64_t stream(const char* name, std::uint64_t bytes) const;

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
