#pragma once

#include <vector>

#include "models/fabric/gathering.h"
#include "models/fabric/mover.h"

namespace tessera::fabric {

/// The base of fabrics that move an exchange as a whole when its last participant has started: the
/// simulator copies its bytes at that event. Exchanges ready in one cycle move in order of their
/// numbers. They affect a tile only at its waits, so it may run ahead of every event.
class ExchangeFabric : public Fabric {
 public:
  explicit ExchangeFabric(const Floorplan& floorplan) : mover_(floorplan) {}

  void leave_values() override { mover_.leave_values(); }
  Token submit(const Participant& side) override;
  [[nodiscard]] std::optional<Cycle> next_event() const override { return gathering_.next(); }
  std::vector<Moved> advance(Cycle to, HostThreads& threads) override;
  [[nodiscard]] Cycle lookahead() const override { return Cycle(UINT64_MAX); }
  [[nodiscard]] std::string missing(Token side) const override { return gathering_.missing(side); }
  [[nodiscard]] std::vector<trace::Transfer> transfers(const Moved& moved) const override;

 protected:
  struct Passage {
    Cycle begin, end;
  };
  /// Time from the first byte's start to the last byte's arrival at tile `to`, for an exchange that
  /// began at `begin`.
  [[nodiscard]] virtual Passage passage(Cycle begin, const Header& header,
                                        const ReceiveDescriptor& receive, TileId to) const = 0;

 private:
  /// Sets when the exchange begins and when each side is done.
  virtual void set_times(Moved& moved, HostThreads& threads) = 0;
  Moved move(Gathering::Ready exchange, HostThreads& threads);

  Mover mover_;
  Gathering gathering_;
};

}  // namespace tessera::fabric
