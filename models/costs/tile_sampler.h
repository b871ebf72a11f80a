#pragma once

#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "models/chip/sram.h"
#include "models/tile/tile.h"
#include "sim/program/machine_costs.h"

namespace tessera {

/// Runs one-tile programs on a separate tile, without a machine around it.
/// The sample's transfers from the host bring their bytes; workers access external memory as on the
/// machine. Leaves out: time and bytes of exchanges, time of transfers, waits at barriers.
/// Timing: that of Tile, from the release of each barrier to the arrival at the next.
class TileSampler {
 public:
  /// Uses only `machine`'s tile and the external memory that its workers access; its SRAM is
  /// enlarged for samples.
  explicit TileSampler(const MachineConfig& machine, bool count_activity = false);

  /// Bytes that a transfer from the host brings.
  struct Given {
    Address address;
    std::uint32_t bytes;
    std::function<void(std::span<std::byte>, std::uint64_t number)> contents;
  };
  /// A sample as it is loaded, for any machine that compiles it alike (program::compiled_for).
  struct Prepared {
    std::shared_ptr<const program::CodeImage> code;
    std::vector<program::Segment> segments;                                 ///< inputs too
    std::vector<std::pair<std::uint64_t, std::vector<std::byte>>> outside;  ///< by address
    std::vector<bool> measured;                                             ///< by step
    std::map<std::uint32_t, std::vector<Given>> given;                      ///< by exchange
    std::uint64_t needed = 0;                                               ///< bytes of SRAM
    std::uint32_t workers = 0;                                              ///< contexts it starts
    [[nodiscard]] std::uint64_t bytes() const;
  };
  /// Throws UserError for a sample that is larger than the tile.
  [[nodiscard]] Prepared prepare(const program::Program& sample) const;

  /// The energy-relevant activity of a tile.
  struct Activity {
    ActivityAccount account;
    ChannelRecord outside;  ///< all channels of its external memory
  };
  /// The cost of a sample's measured steps. Throws UserError for a tile fault. Adds the tile's
  /// activity to `activity`, unless null; needs count_activity.
  TileCost run(const Prepared& sample, Activity* activity = nullptr);

 private:
  const TileProgram& decoded(const std::shared_ptr<const program::CodeImage>& image);
  void load(const Prepared& sample);
  void give(const Prepared& sample, Address list, std::map<std::uint32_t, std::uint64_t>& starts);

  void require_room(const program::Program& sample) const;

  MachineConfig machine_;   ///< with one tile
  std::uint32_t sram_kib_;  ///< the machine's
  TileSettings settings_;
  std::optional<Sram> sram_;  ///< none before the first sample
  struct Earlier {
    bool operator()(const program::CodeImage* a, const program::CodeImage* b) const;
  };
  std::map<const program::CodeImage*, std::unique_ptr<TileProgram>, Earlier> programs_;
};

}  // namespace tessera
