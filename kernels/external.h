#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "sim/config/fields.h"
#include "sim/machine/machine_config.h"
#include "sim/plan/description.h"

/// Operands in memory outside the tiles (machine.external), which rounds bring: what all kernels
/// have of it. A plan of one round brings them once: they stay.
namespace tessera::kernels {

/// Where operands are given and results wanted: in memory outside (true), or on the tiles.
inline constexpr config::Names<bool, 2> kOperandPlaces{{{"tiles", false}, {"external", true}}};

/// Throws KeyError of `key` if the machine has no memory outside that all tiles reach, or it does
/// not hold `bytes`: those of `what`. `others`: what the key may be then.
void require_external(const MachineConfig& machine, std::string_view what, std::uint64_t bytes,
                      std::string_view key = "workload.operands",
                      std::string_view others = "tiles");

/// When a round's operands are brought.
enum class Loads : std::uint8_t {
  apart,   ///< before it, while the tiles wait
  beside,  ///< during the round before, into a second set of arrays
};
/// None in a pinned plan: beside where the machine can.
using PinnedLoads = std::optional<Loads>;
/// Part of each kernel's plan group `rounds`.
void describe(config::Fields& fields, PinnedLoads& loads);
/// Those of a pinned plan. Throws KeyError if the machine cannot.
Loads loads_of(PinnedLoads pinned, const TileConfig& tile);
/// Those that are worth to be priced for so many turns.
std::span<const Loads> loads_for(std::uint64_t turns, const TileConfig& tile);
/// Throws KeyError if a pinned plan has rounds and operands lie on the tiles, or the other way
/// round.
void require_rounds(bool external, bool pinned);

/// Cycles that so many turns take at least, in which tiles work `working` cycles and `moved` bytes
/// come and go: the slower of both and a turn of the other where loads are beside, else both.
std::uint64_t least_cycles(const MachineConfig& machine, Loads loads, std::uint64_t turns,
                           std::uint64_t working, std::uint64_t moved);

/// A buffer outside of equal panels, one behind the other: each what a round brings or a pass
/// stores, in the order in which the tiles hold it.
struct PanelFile {
  /// Writes what panel number `panel` holds from byte `at` on.
  using Fill =
      std::function<void(std::uint64_t panel, std::uint64_t at, std::span<std::byte> into)>;

  std::uint64_t held = 0;  ///< bytes of a panel
  std::uint64_t count = 0;

  /// Bytes from one to the next. Panels and their parts begin at multiples of kGrain: a request of
  /// memory outside reads no more.
  [[nodiscard]] std::uint64_t stride() const { return round_up(held, kGrain); }
  [[nodiscard]] std::uint64_t bytes() const { return stride() * count; }
  /// As OuterArray::contents.
  [[nodiscard]] std::function<void(std::uint64_t, std::span<std::byte>)> contents(Fill fill) const;

  static constexpr std::uint64_t kGrain = 64;
};

}  // namespace tessera::kernels
