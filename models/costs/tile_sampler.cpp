#include "models/costs/tile_sampler.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "sim/base/errors.h"

namespace tessera {
namespace {

constexpr std::uint32_t kSramKib = 256 * 1024;
constexpr Cycle kMostCycles{1'000'000'000'000};

/// An exchange of the tile with itself: an empty list, which nothing reads.
class NoExchanges final : public program::ExchangeCompiler {
 public:
  [[nodiscard]] program::CompiledExchange compile(
      std::uint32_t /*exchange*/, std::span<const program::PlacedCopy> /*copies*/) const override {
    return {{{TileId{0}, {}}}, Cycle(0), Cycle(0)};
  }
  [[nodiscard]] Cycle cycles(std::span<const program::PlacedCopy> /*copies*/) const override {
    return Cycle(0);
  }
};

MachineConfig lone_tile(MachineConfig machine) {
  machine.tiles = 1;
  machine.tile.sram_kib = std::max(machine.tile.sram_kib, kSramKib);
  return machine;
}

}  // namespace

TileSampler::TileSampler(const MachineConfig& machine, bool count_activity)
    : machine_(lone_tile(machine)) {
  settings_.tile = machine_.tile;
  settings_.count_activity = count_activity;
  settings_.max_cycles = kMostCycles;
}

/// By what code does, so that samples which differ in their data alone share it.
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

void TileSampler::load(const program::Program& sample, const program::Images& images) {
  if (!sram_) sram_.emplace(1, machine_.tile.sram_kib * 1024);
  const program::TileImage& image = images.tiles.front();
  const std::span<std::byte> sram = sram_->tile(TileId{0});
  std::memset(sram.data(), 0, program::total(image.memory));
  std::copy(image.code->bytes.begin(), image.code->bytes.end(), sram.begin());
  for (const program::Segment& segment : image.segments)
    std::copy(segment.bytes.begin(), segment.bytes.end(), sram.begin() + segment.address.count());
  for (const program::BufferId id : image.initialised) {
    const program::Buffer& buffer = sample.buffer(id);
    const Address address = images.buffer_address[static_cast<std::size_t>(id)];
    buffer.fill(sram.subspan(address.count(), buffer.bytes), 0);
  }
}

TileCost TileSampler::run(const program::Program& sample, ActivityAccount* account) {
  const program::Images images = program::compile(sample, machine_, NoExchanges());
  load(sample, images);
  Tile tile(settings_, decoded(images.tiles.front().code), TileId{0},
            sram_->tile(TileId{0}).data());
  if (account != nullptr) tile.record(account);
  engine::Session session;
  TileCost cost;
  for (;;) {
    const Arrival& arrival = tile.run(session);
    check(arrival.kind != Standing::Kind::limit, "costs: a sample ran past cycle {}",
          kMostCycles.count());
    if (arrival.kind == Standing::Kind::done) break;
    if (arrival.kind == Standing::Kind::exchange_wait) {
      tile.complete_exchange(arrival.at, arrival.at, Bytes(0), Bytes(0));
      continue;
    }
    const bool measured = arrival.step < images.steps.size() && images.steps[arrival.step].measured;
    if (measured) ++cost.supersteps;
    tile.pass_barrier(arrival.at, measured);
  }
  cost.compute_cycles = tile.statistics().compute.count();
  return cost;
}

}  // namespace tessera
