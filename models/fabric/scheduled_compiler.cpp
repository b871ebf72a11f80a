#include "models/fabric/scheduled_compiler.h"

#include <algorithm>
#include <utility>

#include "models/fabric/list_writer.h"
#include "models/fabric/traffic.h"

namespace tessera::fabric {
namespace {

/// Exchanges with more receives are scheduled once: many short streams leave no long gaps.
constexpr std::size_t kMostSinksToRetry = 100'000;
/// If the schedule so far leaves gaps, long streams are cut into pieces of bound / `pieces` cycles,
/// for at most `most_sinks` receives (beyond, it is not worth the time).
struct Cut {
  std::uint64_t pieces;
  std::size_t most_sinks;
};
constexpr Cut kCuts[] = {{4, kMostSinksToRetry}, {12, kMostSinksToRetry}, {16, 20'000}};
/// True if the makespan is more than 2 % above the bound, worth another descriptor.
constexpr bool has_gaps(std::uint64_t makespan, std::uint64_t bound) {
  return makespan > bound + bound / 50;
}

/// Repeated sends, by tile.
std::vector<std::uint32_t> sent_again(const Traffic& traffic, const Schedule& schedule) {
  std::vector<std::uint32_t> again(traffic.tiles);
  for (const Send& send : schedule.sends) ++again[traffic.streams[send.stream].source];
  for (const Stream& stream : traffic.streams) --again[stream.source];
  return again;
}

/// By tile: cycle at which it has received everything.
std::vector<std::uint64_t> last_arrivals(const Traffic& traffic, const Ports& ports,
                                         const Schedule& schedule) {
  std::vector<std::uint64_t> arrivals(traffic.tiles);
  for (const Send& send : schedule.sends) {
    const Stream& stream = traffic.streams[send.stream];
    const std::uint64_t end = send.start + ports.cycles(stream.bytes);
    for (std::uint32_t i = 0; i < send.receptions; ++i) {
      const Sink& sink = traffic.sinks[schedule.receptions[send.first_reception + i].sink];
      for (std::uint32_t k = 0; k < (sink.shared ? 2U : 1U); ++k) {
        const std::uint32_t tile = traffic.receivers[sink.receiver + k].tile;
        arrivals[tile] = std::max(arrivals[tile], end + ports.way_cycles(stream.source, tile));
      }
    }
  }
  return arrivals;
}

/// By tile: cycle at which it has sent and received everything.
program::ExchangeEnds ends_of(const Traffic& traffic, const FabricConfig& config,
                              const Schedule& schedule) {
  const Ports ports(config, schedule.sharing);
  std::vector<std::uint64_t> ends = last_arrivals(traffic, ports, schedule);
  for (const Send& send : schedule.sends) {
    const Stream& stream = traffic.streams[send.stream];
    ends[stream.source] = std::max(ends[stream.source], send.start + ports.cycles(stream.bytes));
  }
  while (!ends.empty() && ends.back() == 0) ends.pop_back();  // an odd number is rounded to a pair
  return {ends.begin(), ends.end()};
}

/// The largest delay of any tile's last reception.
std::uint64_t longest_delay(const std::vector<std::uint64_t>& before,
                            const std::vector<std::uint64_t>& after) {
  std::uint64_t longest = 0;
  for (std::size_t tile = 0; tile < before.size(); ++tile)
    longest = std::max(longest, std::max(after[tile], before[tile]) - before[tile]);
  return longest;
}

/// The shortest schedule of uncut streams, or of cut ones if those leave gaps; with its traffic.
std::pair<Traffic, Scheduled> in_pieces(Traffic whole, const Ports& ports) {
  const std::uint64_t bound = traffic_bound(whole, ports).count();
  Traffic best;
  Scheduled scheduled{ListScheduler(whole, ports).run()};
  for (const auto& [pieces, most_sinks] : kCuts) {
    if (!has_gaps(scheduled.schedule.makespan, bound) || whole.sinks.size() > most_sinks) break;
    const auto piece = static_cast<std::uint32_t>(ceil_div(bound, pieces) * ports.bytes);
    Traffic cut = cut_streams(whole, piece);
    if (cut.streams.size() == whole.streams.size()) continue;
    Schedule better = ListScheduler(cut, ports).run_within(scheduled.schedule.makespan);
    if (better.makespan >= scheduled.schedule.makespan) continue;
    best = std::move(cut);
    scheduled.schedule = std::move(better);
    scheduled.pieces = piece;
  }
  return {scheduled.pieces > 0 ? std::move(best) : std::move(whole), std::move(scheduled)};
}

std::pair<Traffic, Scheduled> sent_once(Traffic whole, const Ports& ports) {
  const std::vector<std::uint32_t> never(whole.tiles);
  Scheduled scheduled{ListScheduler(whole, ports, never).run()};
  return {std::move(whole), std::move(scheduled)};
}

std::size_t bytes_of(const Scheduled& scheduled) {
  return sizeof scheduled + scheduled.schedule.sends.size() * sizeof(Send) +
         scheduled.schedule.receptions.size() * sizeof(Reception) +
         scheduled.usage.lists.size() * sizeof(program::ExchangeUsage::List) +
         scheduled.usage.ends->size() * sizeof(std::uint32_t);
}

}  // namespace

std::shared_ptr<const Scheduled> KeptSchedules::find(const Key& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(key);
  return found == kept_.end() ? nullptr : found->second;
}

void KeptSchedules::keep(const Key& key, std::shared_ptr<const Scheduled> scheduled) {
  constexpr std::size_t kMostBytes = 64U << 20;
  const std::size_t bytes = bytes_of(*scheduled);
  const std::lock_guard lock(mutex_);
  if (bytes_ + bytes > kMostBytes) {
    kept_.clear();
    bytes_ = 0;
  }
  if (kept_.emplace(key, std::move(scheduled)).second) bytes_ += bytes;
}

KeptSchedules::Key ScheduledCompiler::key_of(std::span<const program::PlacedCopy> copies) const {
  return {{config_.send_bytes_per_cycle, config_.receive_bytes_per_cycle, config_.pair_sharing,
           config_.cycles_per_hop, config_.columns, shortest_ ? 1U : 0U},
          program::fingerprint(copies)};
}

ScheduledCompiler::Plan ScheduledCompiler::plan(std::uint32_t exchange,
                                                std::span<const program::PlacedCopy> copies,
                                                bool wants_traffic) const {
  const KeptSchedules::Key key = kept_ != nullptr ? key_of(copies) : KeptSchedules::Key();
  if (auto known = kept_ != nullptr ? kept_->find(key) : nullptr) {
    if (!wants_traffic) return {{}, std::move(known)};
    Traffic traffic = gather_traffic(exchange, copies, known->shares, nodes_);
    if (known->pieces > 0) traffic = cut_streams(traffic, known->pieces);
    return {std::move(traffic), std::move(known)};
  }
  auto [traffic, scheduled] = schedule(exchange, copies);
  auto made = std::make_shared<const Scheduled>(std::move(scheduled));
  if (kept_ != nullptr) kept_->keep(key, made);
  return {std::move(traffic), std::move(made)};
}

std::shared_ptr<const Scheduled> ScheduledCompiler::known(
    std::uint32_t exchange, std::span<const program::PlacedCopy> copies) const {
  return plan(exchange, copies, false).scheduled;
}

std::pair<Traffic, Scheduled> ScheduledCompiler::schedule(
    std::uint32_t exchange, std::span<const program::PlacedCopy> copies) const {
  Traffic whole = gather_traffic(exchange, copies, config_.pair_sharing, nodes_);
  const bool shares =
      whole.sinks.size() <= kMostSinksToRetry &&
      std::ranges::any_of(whole.sinks, [](const Sink& sink) { return sink.shared != 0; });
  auto together = schedule(std::move(whole));
  together.second.shares = config_.pair_sharing;
  const std::uint64_t makespan = together.second.schedule.makespan;
  if (!shares || !has_gaps(makespan, together.second.usage.bound.count())) return together;
  Traffic apart = gather_traffic(exchange, copies, false, nodes_);
  if (traffic_bound(apart, config_).count() >= makespan) return together;
  auto other = schedule(std::move(apart));
  if (other.second.schedule.makespan >= makespan) return together;
  other.second.usage.bound = together.second.usage.bound;
  return other;
}

std::pair<Traffic, Scheduled> ScheduledCompiler::schedule(Traffic whole) const {
  const std::uint64_t bound = traffic_bound(whole, config_).count();
  const program::PortBytes bytes = port_bytes(whole);
  const Ports ports(at_slower_rate(config_));
  auto made = shortest_ ? sent_once(std::move(whole), ports) : in_pieces(std::move(whole), ports);
  if (config_.send_bytes_per_cycle != config_.receive_bytes_per_cycle)
    choose_ports(made.first, made.second.schedule);
  const Schedule& schedule = made.second.schedule;
  made.second.usage = {
      list_sizes(made.first, schedule), Cycle(schedule.makespan), Cycle(bound), bytes,
      std::make_shared<const program::ExchangeEnds>(ends_of(made.first, config_, schedule))};
  return made;
}

void ScheduledCompiler::choose_ports(const Traffic& traffic, Schedule& schedule) const {
  struct Choice {
    Ports ports;
    std::uint64_t bound;
  };
  std::vector<Choice> choices;
  for (const Ports& ports : port_choices(config_))
    choices.push_back({ports, traffic_bound(traffic, ports).count()});
  std::ranges::stable_sort(choices, {}, &Choice::bound);
  if (traffic.sinks.size() > kMostSinksToRetry) choices.resize(1, choices.front());
  const std::vector<std::uint32_t> again = sent_again(traffic, schedule);
  const std::uint64_t makespan = schedule.makespan;
  const auto arrivals = last_arrivals(traffic, Ports(at_slower_rate(config_)), schedule);
  for (const Choice& choice : choices) {
    if (choice.bound >= schedule.makespan) break;
    Schedule other = ListScheduler(traffic, choice.ports, again).run();
    if (other.makespan >= schedule.makespan) continue;
    const std::uint64_t delay =
        longest_delay(arrivals, last_arrivals(traffic, choice.ports, other));
    if (delay <= makespan - other.makespan) schedule = std::move(other);
  }
}

program::CompiledExchange ScheduledCompiler::compile(
    std::uint32_t exchange, std::span<const program::PlacedCopy> copies) const {
  const auto [traffic, scheduled] = plan(exchange, copies, true);
  const program::ExchangeUsage& usage = scheduled->usage;
  return {write_lists(exchange, traffic, scheduled->schedule), usage.makespan, usage.bound,
          usage.ports};
}

program::ExchangeUsage ScheduledCompiler::resource_usage(
    std::uint32_t exchange, std::span<const program::PlacedCopy> copies) const {
  return known(exchange, copies)->usage;
}

Cycle ScheduledCompiler::cycles(std::span<const program::PlacedCopy> copies) const {
  return Cycle(config_.fixed_cycles) + known(0, copies)->usage.makespan;
}

std::unique_ptr<program::ExchangeSizer> ScheduledCompiler::shortest() const {
  if (shortest_) return nullptr;
  auto made = std::make_unique<ScheduledCompiler>(*this);
  made->shortest_ = true;
  return made;
}

std::vector<program::ExchangeUsage::List> longest_lists(
    const FabricConfig& config, std::span<const program::PlacedCopy> copies) {
  struct Ends {
    std::uint64_t received = 0, sends = 0, receives = 0;  ///< bytes; entries of the list
  };
  const Ports ports(at_slower_rate(config));
  std::vector<Ends> tiles;
  const auto at = [&](TileId tile) -> Ends& {
    if (index(tile) >= tiles.size()) tiles.resize(index(tile) + std::size_t{1});
    return tiles[index(tile)];
  };
  std::uint64_t most = 0;
  for (const program::PlacedCopy& copy : copies)
    for (const program::Port& port : copy.destinations)
      most = std::max(most, at(port.tile).received += copy.bytes);
  // A pair may receive the same bytes together: the bound is at least half of that.
  const std::uint64_t bound = ports.least_cycles(0, most / 2);
  const std::uint64_t piece =
      std::max(ceil_div(bound, std::ranges::max(kCuts, {}, &Cut::pieces).pieces) * ports.bytes,
               std::uint64_t{4});
  for (const program::PlacedCopy& copy : copies) {
    const std::uint64_t pieces = ceil_div<std::uint64_t>(copy.bytes, piece);
    at(copy.source.tile).sends += pieces * copy.destinations.size();
    for (const program::Port& port : copy.destinations) at(port.tile).receives += pieces;
  }
  std::vector<program::ExchangeUsage::List> lists;
  for (std::uint32_t tile = 0; tile < tiles.size(); ++tile) {
    const Ends& ends = tiles[tile];
    if (ends.sends + ends.receives == 0) continue;
    lists.push_back({TileId(tile), program::kListHeaderBytes + program::kSendBytes * ends.sends +
                                       program::kReceiveBytes * ends.receives});
  }
  return lists;
}

}  // namespace tessera::fabric
