#include "models/fabric/verify.h"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>
#include <vector>

#include "models/fabric/descriptor.h"
#include "models/fabric/ports.h"
#include "sim/base/errors.h"

namespace tessera::fabric {
namespace {

struct Use {
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t source;
  std::uint32_t lane;  ///< among the source's sends of that start
  std::uint32_t receiver;
};

using UsesByTile = std::map<std::uint32_t, std::vector<Use>>;

bool same_stream(const Use& a, const Use& b) {
  return std::tie(a.start, a.end, a.source, a.lane) == std::tie(b.start, b.end, b.source, b.lane);
}

/// Checks one port or sender: at most `lanes` concurrent streams, each received by its own tile or
/// by both.
void verify_uses(const char* what, std::uint32_t tile, std::uint32_t lanes,
                 std::vector<Use>& uses) {
  std::sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) {
    return std::tie(a.start, a.end, a.source, a.lane, a.receiver) <
           std::tie(b.start, b.end, b.source, b.lane, b.receiver);
  });
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> busy;  // ends
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const bool with_next = i + 1 < uses.size() && same_stream(uses[i], uses[i + 1]);
    const bool with_previous = i > 0 && same_stream(uses[i - 1], uses[i]);
    check(uses[i].receiver == tile || with_next || with_previous,
          "fabric: tile {}: its {} is taken by tile {} alone at cycle {}", tile, what,
          uses[i].receiver, uses[i].start);
    if (with_previous && uses[i - 1].receiver != uses[i].receiver) continue;
    while (!busy.empty() && busy.top() <= uses[i].start) busy.pop();
    busy.push(uses[i].end);
    check(busy.size() <= lanes, "fabric: tile {}: {} takes {} streams on {} lanes at cycle {}",
          tile, what, busy.size(), lanes, uses[i].start);
  }
}

}  // namespace

void verify_ports(std::span<const program::DescriptorList> lists, const FabricConfig& config,
                  const NodePorts& nodes) {
  if (lists.empty()) return;
  const auto view_of = [](const program::DescriptorList& list) {
    return ListView(list.tile, list.bytes, Address(0));
  };
  const Ports ports(config, sharing_of(view_of(lists[0]).header()));
  UsesByTile senders;
  UsesByTile inputs;
  for (const program::DescriptorList& list : lists) {
    const std::uint32_t tile = index(list.tile);
    const ListView view = view_of(list);
    check(sharing_of(view.header()) == ports.sharing, "fabric: tile {}: runs at another rate",
          tile);
    for (std::uint32_t i = 0; i < view.header().sends; ++i) {
      const SendDescriptor send = view.send(i);
      senders[tile].push_back({send.start, send.start + ports.cycles(send.length), tile, i, tile});
    }
    for (std::uint32_t i = 0; i < view.header().receives; ++i) {
      const ReceiveDescriptor receive = view.receive(i);
      const std::uint32_t source = source_of(receive);
      const std::uint64_t start = receive.start + ports.way_cycles(source, tile);
      inputs[(tile & ~1U) + ((receive.mux & kPortBit) != 0 ? 1 : 0)].push_back(
          {start, start + ports.cycles(receive.length), source, lane_of(receive), tile});
    }
  }
  for (auto& [tile, uses] : senders)
    verify_uses("sender", tile, ports.out * nodes.of(tile).out, uses);
  for (auto& [tile, uses] : inputs)
    verify_uses("input port", tile, ports.in * nodes.of(tile).in, uses);
}

}  // namespace tessera::fabric
