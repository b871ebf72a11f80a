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

/// Time and memory of a described program on a machine, found from a few of its tiles: `tiles`
/// stand for all others, so that no tile computes, receives or holds more than one of them.
/// Remembers the costs of calls; one object serves all plans of a workload.
namespace tessera::plan {

constexpr std::uint64_t kNoLimit = UINT64_MAX;  ///< in cycles

/// A program that needs more than so many times a tile's SRAM is not placed.
constexpr std::uint64_t kFarOver = 8;

/// Longer calls, in cycles, are not run to be priced, however few plans are left: they take some
/// hundredths of a second of the host.
constexpr std::uint64_t kMostMeasured = 2'000'000;

/// Pricing a plan carries out all of up to so many requests of memory outside; of more, the first
/// passes or rounds: as tiles come apart they take longer.
constexpr std::uint64_t kMostRequests = 4'000'000;

/// Sizes descriptor lists by the number of streams, with some more for those that a schedule cuts
/// into pieces or sends twice, and schedules nothing.
class CountedLists final : public program::ExchangeSizer {
 public:
  [[nodiscard]] program::ExchangeNeeds needs(
      std::uint32_t exchange, std::span<const program::PlacedCopy> copies) const override;
  [[nodiscard]] std::unique_ptr<program::ExchangeSizer> shortest() const override;

 private:
  bool cut_ = true;  ///< streams are
};

/// An exchange as the fabric schedules it.
struct Scheduled {
  std::uint64_t makespan = 0;
  std::shared_ptr<const program::ExchangeEnds> ends = {};  ///< null: not known
};
/// All of a description's.
using Schedules = std::map<const Exchange*, Scheduled>;

class Pricing {
 public:
  explicit Pricing(MachineCosts& costs) : costs_(costs), steps_(costs) {}

  [[nodiscard]] const MachineConfig& machine() const { return costs_.machine(); }
  [[nodiscard]] MachineCosts& costs() const { return costs_; }
  [[nodiscard]] const StepCosts& steps() const { return steps_; }

  /// Sets how many requests of memory outside a price carries out.
  void carry_out(std::uint64_t requests) { most_requests_ = requests; }

  /// Cycles of a call with the code around it, in `description` the function's. `closely`: measured
  /// at these sizes, not fitted, where workers compete and the call is no long one.
  std::uint64_t call(const Description& description, const Function& function, const Sizes& sizes,
                     bool closely = false);

  /// The measured steps: in each the calls of the slowest of `tiles`, and the exchange of the one
  /// that it asks most of. A tile sends of an array what it holds of it, at most as much as a tile
  /// receives of it; `schedules`: of all of them, for the few plans that are best: calls are priced
  /// closely then, no tile's takes more than is found, and each begins when it has what it
  /// receives. Leaves out: estimates that schedules miss, and that tiles which end early go on, but
  /// from an exchange into calls and into rounds of transfers. What takes more
  /// than `limit` cycles is priced no further: the result is above it then, and no more is known.
  Prediction time(const Description& description, std::span<const Tile> tiles,
                  const Schedules* schedules = nullptr, std::uint64_t limit = kNoLimit);

  /// Cycles of what one tile calls in the measured steps, without the code around them.
  std::uint64_t calls(const Description& description, Tile tile);

  /// Bytes by category of the fullest of `tiles`, placed as the compiler places them; descriptor
  /// lists are counted from pulls, as if a tile sent its whole part of an array. A program that is
  /// far too large counts only arguments and lists. Nothing: more than 32 bits address.
  std::optional<program::CategoryBytes> memory(const Description& description,
                                               std::span<const Tile> tiles);

  /// True if `tiles`, and the tile of the longest lists, hold their parts of the program of all
  /// tiles beside `reserved` bytes, provided that no stream is cut or sent again. False: it does
  /// not fit.
  bool has_room(const Description& description, std::span<const Tile> tiles,
                std::uint64_t reserved);

 private:
  class TimeWalk;
  class StepCalls;
  class Sample;
  /// The machine for placing a program of one tile: it has room for all.
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
