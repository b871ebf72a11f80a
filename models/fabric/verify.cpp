#include "models/fabric/verify.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "models/fabric/descriptor.h"
#include "sim/base/errors.h"

namespace tessera::fabric {
namespace {

struct Use {
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t source;
  std::uint32_t listener;
};

using UsesByTile = std::map<std::uint32_t, std::vector<Use>>;

bool same_stream(const Use& a, const Use& b) {
  return std::tie(a.start, a.end, a.source) == std::tie(b.start, b.end, b.source);
}

/// One port or sender: streams one after the other, each heard by its own tile or by both.
void verify_uses(const char* what, std::uint32_t tile, std::vector<Use>& uses) {
  std::sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) {
    return std::tie(a.start, a.end, a.source, a.listener) <
           std::tie(b.start, b.end, b.source, b.listener);
  });
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const bool with_next = i + 1 < uses.size() && same_stream(uses[i], uses[i + 1]);
    const bool with_previous = i > 0 && same_stream(uses[i - 1], uses[i]);
    if (i > 0) {
      check(uses[i - 1].end <= uses[i].start ||
                (with_previous && uses[i - 1].listener != uses[i].listener),
            "fabric: tile {}: {} takes two streams at cycle {}", tile, what, uses[i].start);
    }
    check(uses[i].listener == tile || with_next || with_previous,
          "fabric: tile {}: its {} is taken by tile {} alone at cycle {}", tile, what,
          uses[i].listener, uses[i].start);
  }
}

}  // namespace

void verify_ports(std::span<const program::DescriptorList> lists, std::uint32_t bytes_per_cycle) {
  UsesByTile senders;
  UsesByTile ports;
  const auto use = [&](const auto& descriptor, std::uint32_t source, std::uint32_t listener) {
    const std::uint64_t cycles =
        ceil_div(std::uint64_t{descriptor.length}, std::uint64_t{bytes_per_cycle});
    return Use{descriptor.start, descriptor.start + cycles, source, listener};
  };
  for (const program::DescriptorList& list : lists) {
    const std::uint32_t tile = index(list.tile);
    const ListView view(list.tile, list.bytes, Address(0));
    for (std::uint32_t i = 0; i < view.header().sends; ++i) {
      senders[tile].push_back(use(view.send(i), tile, tile));
    }
    for (std::uint32_t i = 0; i < view.header().receives; ++i) {
      const ReceiveDescriptor receive = view.receive(i);
      const std::uint32_t port = (tile & ~1U) + ((receive.mux & kPortBit) != 0 ? 1 : 0);
      ports[port].push_back(use(receive, source_of(receive), tile));
    }
  }
  for (auto& [tile, uses] : senders) verify_uses("sender", tile, uses);
  for (auto& [tile, uses] : ports) verify_uses("input port", tile, uses);
}

}  // namespace tessera::fabric
