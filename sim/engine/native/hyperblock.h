#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/engine/native/join.h"

/// Loops whose turn is one list of steps, entered at its top alone, and other such lists
/// (hyperblocks: Mahlke et al., 1992). Of a branch whose two sides soon join, both are done, and a
/// choice is made of their results (if-conversion).
namespace tessera::engine::native {

/// Registers beside the architecture's, for the results of sides.
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
    std::array<std::uint8_t, 2> from{};  ///< rd itself, another's that comes later, or a shadow
  };
  std::vector<Step> loads;                 ///< loads of both sides, into shadows; they come first
  std::array<std::vector<Step>, 2> sides;  ///< straight steps of each side that write shadows alone
  std::vector<Select> x, f;                ///< in this order
  std::array<std::optional<Step>, 2>
      move;  ///< a move of x registers, and one of f registers, of a side
  unsigned shadows_x = 0, shadows_f = 0;
  std::uint32_t reads_x = 0, reads_f = 0;
  bool masked = false;      ///< a side has floating-point operands
  bool skips = false;       ///< the first side stays one, and the branch jumps over it
  std::uint32_t boxed = 0;  ///< f registers whose values a side moves as binary32
  /// The comparison whose result the branch compares with 0, if its operands are still there; none:
  /// null.
  const Op* compared = nullptr;
  isa::Instruction compare;
  bool taken_where_met = false;  ///< the branch, where the comparison holds
  std::uint8_t predicate = 0;    ///< vcmpss predicate; where it holds, the branch is taken
  Spent pass;                    ///< ways that either side takes
  Spent more;  ///< extra cost of the taken side beside `pass`; where `skips`: of the side not taken
  /// Extra cost beside `more` if this branch and that of the next choice are both taken. The next
  /// choice never leaves the loop.
  std::optional<Spent> both;
};

/// A choice, and the step that comes after it.
struct Chosen {
  Choice choice;
  Place after;
};

constexpr Place kNowhere{SIZE_MAX, 0};  ///< the head of what is no loop

/// The choice that the last of `steps`, a branch, becomes; nothing if its sides do too much or do
/// not join. Sides that join at `head`, the first step of a loop, go on there; outside loops they
/// do little, as branches that are taken now and then cost less there.
std::optional<Chosen> choice_of(Joins& joins, std::span<const Step> steps, const Place& head);

struct Hyperblock {
  /// The last one ends the turn; Kind::pass and Kind::choose may be among the others.
  std::vector<Step> steps;
  std::int64_t most_slots = 0;  ///< upper bound for one turn
  bool inner = false;           ///< edges are taken within the turn
  bool loop = true;             ///< false: one turn, which ends as its last step's node does
};

struct Loops {
  std::vector<std::optional<Hyperblock>> of;  ///< by node: the hyperblock that starts there
  std::vector<Choice> choices;                ///< Step::choice
  /// Nodes that are come to although choices are made, as far as there is room, and those of loops
  /// that are kept. Others hold what sides of choices are.
  std::vector<bool> kept;
};

/// Where pipelines have states (`timed`) sides leave different ones behind: there are no choices.
/// Keeps nodes of about `most_steps` instructions.
Loops find_loops(const Region& region, bool timed, std::size_t most_steps);

}  // namespace tessera::engine::native
