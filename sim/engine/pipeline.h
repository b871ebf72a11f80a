#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/isa/registers.h"

/// The in-order pipeline that instructions of one context issue into: what each asks of it, and a
/// scoreboard of results that are under way.
/// Leaves out: bank contention, instruction fetch, results that come early (every result takes the
/// whole latency of its class), write ports.
/// Timing: an instruction issues when its slot has come, every register that it reads or writes has
/// its result, and its unit takes operands again. An amp.b may follow another into the same
/// accumulator at once: the unit forwards sums to itself. A pair issues together if its second half
/// is ready when its first half issues; else each half issues alone, as without dual issue. So a
/// context that has its slots to itself issues no instruction later than without dual issue;
/// contexts that compete for slots may (an earlier issue changes whose turn it is). One of several
/// slots (an access wider than its port, a multiply in steps, arithmetic in software) issues so
/// many times, a turn of the context each; an iterative unit that takes one issue has an interval
/// instead. Times are slots of the context under a barrel, else cycles.
namespace tessera::engine {

/// Reasons for which an instruction may wait.
enum class Cause : std::uint8_t { load, arithmetic, matrix, branch };
constexpr std::size_t kCauses = 4;
using Waits = std::array<std::uint64_t, kCauses>;  ///< times waited, by cause

/// Units that may not take operands every time.
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

/// Registers, a bit each.
struct RegisterMask {
  std::uint64_t base = 0;  ///< x registers, then f registers
  std::uint64_t unit = 0;  ///< registers of the int8 unit, as isa::RegisterSets numbers them

  friend constexpr RegisterMask operator|(RegisterMask a, RegisterMask b) {
    return {a.base | b.base, a.unit | b.unit};
  }
  friend constexpr RegisterMask operator&(RegisterMask a, RegisterMask b) {
    return {a.base & b.base, a.unit & b.unit};
  }
  constexpr RegisterMask operator~() const { return {~base, ~unit}; }
  bool operator==(const RegisterMask&) const = default;

  /// Calls visit(number) for each register, in order; those of the unit follow from kBase on.
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
  static constexpr unsigned kFloating = 32;  ///< f registers stand above the x registers
  RegisterMask uses;                         ///< registers that it reads or writes
  RegisterMask loads;                        ///< those that it writes from memory
  RegisterMask makes;                        ///< those that it computes
  RegisterMask accumulates;  ///< those in which it awaits no earlier result of its own unit
  std::uint32_t slots = 1;   ///< in each of which it issues
  std::uint32_t load_latency = 1;
  std::uint32_t latency = 1;
  std::uint32_t interval = 1;
  Unit unit = Unit::none;
  Cause cause = Cause::arithmetic;  ///< cause of waits for its results
  bool paired = false;              ///< may issue with the instruction before it
};

/// When each unit takes operands again.
using UnitTimes = std::array<std::uint64_t, kUnits>;

/// Where one context stands.
class Scoreboard {
 public:
  using Time = std::uint64_t;
  static constexpr unsigned kRegisters = RegisterMask::kBase + isa::RegisterSets::kUnitRegisters;

  /// `distance`: from one issue of the context to its next at the earliest.
  explicit Scoreboard(std::uint32_t distance = 1) : distance_(distance) {}

  struct Ready {
    Time at;      ///< when slot, registers and units are there
    Time waited;  ///< cycles of that spent waiting beyond the slot
    Cause cause;  ///< the last of these to be ready, if it waited
  };
  /// For instructions that are to issue together.
  [[nodiscard]] Ready ready(std::span<const Demand> group, const UnitTimes& units) const;
  /// Earliest time, if no unit is busy.
  [[nodiscard]] Ready ready(std::span<const Demand> group) const;
  /// Instructions that issue with the first of `group`, at `at`: all of it, or the first half of a
  /// pair whose second half is not ready.
  [[nodiscard]] std::span<const Demand> together(std::span<const Demand> group, Time at,
                                                 const UnitTimes& units) const {
    return group.size() > 1 && ready(group.last(1), units).at > at ? group.first(1) : group;
  }
  /// It issues at `at`, not before it is ready, then as often as it must, each time when the
  /// context's next slot has come.
  void issue(std::span<const Demand> group, Time at, UnitTimes& units);
  /// Its issue of number `step` alone: at `at`, not before the context's slot.
  void issue(std::span<const Demand> group, std::uint32_t step, Time at, UnitTimes& units);
  /// A branch, issued last, is taken: the next issue is no earlier than `latency` after its slot.
  void branch(std::uint32_t latency) { next_ = std::max(next_, end_ - 1 + latency); }
  /// Nothing issues before `time`.
  void hold_until(Time time) { slot_ = next_ = std::max(time, next_); }

  [[nodiscard]] Time slot() const { return slot_; }  ///< the context's next
  [[nodiscard]] Time next() const { return next_; }  ///< slot(), or later behind a taken branch
  [[nodiscard]] Time end() const { return end_; }    ///< after the last slot that was occupied

  /// All that is to come comes so much later.
  void delay(Time cycles);

  /// A result is under way until `time`.
  void expect(unsigned number, Time time, Cause cause);
  /// Results that no later issue waits for are under way no longer.
  void forget_past() {
    pending_.each([&](unsigned number) {
      if (times_[number] <= slot_) pending_ = pending_ & ~RegisterMask::of(number);
    });
  }
  /// Calls visit(number, time, cause) for each result that comes after `time`, in order.
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
  RegisterMask pending_;  ///< registers whose results may be under way
  std::array<Time, kRegisters> times_{};
  std::array<Cause, kRegisters> causes_{};
};

/// Slots that a group takes: none where it is `run` or its like.
inline std::uint32_t issued_slots(std::span<const Demand> group) {
  std::uint32_t slots = 0;
  for (const Demand& demand : group) slots = std::max(slots, demand.slots);
  return slots;
}

/// How often a group issues, once at least: `run` and its like take no slot.
inline std::uint32_t issues_of(std::span<const Demand> group) {
  return std::max(1U, issued_slots(group));
}

/// The instruction or pair at the front of `demands`, which follow what has been issued.
inline std::span<const Demand> front_group(std::span<const Demand> demands) {
  return demands.first(demands.size() > 1 && demands[1].paired ? 2 : 1);
}

}  // namespace tessera::engine
