#pragma once

#include <optional>

#include "sim/plan/pricing.h"

/// One search for all kernels.
namespace tessera::plan {

/// A described program and the tiles that stand for all others.
struct Described {
  Description description;
  std::vector<Tile> tiles;

  explicit Described(Tile all) : description(all) {}
  Described(Description of, std::vector<Tile> representatives = {0})
      : description(std::move(of)), tiles(std::move(representatives)) {}
  /// Those that are not among them yet.
  void add(std::span<const Tile> more);
};

/// The plans of a workload as the search sees them: options, and of each option variants that need
/// less and less memory and more and more time (supersteps in which operands are loaded, rounds):
/// the bytes of each category fall from variant to variant, or grow.
struct Space {
  std::vector<std::uint64_t> bounds;  ///< by option: cycles that none of its variants beats
  /// Bytes of the fullest tile that no variant goes below; cheap. Absent: 0.
  std::function<std::uint64_t(std::size_t option)> least_bytes;
  std::function<std::uint32_t(std::size_t option)> variants = {};  ///< absent: one
  /// The program and the tiles that stand for all others. Need not outlive the next call of it or
  /// of `least_bytes`: a kernel may keep one option's data.
  std::function<Described(std::size_t option, std::uint32_t variant)> describe;
  std::uint64_t reserved = 0;  ///< bytes of each tile that other parts of the program hold
  /// The exchanges of the best are scheduled, so that their time is exact, unless they are too
  /// many. False for parts of programs.
  bool schedules = true;
  std::size_t finalists = 6;  ///< more where operands lie outside
  /// Where options are too many to be estimated and bounds are what is expected: options like one,
  /// further ones among them, which have numbers behind those of `bounds`. Half of `most_estimated`
  /// options are estimated in the order of their bounds, others are like the best, until that is
  /// better than all those.
  std::function<std::vector<std::size_t>(std::size_t option)> alike = {};
  std::uint64_t most_estimated = 0;
};

struct Found {
  std::size_t option = 0;
  std::uint32_t variant = 0;
  bool fits = false;  ///< else the plan that needs least memory
  Prediction prediction;
  program::CategoryBytes memory{};  ///< on the fullest tile; zeros: more than 32 bits address
};

/// The plan with the fewest predicted cycles that fits the machine's SRAM; the first of equal ones.
Found search(const Space& space, Pricing& pricing);

/// Price of one plan, of option and variant 0. Throws UserError if `schedules` and it does not fit.
Found priced(const Described& described, bool schedules, Pricing& pricing);

// search_schedules.cpp: plans as programs of all tiles.

/// More pulls take seconds to schedule: such a plan is judged by estimates.
constexpr std::uint64_t kMostPulls = 1U << 21;
/// Sum of pulls over all tiles, if each did as much as the one of `tiles` that pulls most.
std::uint64_t all_pulls(const Sequence& steps, std::span<const Tile> tiles);

/// The plan with its exchanges scheduled; nothing: it takes no less than `limit` cycles. Throws
/// UserError if it does not fit.
std::optional<Found> with_schedules(Found estimate, const Description& description,
                                    std::span<const Tile> tiles, Pricing& pricing,
                                    std::uint64_t limit = UINT64_MAX);

/// Memory of a program of all tiles whose exchanges nobody schedules. Throws UserError if it does
/// not fit.
program::CategoryBytes unscheduled(const Description& description, const MachineConfig& machine);

}  // namespace tessera::plan
