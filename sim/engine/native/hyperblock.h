#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/engine/native/join.h"

/// Loops whose turn is one list of steps, entered at its top only, and other such lists
/// (hyperblocks: Mahlke et al., 1992). If the two sides of a branch soon join, both are executed
/// and one's results are selected (if-conversion).
namespace tessera::engine::native {

/// Shadow registers, beyond the architecture's, for the results of sides.
constexpr unsigned kShadows = 12;  ///< for x registers
constexpr unsigned kShadowsF = 3;  ///< for f registers, which have host registers of their own
constexpr std::uint8_t kFirstShadow = 33;  ///< number of the first one; also among f registers
/// Holds 1 where a choice that the next one depends on was taken.
constexpr std::uint8_t kLink = kFirstShadow + kShadows;
constexpr std::size_t kRegisters = kLink + 1;

/// The two sides of a branch: not taken, taken.
struct Choice {
  /// A register that a side writes, and where its value is after each of the two.
  struct Select {
    std::uint8_t rd = 0;
    std::array<std::uint8_t, 2> from{};  ///< rd, the rd of a later Select, or a shadow
  };
  std::vector<Step> loads;                 ///< loads of both sides, into shadows; they come first
  std::array<std::vector<Step>, 2> sides;  ///< straight steps of each side that write only shadows
  std::vector<Select> x, f;                ///< in this order
  std::array<std::optional<Step>, 2>
      move;  ///< a move of x registers, and one of f registers, of a side
  unsigned shadows_x = 0, shadows_f = 0;
  std::uint32_t reads_x = 0, reads_f = 0;
  bool masked = false;      ///< a side has floating-point operands
  bool skips = false;       ///< the branch stays and jumps over the first side
  std::uint32_t boxed = 0;  ///< f registers whose values a side moves as binary32
  /// The float comparison whose result the branch compares with 0, if its operands are still there;
  /// else null.
  const Op* compared = nullptr;
  isa::Instruction compare;
  bool taken_where_met = false;  ///< the branch is taken if the comparison holds
  std::uint8_t predicate = 0;    ///< vcmpss predicate that holds if the branch is taken
  PathCost pass;                 ///< cost of exits, whichever side is taken
  PathCost more;  ///< added to `pass` for the taken side; with `skips`, for the side not taken
  /// Added to `more` if this branch and that of the next choice are both taken. The next choice
  /// never leaves the loop.
  std::optional<PathCost> both;
};

/// A choice, and the step that comes after it.
struct Chosen {
  Choice choice;
  Place after;
};

constexpr Place kNowhere{SIZE_MAX, 0};  ///< the head of lists that are not loops

/// The choice that the last of `steps`, a branch, becomes; nothing if its sides do too much or do
/// not join. Sides that join at `head`, the first step of a loop, go on there. Outside loops only
/// short sides become choices, as rarely taken branches cost less.
std::optional<Chosen> choice_of(Joins& joins, std::span<const Step> steps, const Place& head);

struct Hyperblock {
  /// The last step ends the turn; the others may include Kind::pass and Kind::choose.
  std::vector<Step> steps;
  std::int64_t most_slots = 0;  ///< upper bound for one turn
  bool inner = false;           ///< edges are taken within the turn
  bool loop = true;             ///< false: one turn, which ends as its last step's node does
};

struct Loops {
  std::vector<std::optional<Hyperblock>> of;  ///< by node: the hyperblock that starts there
  std::vector<Choice> choices;                ///< Step::choice
  /// By node: it is still reached despite choices, as far as there is room, or belongs to a kept
  /// loop. The others hold only sides of choices.
  std::vector<bool> kept;
};

/// If `timed`, there are no choices, as sides would leave different pipeline states. Keeps nodes of
/// about `most_steps` instructions.
Loops find_loops(const Region& region, bool timed, std::size_t most_steps);

}  // namespace tessera::engine::native
