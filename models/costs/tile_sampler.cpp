#include "models/costs/tile_sampler.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "sim/base/errors.h"
#include "sim/machine/nodes.h"

namespace tessera {
namespace {

constexpr std::uint32_t kSramKib = 256 * 1024;
constexpr Cycle kMostCycles{1'000'000'000'000};

/// Replaces exchanges: each gets one list that nothing reads, with its own address.
class NoExchanges final : public program::ExchangeCompiler {
 public:
  [[nodiscard]] program::CompiledExchange compile(
      std::uint32_t /*exchange*/, std::span<const program::PlacedCopy> /*copies*/) const override {
    return {{{TileId{0}, std::vector<std::byte>(1)}}, Cycle(0), Cycle(0)};
  }
  [[nodiscard]] Cycle cycles(std::span<const program::PlacedCopy> /*copies*/) const override {
    return Cycle(0);
  }
};

MachineConfig lone_tile(MachineConfig machine) {
  machine.tiles = 1;
  machine.nodes.clear();
  machine.tile.sram_kib = std::max(machine.tile.sram_kib, kSramKib);
  machine.tile.program_kib = 0;  // so code and lists of any length fit in SRAM
  return machine;
}

}  // namespace

TileSampler::TileSampler(const MachineConfig& machine, bool count_activity)
    : machine_(lone_tile(machine)), sram_kib_(machine.tile.sram_kib) {
  settings_.tile = machine_.tile;
  settings_.count_activity = count_activity;
  settings_.max_cycles = kMostCycles;
  settings_.clock_ghz = machine_.clock_ghz;
  if (workers_start_transfers(machine_)) settings_.external = machine_.external;
}

/// Orders by the code's contents, so that samples that differ only in data share it.
bool TileSampler::Earlier::operator()(const program::CodeImage* a,
                                      const program::CodeImage* b) const {
  const auto key = [](const program::CodeImage* image) {
    return std::tie(image->entry, image->worker_stacks, image->steps, image->bytes);
  };
  return key(a) < key(b);
}

const TileProgram& TileSampler::decoded(const std::shared_ptr<const program::CodeImage>& image) {
  const auto found = programs_.find(image.get());
  if (found != programs_.end()) return *found->second;
  auto program = std::make_unique<TileProgram>(
      image, settings_.tile, engine::CodeCounts{settings_.count_activity, settings_.profile});
  return *programs_.emplace(image.get(), std::move(program)).first->second;
}

std::uint64_t TileSampler::Prepared::bytes() const {
  std::uint64_t sum = code->bytes.size();
  for (const program::Segment& segment : segments) sum += segment.bytes.size();
  for (const auto& [address, held] : outside) sum += held.size();
  return sum;
}

/// Throws UserError if the sample is too large for the sampler's tile, and so for the machine's.
void TileSampler::require_room(const program::Program& sample) const {
  constexpr std::uint64_t kBeside = 1U << 20;  // code, arguments, alignment
  std::uint64_t bytes = 0;
  for (const program::Buffer& buffer : sample.buffers()) bytes += buffer.bytes;
  if (bytes + kBeside > sram_bytes(machine_.tile))
    throw UserError(
        "the program does not fit: what a tile works on at once takes {} bytes, allowed {} "
        "(machine.tile.sram_kib = {})",
        bytes, std::uint64_t{sram_kib_} * 1024, sram_kib_);
}

TileSampler::Prepared TileSampler::prepare(const program::Program& sample) const {
  require_room(sample);
  program::Images images = program::compile(sample, machine_, NoExchanges());
  program::TileImage& image = images.tiles.front();
  Prepared prepared{std::move(image.code),        std::move(image.segments), {}, {}, {},
                    program::total(image.memory), machine_.tile.contexts};
  for (const program::BufferId id : image.initialised) {
    const program::Buffer& buffer = sample.buffer(id);
    std::vector<std::byte> bytes(buffer.bytes);
    buffer.fill(bytes, 0);
    prepared.segments.push_back(
        {images.buffer_address[static_cast<std::size_t>(id)], std::move(bytes)});
  }
  for (std::size_t i = 0; i < sample.outers().size(); ++i) {
    const program::OuterBuffer& buffer = sample.outers()[i];
    if (!buffer.contents) continue;
    std::vector<std::byte> bytes(buffer.bytes);
    buffer.contents(0, bytes);
    prepared.outside.emplace_back(images.outer_address[i], std::move(bytes));
  }
  for (const program::StepInfo& step : images.steps) prepared.measured.push_back(step.measured);
  for (const program::HostStream& stream : images.host_streams) {
    for (const program::HostPiece& piece : stream.transfer.pieces) {
      if (!piece.contents) continue;
      const Address base = images.buffer_address[static_cast<std::size_t>(piece.place.buffer)];
      prepared.given[stream.exchange].push_back(
          {base + Address(piece.place.offset), piece.bytes, piece.contents});
    }
  }
  return prepared;
}

void TileSampler::load(const Prepared& sample) {
  if (!sram_) sram_.emplace(1, machine_.tile.sram_kib * 1024);
  const std::span<std::byte> sram = sram_->tile(TileId{0});
  std::memset(sram.data(), 0, sample.needed);
  std::copy(sample.code->bytes.begin(), sample.code->bytes.end(), sram.begin());
  for (const program::Segment& segment : sample.segments)
    std::copy(segment.bytes.begin(), segment.bytes.end(), sram.begin() + segment.address.count());
}

/// Writes the bytes that a started transfer from the host brings; `starts`: start counts by
/// exchange.
void TileSampler::give(const Prepared& sample, Address list,
                       std::map<std::uint32_t, std::uint64_t>& starts) {
  const std::span<std::byte> sram = sram_->tile(TileId{0});
  if (program::carrier_of(sram, list) != program::Carrier::host) return;
  const program::TransferHeader header = program::read_host_list(TileId{0}, sram, list).header;
  const auto given = sample.given.find(header.exchange);
  const std::optional<std::uint64_t> turn =
      program::turn_number(header.turns, starts[header.exchange]++);
  if (given == sample.given.end() || !turn) return;
  for (const Given& each : given->second)
    each.contents(sram.subspan(each.address.count(), each.bytes), *turn);
}

TileCost TileSampler::run(const Prepared& sample, Activity* activity) {
  load(sample);
  settings_.tile.contexts = sample.workers;
  Tile tile(settings_, decoded(sample.code), TileId{0}, sram_->tile(TileId{0}).data());
  if (activity != nullptr) tile.record(&activity->account);
  std::optional<OuterStore> outside;
  if (settings_.external) {
    outside.emplace(*settings_.external, 1);
    for (const auto& [address, bytes] : sample.outside)
      std::ranges::copy(bytes, outside->bytes(TileId{0}, address, bytes.size()).begin());
    tile.reach(outside->bytes(TileId{0}, 0, settings_.external->bytes()));
  }
  engine::Session session;
  TileCost cost;
  bool began = false;
  std::map<std::uint32_t, std::uint64_t> starts;
  for (;;) {
    const Arrival& arrival = tile.run(session);
    check(arrival.kind != WaitReason::Kind::limit, "costs: a sample ran past cycle {}",
          kMostCycles.count());
    if (arrival.kind == WaitReason::Kind::done) break;
    for (const Tile::Start& side : tile.started()) {
      give(sample, side.list, starts);
      tile.deliver(side.list, {side.at, side.at, side.at, Bytes(0), Bytes(0)});
    }
    if (arrival.kind == WaitReason::Kind::transfer) continue;
    if (!began) cost.set_up_cycles = arrival.at.count();
    began = true;
    const bool known = arrival.step < sample.measured.size();
    const bool measured = known && sample.measured[arrival.step];
    if (measured) ++cost.supersteps;
    tile.pass_barrier(arrival.at, measured);
  }
  if (activity != nullptr)
    for (const DramChannel& channel : tile.channels()) activity->outside += channel.statistics();
  cost.compute_cycles = tile.statistics().compute.count();
  return cost;
}

}  // namespace tessera
