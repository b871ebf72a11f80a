#pragma once

#include <cstdint>

#include "sim/engine/engine.h"
#include "sim/engine/op.h"
#include "sim/isa/mnemonic.h"

namespace tessera::engine {

/// What instructions cost on one machine in one role, in program order: slots of a worker (the pair
/// rule included), cycles of a supervisor. Leaves out bank contention and instruction fetch.
/// Sources: isa.md for the pair rule and memory widths, TileConfig for the rest.
class Timing {
 public:
  Timing(Role role, const TileConfig& tile) : role_(role), tile_(tile) {}

  /// Slots or cycles of one instruction alone.
  [[nodiscard]] std::uint32_t alone(const isa::Instruction& instruction) const;
  /// Beyond that when it branches.
  [[nodiscard]] std::uint32_t branch_extra() const;
  /// Whether `first`, at the lower half of an 8-byte-aligned pair, takes one slot with `second`.
  [[nodiscard]] bool pairs(const isa::Instruction& first, const isa::Instruction& second) const;
  /// Cycles that `second` waits for what `first` loads when it comes right after.
  [[nodiscard]] std::uint32_t stall(const isa::Instruction& first,
                                    const isa::Instruction& second) const;
  /// Whether the machine has the unit that the instruction needs.
  [[nodiscard]] bool exists(const isa::Instruction& instruction) const;

  [[nodiscard]] Role role() const { return role_; }
  /// Cycles that pass in one slot.
  [[nodiscard]] std::uint32_t cycles_per_slot() const;

 private:
  [[nodiscard]] std::uint32_t memory_slots(const isa::Instruction& instruction) const;
  [[nodiscard]] std::uint32_t matrix_slots(const isa::Instruction& instruction) const;
  [[nodiscard]] std::uint32_t matrix_rate(isa::Mnemonic mnemonic) const;

  Role role_;
  TileConfig tile_;
};

/// Adds up the cost of instructions that follow each other.
class CostCounter {
 public:
  explicit CostCounter(const Timing& timing) : timing_(&timing) {}

  void add(const isa::Instruction& instruction, std::uint32_t pc);
  /// Begins at zero; what came before still stalls what follows, but does not pair with it.
  void restart();
  [[nodiscard]] const Cost& total() const { return total_; }
  [[nodiscard]] const Done& done() const { return done_; }

 private:
  const Timing* timing_;
  Cost total_;
  Done done_;
  isa::Instruction previous_;
  bool has_previous_ = false;
  bool may_pair_ = false;  ///< the previous instruction stands alone in the lower half
};

}  // namespace tessera::engine
