#include <algorithm>

#include "sim/base/errors.h"
#include "sim/base/parallel.h"
#include "sim/machine/nodes.h"
#include "sim/program/compiler.h"

namespace tessera::program {

std::vector<PlacedCopy> Compiler::placed(const Exchange& exchange) const {
  std::vector<PlacedCopy> copies;
  copies.reserve(exchange.copies.size());
  for (const Copy& copy : exchange.copies) {
    if (copy.destinations.empty()) continue;
    PlacedCopy& to = copies.emplace_back(PlacedCopy{port(copy.source), copy.bytes, {}});
    to.destinations.reserve(copy.destinations.size());
    for (Place destination : copy.destinations) to.destinations.push_back(port(destination));
  }
  return copies;
}

namespace {

bool is_between_tiles(const Exchange& exchange) {
  return exchange.outside.empty() && !exchange.host && exchange.streams.empty();
}

}  // namespace

/// Enters transfers in program order.
void Compiler::compile_exchanges() {
  std::vector<std::uint32_t>& first = images_.exchange_step;
  first.assign(flow_.exchanges.size(), kNoStep);
  std::vector<std::uint32_t> starts;  // steps
  for (std::uint32_t step = 0; step < flow_.steps.size(); ++step) {
    const FlatStep& flat = flow_.steps[step];
    if (flat.exchange == nullptr || !flat.starts || first[flat.number] != kNoStep) continue;
    first[flat.number] = step;
    starts.push_back(step);
  }
  const std::vector<MadeExchange> ahead = made_ahead();
  for (const std::uint32_t step : starts) {
    const std::uint32_t number = flow_.steps[step].number;
    if (!is_between_tiles(*flow_.exchanges[number]))
      compile_transfer(number);
    else if (ahead.empty())
      enter_exchange(step, made_exchange(number));
    else
      enter_exchange(step, ahead[number]);
  }
}

/// By number: the exchanges between tiles, made on several host threads. Empty if there is nothing
/// to gain, or if a watch may stop before the last.
std::vector<MadeExchange> Compiler::made_ahead() const {
  constexpr std::size_t kFewCopies = 20'000;  // made before a thread has started
  if (watch_ || sizer_.threads() < 2) return {};
  std::vector<std::uint32_t> numbers;
  std::size_t copies = 0;
  for (std::uint32_t number = 0; number < flow_.exchanges.size(); ++number) {
    const Exchange& exchange = *flow_.exchanges[number];
    if (images_.exchange_step[number] == kNoStep || !is_between_tiles(exchange)) continue;
    numbers.push_back(number);
    copies += exchange.copies.size();
  }
  if (numbers.size() < 2 || copies < kFewCopies) return {};
  HostThreads threads(sizer_.threads());
  std::vector<MadeExchange> made(flow_.exchanges.size());
  threads.for_ranges(numbers.size(), 1, [&](std::size_t at, std::size_t /*end*/) {
    made[numbers[at]] = made_exchange(numbers[at]);
  });
  return made;
}

MadeExchange Compiler::made_exchange(std::uint32_t number) const {
  const std::vector<PlacedCopy> copies = placed(*flow_.exchanges[number]);
  if (compiler_ != nullptr) return compiler_->compile(number, copies);
  return sizer_.resource_usage(number, copies);
}

/// Notes the exchange in its steps and adds its lists.
void Compiler::enter_exchange(std::uint32_t step, const MadeExchange& made) {
  const std::uint32_t number = flow_.steps[step].number;
  const Exchange& exchange = *flow_.exchanges[number];
  const auto note = [&](const auto& compiled, const std::shared_ptr<const ExchangeEnds>& ends) {
    for (std::size_t at = step; at < flow_.steps.size(); ++at) {
      if (flow_.steps[at].exchange != &exchange || !flow_.steps[at].starts) continue;
      images_.steps[at].exchange_makespan = compiled.makespan;
      images_.steps[at].exchange_bound = compiled.bound;
      images_.steps[at].exchange_ports = compiled.ports;
      images_.steps[at].exchange_ends = ends;
      if (flow_.steps[at].waits) return;  // the only wait step
    }
  };
  if (const auto* compiled = std::get_if<CompiledExchange>(&made)) {
    note(*compiled, nullptr);
    for (const DescriptorList& list : compiled->lists) add_list(number, list);
    return;
  }
  const auto& usage = std::get<ExchangeUsage>(made);
  if (watch_ && !watch_(usage)) throw Stopped();
  note(usage, usage.ends);
  for (const ExchangeUsage::List& list : usage.lists) enter_list(number, list.tile, list.bytes);
}

/// Writes each node's list of a transfer with external memory or the host, or of streams.
void Compiler::compile_transfer(std::uint32_t number) {
  const Exchange& exchange = *flow_.exchanges[number];
  if (!exchange.outside.empty()) return compile_outer_transfer(number);
  if (exchange.host) return compile_host_transfer(number);
  compile_streams(number);
}

/// Writes each tile's list of a transfer with external memory.
void Compiler::compile_outer_transfer(std::uint32_t number) {
  const Exchange& exchange = *flow_.exchanges[number];
  check(!machine_.external.worker_dma,
        "program: {}: a transfer of supervisors where workers reach external memory",
        exchange.name);
  std::map<TileId, std::vector<OuterEntry>> tiles;
  for (const OuterCopy& copy : exchange.outside) {
    const Port local = port(copy.place);
    const OuterBuffer& outer = program_.outer(copy.outside.buffer);
    check(machine_.external.reach == ExternalReach::chip || outer.tile == local.tile,
          "program: {}: tile {} reaches memory of tile {}", exchange.name, index(local.tile),
          index(outer.tile));
    OuterEntry& entry = tiles[local.tile].emplace_back();
    entry.address =
        images_.outer_address[static_cast<std::size_t>(copy.outside.buffer)] + copy.outside.offset;
    std::ranges::copy(copy.steps, entry.steps);
    entry.pitch = copy.pitch;
    entry.local = local.address.count();
    entry.row_bytes = copy.row_bytes;
    entry.rows = copy.rows;
    entry.outward = copy.outward ? 1 : 0;
  }
  for (const auto& [tile, entries] : tiles) {
    TransferHeader header{};
    header.entries = static_cast<std::uint32_t>(entries.size());
    add_transfer_list(number, tile, header, std::as_bytes(std::span(entries)));
  }
}

/// Writes each tile's list of a host transfer, and the host's.
void Compiler::compile_host_transfer(std::uint32_t number) {
  const Exchange& exchange = *flow_.exchanges[number];
  HostStream stream{number, exchange.name, *exchange.host};
  std::map<TileId, std::vector<HostEntry>> tiles;
  for (const HostPiece& piece : stream.transfer.pieces) {
    const Port at = port(piece.place);
    stream.tiles.push_back(at.tile);
    tiles[at.tile].push_back({at.address.count(), piece.bytes});
  }
  for (const auto& [tile, entries] : tiles) {
    TransferHeader header{};
    header.participants =
        stream.transfer.direction == HostTransfer::Direction::write ? kToHost : kFromHost;
    header.entries = static_cast<std::uint32_t>(entries.size());
    add_transfer_list(number, tile, header, std::as_bytes(std::span(entries)));
  }
  if (compiler_ != nullptr) images_.host_streams.push_back(std::move(stream));
}

StreamEntry Compiler::entry_of(const Walk& walk) const {
  StreamEntry entry{};
  entry.address = port(walk.place).address.count();
  std::ranges::copy(walk.steps, entry.steps);
  entry.unit = walk.unit;
  std::ranges::copy(walk.extents, entry.extents);
  return entry;
}

/// Writes each node's list of the streams that begin together.
void Compiler::compile_streams(std::uint32_t number) {
  const Exchange& exchange = *flow_.exchanges[number];
  std::map<TileId, std::vector<StreamEntry>> tiles;
  for (std::uint32_t i = 0; i < exchange.streams.size(); ++i) {
    const Stream& stream = exchange.streams[i];
    const std::optional<std::uint32_t> kind = stream_number(machine_, stream.name);
    check(kind.has_value(), "program: {}: the machine has no streams {}", exchange.name,
          stream.name);
    const TileId from = port(stream.source.place).tile;
    const auto add = [&](const Walk& walk, bool outward) {
      const TileId tile = port(walk.place).tile;
      check(outward || leads(machine_, machine_.fabric.streams[*kind], index(from), index(tile)),
            "program: {}: streams {} do not lead from {} to {}", exchange.name, stream.name,
            node_name(machine_, index(from)), node_name(machine_, index(tile)));
      StreamEntry entry = entry_of(walk);
      entry.kind = *kind;
      entry.number = i;
      entry.outward = outward ? 1 : 0;
      tiles[tile].push_back(entry);
    };
    add(stream.source, true);
    for (const Walk& walk : stream.destinations) add(walk, false);
  }
  for (const auto& [tile, entries] : tiles) {
    TransferHeader header{};
    header.participants = static_cast<std::uint32_t>(tiles.size());
    header.entries = static_cast<std::uint32_t>(entries.size());
    add_transfer_list(number, tile, header, std::as_bytes(std::span(entries)));
  }
}

/// Completes the header with the exchange number and its turns, and adds the list.
void Compiler::add_transfer_list(std::uint32_t number, TileId tile, TransferHeader header,
                                 std::span<const std::byte> entries) {
  const std::uint64_t size = sizeof header + entries.size();
  if (compiler_ == nullptr) {
    enter_list(number, tile, size);
    return;
  }
  header.exchange = number;
  header.turns = flow_.exchanges[number]->turns;
  std::vector<std::byte> bytes(size);
  std::memcpy(bytes.data(), &header, sizeof header);
  std::ranges::copy(entries, bytes.begin() + sizeof header);
  add_list(number, {tile, std::move(bytes)});
}

/// Counts the list of exchange `number`; returns its tile's state.
TileState& Compiler::enter_list(std::uint32_t number, TileId tile, std::uint64_t bytes) {
  TileState& state = tiles_[index(tile)];
  check(std::ranges::binary_search(state.group->data.exchanges, number),
        "program: {}: tile {} takes no part but has a list", flow_.exchanges[number]->name,
        index(tile));
  ++state.exchanges;
  state.list_bytes += round_up<std::uint64_t>(bytes, kListAlign);
  return state;
}

void Compiler::add_list(std::uint32_t number, const DescriptorList& list) {
  TileState& state = enter_list(number, list.tile, list.bytes.size());
  const std::vector<std::uint32_t>& exchanges = state.group->data.exchanges;
  const auto entry = std::ranges::lower_bound(exchanges, number) - exchanges.begin();
  write_word(state.control_data, static_cast<std::size_t>(entry) * sizeof(std::uint32_t),
             static_cast<std::uint32_t>(state.lists_begin + state.lists.size()));
  state.lists.insert(state.lists.end(), list.bytes.begin(), list.bytes.end());
  state.lists.resize(state.list_bytes);
}

}  // namespace tessera::program
