#include "models/fabric/traffic.h"

#include <algorithm>
#include <tuple>

#include "models/fabric/overlap.h"
#include "sim/base/errors.h"

namespace tessera::fabric {
namespace {

auto source_key(const program::PlacedCopy& copy) {
  return std::tuple(index(copy.source.tile), copy.source.address.count(), copy.bytes);
}

std::vector<std::uint32_t> by_source(std::span<const program::PlacedCopy> copies) {
  std::vector<std::uint32_t> order;
  order.reserve(copies.size());
  for (std::uint32_t i = 0; i < copies.size(); ++i) {
    if (copies[i].bytes > 0 && !copies[i].destinations.empty()) order.push_back(i);
  }
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return source_key(copies[a]) < source_key(copies[b]);
  };
  if (!std::is_sorted(order.begin(), order.end(), before)) {
    std::stable_sort(order.begin(), order.end(), before);
  }
  return order;
}

constexpr std::uint32_t kTileBits = ~std::uint32_t{0} >> 1;  // the bits of Sink::tile

/// Turns receivers into streams: tiles that receive twice go to a further stream, because a port
/// takes a stream once.
class StreamBuilder {
 public:
  StreamBuilder(Traffic& traffic, bool pair_sharing) : to_(traffic), pairs_(pair_sharing) {}

  void add(const Stream& from, std::vector<Receiver>& receivers) {
    const auto before = [](const Receiver& a, const Receiver& b) {
      return std::tie(a.tile, a.address) < std::tie(b.tile, b.address);
    };
    if (!std::is_sorted(receivers.begin(), receivers.end(), before)) {
      std::sort(receivers.begin(), receivers.end(), before);
    }
    while (!receivers.empty()) add_once(from, receivers);
  }

 private:
  void add_once(Stream stream, std::vector<Receiver>& receivers) {
    stream.first_sink = static_cast<std::uint32_t>(to_.sinks.size());
    again_.clear();
    const std::size_t begin = to_.receivers.size();
    for (const Receiver& receiver : receivers) {
      const bool taken = to_.receivers.size() > begin && to_.receivers.back().tile == receiver.tile;
      if (taken) {
        again_.push_back(receiver);
      } else {
        add_sink(receiver, begin);
      }
    }
    stream.sinks = static_cast<std::uint32_t>(to_.sinks.size()) - stream.first_sink;
    to_.streams.push_back(stream);
    receivers.swap(again_);
  }

  void add_sink(const Receiver& receiver, std::size_t begin) {
    const bool partner = pairs_ && receiver.tile % 2 == 1 && to_.receivers.size() > begin &&
                         to_.receivers.back().tile + 1 == receiver.tile &&
                         to_.ports.shares(receiver.tile - 1, receiver.tile);
    if (partner) {
      to_.sinks.back().shared = 1;
    } else {
      to_.sinks.push_back(
          {static_cast<std::uint32_t>(to_.receivers.size()), receiver.tile & kTileBits, 0});
    }
    to_.receivers.push_back(receiver);
  }

  Traffic& to_;
  bool pairs_;
  std::vector<Receiver> again_;
};

[[noreturn]] void throw_no_port(std::uint32_t exchange, std::uint32_t tile, const NodePorts& ports,
                                const char* direction) {
  throw UserError("exchange {}: tile {} ({}) has no port to {} (machine.nodes.ports)", exchange,
                  tile, ports.of(tile).name, direction);
}

void require_ports(std::uint32_t exchange, const Traffic& traffic) {
  if (traffic.ports.classes().size() == 1) return;
  for (const Stream& stream : traffic.streams)
    if (traffic.ports.of(stream.source).out == 0)
      throw_no_port(exchange, stream.source, traffic.ports, "send");
  for (const Receiver& receiver : traffic.receivers)
    if (traffic.ports.of(receiver.tile).in == 0)
      throw_no_port(exchange, receiver.tile, traffic.ports, "receive");
}

}  // namespace

Traffic gather_traffic(std::uint32_t exchange, std::span<const program::PlacedCopy> copies,
                       bool pair_sharing, const NodePorts& ports) {
  check_overlap(exchange, copies);
  Traffic traffic;
  traffic.ports = ports;
  StreamBuilder builder(traffic, pair_sharing);
  const std::vector<std::uint32_t> order = by_source(copies);
  std::size_t all = 0;
  for (const program::PlacedCopy& copy : copies) all += copy.destinations.size();
  traffic.streams.reserve(order.size());
  traffic.sinks.reserve(all);
  traffic.receivers.reserve(all);
  std::vector<Receiver> receivers;
  std::uint32_t highest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const program::PlacedCopy& copy = copies[order[i]];
    highest = std::max(highest, index(copy.source.tile));
    for (const program::Port& port : copy.destinations) {
      highest = std::max(highest, index(port.tile));
      receivers.push_back({index(port.tile), port.address.count()});
    }
    const bool last = i + 1 == order.size() || source_key(copies[order[i + 1]]) != source_key(copy);
    if (last) {
      builder.add({index(copy.source.tile), copy.source.address.count(), copy.bytes, 0, 0, 0},
                  receivers);
    }
  }
  traffic.tiles = order.empty() ? 0 : round_up(highest + 1, 2U);
  require_ports(exchange, traffic);
  return traffic;
}

namespace {

/// Bytes that a class's busiest sender sends (each once) and that its busiest port receives.
struct Busiest {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};

/// By class of nodes.
std::vector<Busiest> busiest_ports(const Traffic& traffic) {
  std::vector<std::uint64_t> sent(traffic.tiles), alone(traffic.tiles), shared(traffic.tiles / 2);
  for (const Stream& stream : traffic.streams) {
    sent[stream.source] += stream.bytes;
    for (std::uint32_t i = 0; i < stream.sinks; ++i) {
      const Sink sink = traffic.sinks[stream.first_sink + i];
      (sink.shared ? shared[sink.tile / 2] : alone[sink.tile]) += stream.bytes;
    }
  }
  std::vector<Busiest> classes(traffic.ports.classes().size());
  for (std::uint32_t tile = 0; tile < traffic.tiles; ++tile) {
    Busiest& busiest = classes[traffic.ports.class_of(tile)];
    busiest.sent = std::max(busiest.sent, sent[tile]);
    busiest.received = std::max(busiest.received, alone[tile]);
    // A pair has two ports; a shared stream takes either of them.
    if (shared[tile / 2] == 0) continue;
    const std::uint64_t pair = alone[tile] + alone[tile ^ 1] + shared[tile / 2];
    busiest.received = std::max(busiest.received, ceil_div(pair, std::uint64_t{2}));
  }
  return classes;
}

/// The maximum of `needs(busiest, class)` over classes that move bytes.
template <class Needs>
std::uint64_t most_of_classes(const Traffic& traffic, const Needs& needs) {
  const std::vector<Busiest> classes = busiest_ports(traffic);
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < classes.size(); ++i)
    if (classes[i].sent + classes[i].received > 0)
      most = std::max(most, needs(classes[i], traffic.ports.classes()[i]));
  return most;
}

/// The maximum over receivers of travel time + the stream's own time.
std::uint64_t last_delivery(const Traffic& traffic, const Ports& ports) {
  if (ports.cycles_per_hop == 0) {
    std::uint32_t most = 0;
    for (const Stream& stream : traffic.streams) most = std::max(most, stream.bytes);
    return ports.cycles(most);
  }
  std::uint64_t last = 0;
  for (const Stream& stream : traffic.streams) {
    for (std::uint32_t i = 0; i < stream.sinks; ++i) {
      const std::uint32_t tile = traffic.sinks[stream.first_sink + i].tile;
      last = std::max(last, ports.cycles(stream.bytes) + ports.way_cycles(stream.source, tile));
    }
  }
  return last;
}

}  // namespace

Traffic cut_streams(const Traffic& traffic, std::uint32_t bytes) {
  Traffic parts{traffic.tiles, {}, traffic.sinks, traffic.receivers, traffic.ports};
  for (const Stream& stream : traffic.streams) {
    const std::uint32_t pieces = ceil_div(stream.bytes, std::max(bytes, 4U));
    const std::uint32_t piece = round_up(ceil_div(stream.bytes, pieces), 4U);
    for (std::uint32_t at = 0; at < stream.bytes; at += piece) {
      Stream part = stream;
      part.address += at;
      part.offset += at;
      part.bytes = std::min(piece, stream.bytes - at);
      parts.streams.push_back(part);
    }
  }
  return parts;
}

Cycle traffic_bound(const Traffic& traffic, const FabricConfig& config) {
  const auto needs = [&](const Busiest& busiest, const NodePorts::Class& its) {
    const auto cycles = [](std::uint64_t bytes, std::uint64_t rate) {
      return bytes == 0 ? 0 : ceil_div(bytes, rate);
    };
    return std::max(
        cycles(busiest.sent, std::uint64_t{config.send_bytes_per_cycle} * its.out),
        cycles(busiest.received, std::uint64_t{config.receive_bytes_per_cycle} * its.in));
  };
  return Cycle(std::max(most_of_classes(traffic, needs), last_delivery(traffic, Ports(config))));
}

Cycle traffic_bound(const Traffic& traffic, const Ports& ports) {
  const auto needs = [&](const Busiest& busiest, const NodePorts::Class& its) {
    return ports.least_cycles(busiest.sent, busiest.received, its.out, its.in);
  };
  return Cycle(std::max(most_of_classes(traffic, needs), last_delivery(traffic, ports)));
}

program::PortBytes port_bytes(const Traffic& traffic) {
  program::PortBytes bytes;
  for (const Stream& stream : traffic.streams) {
    bytes.sent += Bytes(stream.bytes);
    bytes.received += Bytes(std::uint64_t{stream.bytes} * stream.sinks);
  }
  return bytes;
}

}  // namespace tessera::fabric
