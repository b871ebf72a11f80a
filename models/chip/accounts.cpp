#include "models/chip/accounts.h"

#include <algorithm>

namespace tessera {
namespace {

std::vector<std::vector<TileId>> zones_of(const program::Images& images) {
  std::vector<std::vector<TileId>> zones(1);
  for (std::uint32_t tile = 0; tile < images.tiles.size(); ++tile) {
    const std::size_t zone = images.zone_of.empty() ? 0 : images.zone_of[tile];
    if (zone >= zones.size()) zones.resize(zone + 1);
    zones[zone].push_back(TileId{tile});
  }
  return zones;
}

}  // namespace

Accounts::Accounts(const program::Images& images, bool measure_host,
                   const Recordings::Config& recordings)
    : measure_host_(measure_host),
      steps_(images.steps),
      zones_(zones_of(images)),
      zone_of_(images.zone_of),
      recordings_(recordings, static_cast<std::uint32_t>(images.tiles.size())) {
  if (!measure_host)
    for (program::StepInfo& step : steps_) step.measured &= !step.waits_for_host;
  zone_of_.resize(images.tiles.size());
  for (std::uint32_t zone = 0; zone < zones_.size(); ++zone) accounting_.emplace_back(steps_, zone);
}

bool Accounts::close(std::uint32_t zone, const std::vector<Tile>& tiles, Cycle release) {
  TimeAccounting& accounting = accounting_[zone];
  const bool measured = accounting.close(release);
  if (measured) records_.push_back(accounting.closed());
  recordings_.close(tiles, zones_[zone], accounting.closed(), measured);
  return measured;
}

Cycle Accounts::end() const {
  Cycle last;
  for (const TimeAccounting& accounting : accounting_) last = std::max(last, accounting.start());
  return last;
}

void Accounts::begin_again() {
  const Cycle at = end();
  for (TimeAccounting& accounting : accounting_) accounting.begin_at(at);
}

std::uint64_t Accounts::supersteps() const {
  std::uint64_t sum = 0;
  for (const TimeAccounting& accounting : accounting_) sum += accounting.supersteps();
  return sum;
}

/// Time parts of the zone that computes most, plus its wait for the zone with the longest time. The
/// longest zone may end first: it does not measure another zone's wait for the host.
TimeParts Accounts::time() const {
  Cycle longest;
  const TimeAccounting* busiest = &accounting_.front();
  for (const TimeAccounting& accounting : accounting_) {
    longest = std::max(longest, accounting.time().total());
    if (accounting.time().compute > busiest->time().compute) busiest = &accounting;
  }
  TimeParts time = busiest->time();
  time.wait += longest - time.total();
  return time;
}

RunResult Accounts::totals() const {
  RunResult result;
  for (const TimeAccounting& accounting : accounting_) {
    result.multicast_bytes += accounting.multicast();
    result.host_bytes += accounting.hosted();
  }
  result.time = time();
  result.supersteps = records_.size();
  result.steps = records_;
  for (const SuperstepRecord& step : records_) {
    result.instructions += step.instructions;
    result.flops += step.flops;
    result.exchange_bytes += step.exchanged;
    result.external_read += step.external_read;
    result.external_written += step.external_written;
    result.overlapped += step.overlapped;
  }
  recordings_.add_to(result);
  return result;
}

}  // namespace tessera
