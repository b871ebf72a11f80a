#pragma once

#include <array>
#include <string>

#include "kernels/codelet.h"
#include "sim/config/fields.h"
#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

/// The workload `latency`: chains of instructions that each need the result of the one before, on
/// every context of every tile; `load` is a pointer chase. With one chain a context a step takes
/// the instruction's latency, with more of them, or of contexts, what latency they leave over.
namespace tessera::latency {

enum class Operation {
  load,
  integer,
  integer_multiply,
  integer_divide,
  f32_add,
  f32_multiply,
  f32_fma,
  f32_divide,
  square_root,
  branch
};

struct Options {
  Operation operation = Operation::load;
  std::uint32_t chains = 1;
  std::uint32_t steps = 110880;
  std::uint64_t seed = 1;
};
void describe(config::Fields& fields, Options& options);

constexpr std::uint32_t kMostChains = 8;
constexpr std::uint32_t kRingWords = 64;  ///< that a context's loads go round in

/// What a context works on before or after a run: states of its chains, and its ring: byte offsets
/// (in this array) of the word after each. Floating-point states are their bits.
using ContextData = std::array<std::uint32_t, kMostChains + kRingWords>;

class Latency : public Workload {
 public:
  Latency(const Options& options, MachineCosts& costs);

  [[nodiscard]] program::Program lowered() const override;
  [[nodiscard]] CheckResult check(const TensorReader& tensors,
                                  const CheckRequest& request) const override;

 private:
  /// The program on so many tiles, with chains of `steps`.
  [[nodiscard]] plan::Description describe(std::uint32_t tiles, std::uint32_t steps) const;
  [[nodiscard]] std::uint32_t chain_steps() const;  ///< of each chain
  [[nodiscard]] std::uint32_t operand() const;      ///< the bits of what every step takes
  [[nodiscard]] ContextData initial(TileId tile, std::uint32_t context) const;
  /// The state of one chain after all its steps.
  [[nodiscard]] std::uint32_t expected(const ContextData& data, std::uint32_t chain) const;

  Options options_;
  const MachineConfig machine_;
  const elf::KernelCode code_;
};

}  // namespace tessera::latency
