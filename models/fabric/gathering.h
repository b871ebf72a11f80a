#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/fabric/fabric.h"

namespace tessera::fabric {

/// Exchanges of which participants have started: they are ready when the last has. Those that are
/// ready in one cycle come in the order of their numbers.
class Gathering {
 public:
  struct Ready {
    Cycle cycle;  ///< its last participant started
    std::uint32_t exchange;
    std::vector<Participant> participants;  ///< by tile
  };

  /// A side of an exchange of so many.
  void add(std::uint32_t exchange, std::uint32_t participants, const Participant& side);
  /// The cycle of the first that is ready; nothing if none is.
  [[nodiscard]] std::optional<Cycle> next() const;
  /// Takes out the first that is ready up to and including `to`.
  std::optional<Ready> take(Cycle to);
  /// Fabric::missing.
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
