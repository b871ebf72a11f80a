#pragma once

#include <functional>
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

/// Throws KeyError of workload.operands if the machine has no memory outside that all tiles reach,
/// or it does not hold `bytes`: those of `what`.
void require_external(const MachineConfig& machine, std::string_view what, std::uint64_t bytes);

/// Throws KeyError if a pinned plan has rounds and operands lie on the tiles, or the other way
/// round.
void require_rounds(bool external, bool pinned);

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
