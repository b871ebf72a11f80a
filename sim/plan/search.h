#pragma once

#include <memory>
#include <optional>

#include "sim/plan/pricing.h"

/// The plan search of all kernels.
namespace tessera::plan {

/// A described program and its representative tiles.
struct Described {
  Description description;
  std::vector<Tile> tiles;

  explicit Described(Tile all) : description(all) {}
  Described(Description of, std::vector<Tile> representatives = {0})
      : description(std::move(of)), tiles(std::move(representatives)) {}
  /// Adds tiles, without duplicates.
  void add(std::span<const Tile> more);
};

/// The plans of a workload: options, each with variants of decreasing memory and increasing time
/// (more supersteps that load operands, or rounds). Over the variants, each memory category must be
/// monotonic (falling or growing).
struct Space {
  std::vector<std::uint64_t> bounds;  ///< by option: lower bound on the cycles of its variants
  /// Lower bound on the fullest tile's bytes, over variants; must be cheap. Absent: 0.
  std::function<std::uint64_t(std::size_t option)> least_bytes;
  std::function<std::uint32_t(std::size_t option)> variants = {};  ///< absent: one
  /// The program and its representative tiles. Valid until the next call of this or of
  /// `least_bytes`: a kernel may keep one option's data.
  std::function<Described(std::size_t option, std::uint32_t variant)> describe;
  std::uint64_t reserved = 0;  ///< bytes per tile reserved for other program parts
  /// True: exchanges of the best plans are scheduled for exact times, unless there are too many.
  /// False for parts of programs.
  bool schedules = true;
  std::size_t finalists = 6;  ///< more for operands in external memory
  /// For option sets too large to estimate, with bounds that are expected values: returns
  /// neighbours of an option, which may have numbers beyond `bounds`. Half of `most_estimated`
  /// options are estimated in order of their bounds; the others are neighbours of the best, until
  /// the best beats all its neighbours.
  std::function<std::vector<std::size_t>(std::size_t option)> alike = {};
  std::uint64_t most_estimated = 0;
};

struct Found {
  std::size_t option = 0;
  std::uint32_t variant = 0;
  bool fits = false;  ///< false: this is the plan with the least memory
  Prediction prediction;
  program::CategoryBytes memory{};  ///< on the fullest tile; zeros: beyond 32-bit addresses
  std::shared_ptr<program::Program> program = {};  ///< lowered; null: only estimated
};

/// The plan with the fewest predicted cycles that fits the machine's SRAM; the first of equals.
Found search(const Space& space, Pricing& pricing);

/// Price of one plan, as option 0, variant 0. Throws UserError if `schedules` is set and it does
/// not fit.
Found priced(const Described& described, bool schedules, Pricing& pricing);

// search_schedules.cpp: plans lowered for all tiles.

/// Plans with more pulls would take seconds to schedule: they are only estimated.
constexpr std::uint64_t kMostPulls = 1U << 21;
/// Upper estimate of pulls over all tiles: each counts as the one of `tiles` that pulls most.
std::uint64_t all_pulls(const Sequence& steps, std::span<const Tile> tiles);

/// The plan with its exchanges scheduled; nothing if it takes `limit` cycles or more. Throws
/// UserError if it does not fit.
std::optional<Found> with_schedules(Found estimate, const Description& description,
                                    std::span<const Tile> tiles, Pricing& pricing,
                                    std::uint64_t limit = UINT64_MAX);

/// Memory of the full program, sized without scheduling its exchanges. Throws UserError if it does
/// not fit.
program::CategoryBytes unscheduled(const Description& description, const MachineConfig& machine);

}  // namespace tessera::plan
