#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/isa/registers.h"

/// The in-order pipeline of one context: each instruction's demands, and a scoreboard of pending
/// results.
/// Leaves out: bank contention, instruction fetch, early results (every result takes the full
/// latency of its class), write ports.
/// Timing: an instruction issues when its slot has come, every register that it reads or writes has
/// its result, and its unit is free. An amp.b may follow another into the same accumulator at once:
/// the unit forwards sums to itself. A pair issues together if its second half is ready when its
/// first half issues; else each half issues alone, as without dual issue. So a context with its own
/// slots issues no instruction later than without dual issue; contexts that compete for slots may
/// (an earlier issue changes the order of turns). A multi-slot instruction (an access wider than
/// its port, an iterative multiply, software arithmetic) issues once per slot, each in a turn of
/// the context; an iterative unit that takes one issue has an interval instead. Times are slots of
/// the context under a barrel, else cycles.
namespace tessera::engine {

/// Reasons for which an instruction may wait.
enum class Cause : std::uint8_t { load, arithmetic, matrix, branch };
constexpr std::size_t kCauses = 4;
using Waits = std::array<std::uint64_t, kCauses>;  ///< time waited, by cause

/// Units that may not be fully pipelined.
enum class Unit : std::uint8_t {
  none,
  integer_multiply,
  integer_divide,
  floating,
  float_divide,
  activation,
  matrix
};
constexpr std::size_t kUnits = 7;

/// A set of registers, one bit each.
struct RegisterMask {
  std::uint64_t base = 0;  ///< x registers, then f registers
  std::uint64_t unit = 0;  ///< registers of the vector unit, as isa::RegisterSets numbers them

  friend constexpr RegisterMask operator|(RegisterMask a, RegisterMask b) {
    return {a.base | b.base, a.unit | b.unit};
  }
  friend constexpr RegisterMask operator&(RegisterMask a, RegisterMask b) {
    return {a.base & b.base, a.unit & b.unit};
  }
  constexpr RegisterMask operator~() const { return {~base, ~unit}; }
  bool operator==(const RegisterMask&) const = default;

  /// Calls visit(number) for each register, in order; the unit's registers are numbered from kBase.
  template <class Visit>
  constexpr void each(Visit visit) const {
    for (std::uint64_t left = base; left != 0; left &= left - 1)
      visit(static_cast<unsigned>(std::countr_zero(left)));
    for (std::uint64_t left = unit; left != 0; left &= left - 1)
      visit(kBase + static_cast<unsigned>(std::countr_zero(left)));
  }
  [[nodiscard]] constexpr bool empty() const { return (base | unit) == 0; }
  [[nodiscard]] static constexpr RegisterMask of(unsigned number) {
    if (number < kBase) return {std::uint64_t{1} << number, 0};
    return {0, std::uint64_t{1} << (number - kBase)};
  }
  static constexpr unsigned kBase = 64;
};

/// Demands of one instruction on the pipeline.
struct Demand {
  static constexpr unsigned kFloating = 32;  ///< f registers are numbered after the x registers
  RegisterMask uses;                         ///< registers that it reads or writes
  RegisterMask loads;                        ///< registers it writes from memory
  RegisterMask makes;                        ///< registers it computes
  RegisterMask accumulates;                  ///< registers forwarded from its own unit: no wait
  std::uint32_t slots = 1;                   ///< number of issues
  std::uint32_t load_latency = 1;
  std::uint32_t latency = 1;
  std::uint32_t interval = 1;
  Unit unit = Unit::none;
  Cause cause = Cause::arithmetic;  ///< cause of waits for its results
  bool paired = false;              ///< may issue with the instruction before it
};

/// Time at which each unit is free again.
using UnitTimes = std::array<std::uint64_t, kUnits>;

/// The pipeline state of one context.
class Scoreboard {
 public:
  using Time = std::uint64_t;
  static constexpr unsigned kRegisters = RegisterMask::kBase + isa::RegisterSets::kUnitRegisters;

  /// `distance`: minimum time between issues of the context.
  explicit Scoreboard(std::uint32_t distance = 1) : distance_(distance) {}

  struct Ready {
    Time at;      ///< when slot, registers and units are ready
    Time waited;  ///< time waited beyond the slot
    Cause cause;  ///< the last of these to be ready, if it waited
  };
  /// Earliest time for instructions that issue together.
  [[nodiscard]] Ready ready(std::span<const Demand> group, const UnitTimes& units) const;
  /// Earliest time, if no unit is busy.
  [[nodiscard]] Ready ready(std::span<const Demand> group) const;
  /// Instructions that issue with the first of `group`, at `at`: all of it, or the first half of a
  /// pair whose second half is not ready.
  [[nodiscard]] std::span<const Demand> together(std::span<const Demand> group, Time at,
                                                 const UnitTimes& units) const {
    return group.size() > 1 && ready(group.last(1), units).at > at ? group.first(1) : group;
  }
  /// Issues the group at `at` (not before it is ready) and its further slots in the context's next
  /// slots.
  void issue(std::span<const Demand> group, Time at, UnitTimes& units);
  /// Issues only slot number `step` of the group, at `at`, not before the context's slot.
  void issue(std::span<const Demand> group, std::uint32_t step, Time at, UnitTimes& units);
  /// The last issued instruction is a taken branch: the next issue is no earlier than `latency`
  /// after its slot.
  void branch(std::uint32_t latency) { next_ = std::max(next_, end_ - 1 + latency); }
  /// Nothing issues before `time`.
  void hold_until(Time time) { slot_ = next_ = std::max(time, next_); }

  [[nodiscard]] Time slot() const { return slot_; }  ///< the context's next
  [[nodiscard]] Time next() const { return next_; }  ///< slot(), or later after a taken branch
  [[nodiscard]] Time end() const { return end_; }    ///< after the last occupied slot

  /// Shifts all pending times by `cycles`.
  void delay(Time cycles);

  /// Marks a result as pending until `time`.
  void expect(unsigned number, Time time, Cause cause);
  /// Drops pending results that no later issue waits for.
  void forget_past() {
    pending_.each([&](unsigned number) {
      if (times_[number] <= slot_) pending_ = pending_ & ~RegisterMask::of(number);
    });
  }
  /// Calls visit(number, time, cause) for each result pending after `time`, in order of registers.
  template <class Visit>
  void visit_after(Time time, Visit visit) const {
    pending_.each([&](unsigned number) {
      if (times_[number] > time) visit(number, times_[number], causes_[number]);
    });
  }

 private:
  std::uint32_t distance_;
  Time end_ = 0;
  Time slot_ = 0;
  Time next_ = 0;
  RegisterMask pending_;  ///< registers whose results may be pending
  std::array<Time, kRegisters> times_{};
  std::array<Cause, kRegisters> causes_{};
};

/// Slots that a group takes; 0 for `run` and similar instructions.
inline std::uint32_t issued_slots(std::span<const Demand> group) {
  std::uint32_t slots = 0;
  for (const Demand& demand : group) slots = std::max(slots, demand.slots);
  return slots;
}

/// Issues of a group, at least 1 (`run` and similar instructions take no slot).
inline std::uint32_t issues_of(std::span<const Demand> group) {
  return std::max(1U, issued_slots(group));
}

/// The instruction or pair at the front of the unissued `demands`.
inline std::span<const Demand> front_group(std::span<const Demand> demands) {
  return demands.first(demands.size() > 1 && demands[1].paired ? 2 : 1);
}

}  // namespace tessera::engine
