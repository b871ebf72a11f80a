#include "models/memory/external_estimate.h"

#include <algorithm>
#include <type_traits>

#include "models/memory/outer_traffic.h"
#include "sim/base/errors.h"

namespace tessera {
namespace {

using program::OuterEntry;
using Loads = std::vector<OuterLoad>;

__extension__ using Wide = unsigned __int128;

bool equal(const OuterLoad& a, const OuterLoad& b) {
  static_assert(std::has_unique_object_representations_v<OuterEntry>);
  return std::ranges::equal(std::as_bytes(std::span(a.entries)),
                            std::as_bytes(std::span(b.entries)));
}

std::uint64_t requests_of(const Loads& loads, std::uint32_t request_bytes) {
  std::uint64_t requests = 0;
  for (const OuterLoad& load : loads)
    requests += RequestCutter::sum(load.entries, request_bytes).requests;
  return requests;
}

/// Adds the first `requests` requests of an entry.
void add_first(OuterEntry entry, std::uint64_t requests, std::uint32_t request_bytes,
               std::vector<OuterEntry>& into) {
  std::uint32_t whole = 0;
  std::uint64_t address = entry.address;
  for (; whole < entry.rows && entry.row_bytes > 0; ++whole, address += entry.pitch) {
    const std::uint64_t in_row =
        (address + entry.row_bytes - 1) / request_bytes - address / request_bytes + 1;
    if (in_row > requests) break;
    requests -= in_row;
  }
  const bool cut = whole < entry.rows && entry.row_bytes > 0 && requests > 0;
  OuterEntry part = entry;
  part.local += whole * entry.row_bytes;
  entry.rows = whole;
  into.push_back(entry);
  if (!cut) return;
  part.address = address;
  part.rows = 1;
  part.row_bytes =
      static_cast<std::uint32_t>((address / request_bytes + requests) * request_bytes - address);
  into.push_back(part);
}

/// Adds the bytes of [address, address + bytes) to their channels' counts.
void add_bytes(const ChannelMap& map, std::uint64_t address, std::uint64_t bytes,
               std::vector<std::uint64_t>& channels) {
  const std::uint64_t rounds = bytes / (map.piece() * map.channels());
  for (std::uint64_t& channel : channels) channel += rounds * map.piece();
  bytes -= rounds * map.piece() * map.channels();
  while (bytes > 0) {
    const std::uint64_t here = std::min(bytes, map.piece() - address % map.piece());
    channels[map.place(address).channel] += here;
    address += here;
    bytes -= here;
  }
}

std::uint64_t busiest(const ExternalConfig& config, const Loads& loads) {
  const ChannelMap map(config);
  std::vector<std::uint64_t> channels(config.channels);
  for (const OuterLoad& load : loads)
    for (const OuterEntry& entry : load.entries)
      for (std::uint64_t row = 0; row < entry.rows; ++row)
        add_bytes(map, entry.address + row * entry.pitch, entry.row_bytes, channels);
  return *std::ranges::max_element(channels);
}

/// Runs loads whose tiles are numbered from 0.
std::uint64_t run(const MachineConfig& machine, const Loads& loads) {
  OuterTraffic traffic(machine, static_cast<std::uint32_t>(loads.size()), nullptr);
  for (const OuterLoad& load : loads)
    traffic.start({load.tile, Cycle(0), Address(0), load.entries, {}, 0});
  Cycle last;
  while (!traffic.is_idle())
    for (const OuterTraffic::Ended& ended : traffic.advance_to_end(Cycle(UINT64_MAX)))
      last = ended.done;
  return last.count();
}

/// The first part / whole of each entry's requests: keeps the mix of reads and writes.
Loads part_of(const Loads& loads, std::uint64_t part, std::uint64_t whole,
              std::uint32_t request_bytes) {
  Loads parts;
  for (const OuterLoad& load : loads) {
    OuterLoad& its = parts.emplace_back(OuterLoad{load.tile, {}});
    for (const OuterEntry& entry : load.entries) {
      const Wide own = RequestCutter::sum({&entry, 1}, request_bytes).requests;
      add_first(entry, static_cast<std::uint64_t>((own * part + whole - 1) / whole), request_bytes,
                its.entries);
    }
  }
  return parts;
}

/// Cycles of tiles that share channels.
std::uint64_t together(const MachineConfig& machine, const Loads& loads, std::uint64_t most) {
  const ExternalConfig& config = machine.external;
  const std::uint64_t requests = requests_of(loads, config.request_bytes);
  if (requests <= most) return run(machine, loads);
  const Loads more = part_of(loads, most, requests, config.request_bytes);
  const Loads less = part_of(loads, most / 2, requests, config.request_bytes);
  const std::uint64_t all_bytes = busiest(config, loads);
  const std::uint64_t more_bytes = busiest(config, more);
  const std::uint64_t less_bytes = busiest(config, less);
  const std::uint64_t more_cycles = run(machine, more);
  const std::uint64_t less_cycles = run(machine, less);
  if (more_bytes >= all_bytes) return more_cycles;
  if (more_bytes <= less_bytes || more_cycles <= less_cycles)
    return static_cast<std::uint64_t>(Wide{more_cycles} * all_bytes / more_bytes);
  const Wide rest = Wide{more_cycles - less_cycles} * (all_bytes - more_bytes);
  return more_cycles + static_cast<std::uint64_t>(rest / (more_bytes - less_bytes));
}

}  // namespace

Cycle external_cycles(const MachineConfig& machine, std::span<const OuterLoad> loads,
                      std::uint64_t most_requests) {
  Loads numbered(loads.begin(), loads.end());
  std::ranges::sort(numbered, {}, &OuterLoad::tile);
  const auto twice = std::ranges::adjacent_find(numbered, {}, &OuterLoad::tile);
  check(twice == numbered.end(), "memory: an estimate has two loads of one tile");
  for (std::uint32_t i = 0; i < numbered.size(); ++i) numbered[i].tile = TileId{i};
  if (machine.external.reach == ExternalReach::chip)
    return Cycle(together(machine, numbered, most_requests));
  std::uint64_t last = 0;
  Loads different;
  for (OuterLoad& load : numbered) {
    if (std::ranges::any_of(different, [&](const auto& each) { return equal(each, load); }))
      continue;
    load.tile = TileId{0};
    last = std::max(last, together(machine, {load}, most_requests));
    different.push_back(load);
  }
  return Cycle(last);
}

}  // namespace tessera
