#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "sim/config/fields.h"
#include "sim/machine/machine_config.h"
#include "sim/plan/description.h"

/// Operands in external memory (machine.external), which a program loads in rounds. A plan
/// of one round loads them once, and they stay on the tiles.
namespace tessera::kernels {

/// Memory of operands and results: external (true), or the tiles.
inline constexpr config::Names<bool, 2> kOperandPlaces{{{"tiles", false}, {"external", true}}};

/// Throws KeyError naming `key` if the machine has no external memory that all tiles reach, or the
/// `bytes` of `what` do not fit it. `others`: the values of `key` that remain allowed.
void require_external(const MachineConfig& machine, std::string_view what, std::uint64_t bytes,
                      std::string_view key = "workload.operands",
                      std::string_view others = "tiles");

/// When the operands of a round are loaded.
enum class Loads : std::uint8_t {
  apart,   ///< before it, while the tiles wait
  beside,  ///< during the round before, into a second set of arrays
};
/// Nullopt in a pinned plan: beside if the machine can overlap.
using PinnedLoads = std::optional<Loads>;
/// Describes the config key `loads` in a kernel's plan group `rounds`.
void describe(config::Fields& fields, PinnedLoads& loads);
/// The loads of a pinned plan. Throws KeyError if the machine cannot overlap them.
Loads loads_of(PinnedLoads pinned, const TileConfig& tile);
/// The kinds of loads that a planner prices for `turns` rounds.
std::span<const Loads> loads_for(std::uint64_t turns, const TileConfig& tile);
/// Throws KeyError if a pinned plan has rounds but operands lie on the tiles, or the reverse.
void require_rounds(bool external, bool pinned);

/// Lower bound in cycles of `turns` rounds in which tiles work for `working` cycles and move
/// `moved` bytes: their sum, or with overlapped loads the slower of the two plus one round of the
/// other.
std::uint64_t least_cycles(const MachineConfig& machine, Loads loads, std::uint64_t turns,
                           std::uint64_t working, std::uint64_t moved);

/// An external buffer of equally large panels in sequence. A panel holds the data that one round
/// loads or one pass stores, in the order of the tiles' arrays.
struct PanelFile {
  /// Writes the contents of panel `panel` from byte `at` on.
  using Fill =
      std::function<void(std::uint64_t panel, std::uint64_t at, std::span<std::byte> into)>;

  std::uint64_t held = 0;  ///< bytes of a panel
  std::uint64_t count = 0;

  /// Bytes from one panel to the next. Panels and their parts begin at multiples of kGrain, so that
  /// a memory request reads nothing beside them.
  [[nodiscard]] std::uint64_t stride() const { return round_up(held, kGrain); }
  [[nodiscard]] std::uint64_t bytes() const { return stride() * count; }
  /// The buffer's contents, for OuterArray::contents.
  [[nodiscard]] std::function<void(std::uint64_t, std::span<std::byte>)> contents(Fill fill) const;

  static constexpr std::uint64_t kGrain = 64;
};

}  // namespace tessera::kernels
