#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/plan/description.h"
#include "sim/plan/step_costs.h"
#include "sim/program/exchange_compiler.h"

/// Time and memory of a described program on a machine, computed from a few representative tiles:
/// no other tile computes, receives or holds more than one of `tiles`. Caches the costs of calls;
/// one object serves all plans of a workload.
namespace tessera::plan {

constexpr std::uint64_t kNoLimit = UINT64_MAX;  ///< in cycles

/// A program above kFarOver times a tile's SRAM is not placed.
constexpr std::uint64_t kFarOver = 8;

/// Longer calls, in cycles, are never run just for pricing: they would take some hundredths of a
/// second of host time.
constexpr std::uint64_t kMostMeasured = 2'000'000;

/// Pricing a plan simulates up to this many requests to external memory; of more, only the first
/// passes or rounds: as tiles drift apart they take longer.
constexpr std::uint64_t kMostRequests = 4'000'000;

/// Sizes descriptor lists without scheduling: from the number of streams, plus an allowance for
/// streams that a schedule cuts or repeats.
class CountedLists final : public program::ExchangeSizer {
 public:
  [[nodiscard]] program::ExchangeUsage resource_usage(
      std::uint32_t exchange, std::span<const program::PlacedCopy> copies) const override;
  [[nodiscard]] std::unique_ptr<program::ExchangeSizer> shortest() const override;

 private:
  bool cut_ = true;  ///< streams may be cut
};

/// The fabric's schedule of an exchange.
struct Scheduled {
  std::uint64_t makespan = 0;
  std::shared_ptr<const program::ExchangeEnds> ends = {};  ///< null: not known
};
/// Schedules of all exchanges of a description.
using Schedules = std::map<const Exchange*, Scheduled>;

class Pricing {
 public:
  explicit Pricing(MachineCosts& costs) : costs_(costs), steps_(costs) {}

  [[nodiscard]] const MachineConfig& machine() const { return costs_.machine(); }
  [[nodiscard]] MachineCosts& costs() const { return costs_; }
  [[nodiscard]] const StepCosts& steps() const { return steps_; }

  /// Sets the number of external-memory requests that pricing simulates.
  void carry_out(std::uint64_t requests) { most_requests_ = requests; }

  /// Cycles of a call with the code around it; `function` is one of `description`'s. `closely`:
  /// measured at these sizes instead of fitted, if workers compete and the call is not long.
  std::uint64_t call(const Description& description, const Function& function, const Sizes& sizes,
                     bool closely = false);

  /// Predicted time of the measured steps: in each, the calls of the slowest of `tiles` and the
  /// exchange of the most loaded one. A tile is taken to send its part of an array, at most as much
  /// as a tile receives of it. `schedules`: of all exchanges, for the few best plans: calls are
  /// then priced closely as an upper bound over tiles, and each begins when its tile has received
  /// its data. Leaves out: deviations of schedules from estimates; early tiles running ahead,
  /// except from an exchange into calls and into rounds of transfers. Above `limit` cycles pricing
  /// stops: the result is then only known to exceed it.
  Prediction time(const Description& description, std::span<const Tile> tiles,
                  const Schedules* schedules = nullptr, std::uint64_t limit = kNoLimit);

  /// Cycles of one tile's calls in the measured steps, without the code around them.
  std::uint64_t calls(const Description& description, Tile tile);

  /// Bytes by category of the fullest of `tiles`, placed as the compiler places them; descriptor
  /// lists are counted from pulls, as if a tile sent its whole part of an array. A program that is
  /// far too large counts only arguments and lists. Nothing if it exceeds 32-bit addresses.
  std::optional<program::CategoryBytes> memory(const Description& description,
                                               std::span<const Tile> tiles);

  /// True if `tiles`, and the tile with the longest lists, can hold their parts of the full program
  /// plus `reserved` bytes, with every stream uncut and sent once. False: it does not fit.
  bool has_room(const Description& description, std::span<const Tile> tiles,
                std::uint64_t reserved);

 private:
  class TimeWalk;
  class StepCalls;
  class Sample;
  /// The machine for placing one-tile programs, with unlimited memory.
  [[nodiscard]] MachineConfig unlimited() const;
  /// Calls without functions: codelet, executor and arguments, with the sizes of arrays.
  using Kind = std::vector<std::uint64_t>;

  std::uint64_t calls(const Description& description, const Sequence& steps, Tile tile,
                      std::uint64_t times);
  std::uint64_t together(const Description& description, const std::vector<Call>& calls);
  std::uint64_t measured(const Description& description, Tile tile,
                         const std::vector<const Call*>& calls, std::uint32_t moment);

  MachineCosts& costs_;
  StepCosts steps_;
  std::uint64_t most_requests_ = kMostRequests;
  std::map<std::string, FittedCost> fitted_;
  std::map<std::pair<std::string, Kind>, std::uint64_t> known_;  ///< by names of codelets and kind
  std::map<std::pair<std::string, Kind>, std::uint64_t> together_;  ///< by functions and sizes
};

}  // namespace tessera::plan
