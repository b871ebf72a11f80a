#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/fabric/fabric.h"
#include "sim/program/image.h"

namespace tessera {

/// The host link, as a fabric: each participating tile holds a list (sim/program/transfer_list.h).
/// A transfer begins when all participants have started it and earlier ones are done, takes the
/// link's latency + bytes / rate, and ends for all tiles at once; if the host is not measured it
/// takes no time, so that no measurement depends on it. What tiles send is read when all have
/// started; what they receive is written at the end. Leaves out: the path from the link's port to
/// the tiles, concurrent transfers in both directions, and a host that prepares data more slowly
/// than the link takes it.
class HostLink final : public fabric::Fabric {
 public:
  HostLink(const MachineConfig& machine, const std::vector<program::HostStream>& streams,
           bool measured);

  void leave_values() override { values_ = false; }
  void begin() override;
  /// Throws UserError naming tile and list if the list belongs to no transfer of the program, or if
  /// its entries differ in size from the transfer's pieces on the tile.
  fabric::Token submit(const fabric::Participant& side) override;
  [[nodiscard]] std::optional<Cycle> next_event() const override;
  std::vector<fabric::Moved> advance(Cycle to, HostThreads& threads) override;
  [[nodiscard]] Cycle lookahead() const override { return Cycle(UINT64_MAX); }
  [[nodiscard]] std::string missing(fabric::Token side) const override;
  /// One entry per tile, with the tile as both source and destination.
  [[nodiscard]] std::vector<trace::Transfer> transfers(const fabric::Moved& moved) const override;

  /// Bytes that transfers named `transfer` brought from the tiles, in order; empty if none did.
  [[nodiscard]] std::span<const std::byte> written(std::string_view transfer) const;
  /// Bytes of all transfers so far, in both directions.
  [[nodiscard]] Bytes moved() const { return moved_; }

 private:
  struct Stream {
    program::HostStream host;
    std::map<TileId, std::vector<std::uint32_t>> sizes;  ///< each tile's pieces, in order
    std::vector<fabric::Participant> started;            ///< sides started in the current turn
    std::uint64_t starts = 0;                            ///< in this run
    std::uint64_t before = 0;                            ///< turns of earlier runs
    std::uint64_t turns = 0;                             ///< that moved bytes in this run
  };
  /// A transfer that all tiles have started.
  struct Flight {
    const Stream* stream;
    std::optional<std::uint64_t> turn;  ///< none: it moves nothing
    fabric::Moved moved;                ///< `begin` and `tiles` are set when it starts
    std::vector<std::byte> sent;
  };

  void join(Stream& stream, const program::Turns& turns);
  void start(Flight& flight);
  void finish(Flight& flight);
  template <class Visit>
  void for_pieces(const Flight& flight, const Visit& visit) const;

  MachineConfig machine_;
  bool measured_;
  bool values_ = true;
  std::map<std::uint32_t, Stream> streams_;  ///< by exchange
  std::vector<Flight> ready_;                ///< not yet started
  std::deque<Flight> under_way_;             ///< by end
  Cycle free_;                               ///< when the link is
  std::map<std::string, std::vector<std::byte>, std::less<>> written_;
  Bytes moved_;
};

}  // namespace tessera
