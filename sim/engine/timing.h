#pragma once

#include <cstdint>

#include "sim/engine/engine.h"
#include "sim/engine/op.h"
#include "sim/engine/pipeline.h"
#include "sim/isa/mnemonic.h"

namespace tessera::engine {

/// Costs of instructions on one machine in one role, in program order: slots of a worker (including
/// the pair rule), cycles of a supervisor with its own issue port. With shared pipelines and under
/// `single`, a supervisor's instructions cost the same as a worker's.
/// Leaves out bank contention and instruction fetch.
/// Sources: isa.md for the pair rule and memory widths, TileConfig for the rest.
class Timing {
 public:
  Timing(Role role, const TileConfig& tile);

  /// Slots or cycles of one instruction alone.
  [[nodiscard]] std::uint32_t alone(const isa::Instruction& instruction) const;
  /// The instruction's demands on the pipeline, latencies in slots of the context.
  [[nodiscard]] Demand demand(const isa::Instruction& instruction) const;
  /// True if instructions may have to wait for results or for other contexts.
  [[nodiscard]] bool waits() const;
  /// Minimum distance between issues of a context.
  [[nodiscard]] std::uint32_t distance() const;
  /// Latency of a taken branch, in slots of the context.
  [[nodiscard]] std::uint32_t branch_latency() const;
  /// Cycles on a supervisor's own port, beyond `alone`, of a taken branch.
  [[nodiscard]] std::uint32_t branch_extra() const;
  /// True if `first`, at the lower half of an 8-byte-aligned pair, takes one slot with `second`.
  [[nodiscard]] bool pairs(const isa::Instruction& first, const isa::Instruction& second) const;
  /// Cycles on a supervisor's own port that `second`, directly after `first`, waits for its load.
  [[nodiscard]] std::uint32_t stall(const isa::Instruction& first,
                                    const isa::Instruction& second) const;
  /// Floating-point operations of the instruction.
  [[nodiscard]] std::uint32_t flops(const isa::Instruction& instruction) const;
  /// Activities of one execution.
  [[nodiscard]] Done done(const isa::Instruction& instruction) const;
  /// True if the machine has the type and phase of the matrix unit that the instruction needs.
  [[nodiscard]] bool exists(const isa::Instruction& instruction) const;

  [[nodiscard]] Role role() const { return role_; }
  /// True if the contexts' issues must be merged to determine their times.
  [[nodiscard]] bool shared() const { return shares_pipeline(tile_); }
  [[nodiscard]] const AmpShapes& shapes() const { return shapes_; }
  /// Cycles that pass in one slot.
  [[nodiscard]] std::uint32_t cycles_per_slot() const;
  /// The cycle of a context's next slot.
  [[nodiscard]] std::uint64_t cycle_of(const Context& context) const {
    return context.base_cycle + context.slots * cycles_per_slot();
  }

 private:
  [[nodiscard]] std::uint32_t slots_of(std::uint32_t latency_cycles) const;
  [[nodiscard]] std::uint32_t memory_slots(const isa::Instruction& instruction) const;
  [[nodiscard]] std::uint32_t result_slots(isa::Mnemonic mnemonic) const;
  [[nodiscard]] std::uint32_t matrix_macs(const isa::Instruction& instruction) const;
  [[nodiscard]] const MatrixShape& matrix_shape(isa::Mnemonic mnemonic) const;
  [[nodiscard]] bool has_vectors(isa::Mnemonic mnemonic) const;

  Role role_;
  TileConfig tile_;
  bool own_port_;  ///< a supervisor with its own issue port
  AmpShapes shapes_;
};

/// Sums the cost of consecutive instructions.
class CostCounter {
 public:
  explicit CostCounter(const Timing& timing) : timing_(&timing) {}

  void add(const isa::Instruction& instruction, std::uint32_t pc);
  /// Restarts the sum at zero; the previous instruction still stalls the next, but does not pair
  /// with it.
  void restart();
  [[nodiscard]] const Cost& total() const { return total_; }
  [[nodiscard]] const Done& done() const { return done_; }
  /// True if the last added instruction issues with the previous one.
  [[nodiscard]] bool paired() const { return paired_; }

 private:
  const Timing* timing_;
  Cost total_;
  Done done_;
  isa::Instruction previous_;
  bool has_previous_ = false;
  bool paired_ = false;
  bool may_pair_ = false;  ///< the previous instruction is unpaired, in the lower half
};

}  // namespace tessera::engine
