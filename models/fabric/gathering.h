#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/fabric/fabric.h"

namespace tessera::fabric {

/// Exchanges with started participants: one is ready when its last participant has started. Those
/// ready in one cycle are taken in order of their numbers.
class Gathering {
 public:
  struct Ready {
    Cycle cycle;  ///< its last participant started
    std::uint32_t exchange;
    std::vector<Participant> participants;  ///< by tile
  };

  /// Adds a side of an exchange that has `participants` sides.
  void add(std::uint32_t exchange, std::uint32_t participants, const Participant& side);
  /// The cycle of the first ready exchange; nothing if none is ready.
  [[nodiscard]] std::optional<Cycle> next() const;
  /// Removes the first exchange ready at or before `to`.
  std::optional<Ready> take(Cycle to);
  /// See Fabric::missing.
  [[nodiscard]] std::string missing(Token side) const;

 private:
  struct Partial {
    std::uint32_t expected = 0;
    Cycle ready;  ///< the last start so far
    std::vector<Participant> participants;
  };
  std::map<std::uint32_t, Partial> partial_;  ///< by exchange
  std::map<std::pair<Cycle, std::uint32_t>, std::vector<Participant>> ready_;
};

}  // namespace tessera::fabric
