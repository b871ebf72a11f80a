#include "models/memory/outer_traffic.h"

#include <algorithm>
#include <cstring>

#include "sim/base/errors.h"

namespace tessera {

OuterTraffic::OuterTraffic(const ExternalConfig& external, double clock_ghz, std::uint32_t tiles,
                           const OuterStore* store, OuterTarget* target)
    : config_(external),
      map_(config_),
      store_(store),
      target_(target),
      clocks_(clock_ghz, config_.dram.clock_ghz),
      channels_(config_.has_channels() ? std::size_t{config_.channels} *
                                             (config_.reach == ExternalReach::tile ? tiles : 1)
                                       : 0,
                DramChannel(config_.dram, clock_ghz, config_.window)),
      dmas_(tiles),
      bounded_(config_.has_channels()),
      latency_(
          clocks_.cycle_of(std::min(config_.dram.cl_clocks, config_.dram.cwl_clocks)).count()) {}

void OuterTraffic::start(Transfer transfer) {
  const std::uint64_t start = transfer.start.count();
  check(start >= now_, "memory: tile {} starts a transfer at cycle {}, which lies in the past",
        index(transfer.tile), start);
  const std::uint32_t number = new_flight();
  Flight& flight = flights_[number];
  flight.unissued = RequestCutter::sum(transfer.entries, config_.request_bytes);
  flight.requests = flight.unfinished = flight.unissued.requests;
  flight.read = Bytes(flight.unissued.read_bytes);
  flight.written = Bytes(flight.unissued.written_bytes);
  flight.transfer = std::move(transfer);
  flight.active = true;
  ++active_;
  if (flight.requests == 0) {
    flight.begin = flight.known_end = start;
    push(start, end, number);
  } else {
    const std::uint32_t tile = index(flight.transfer.tile);
    std::vector<std::uint32_t>& queue = dmas_[tile].flights;
    const auto order = [&](std::uint32_t which) {
      return std::pair(flights_[which].transfer.start, flights_[which].transfer.list);
    };
    queue.insert(std::ranges::upper_bound(queue, order(number), {}, order), number);
    plan_issue(tile);
  }
  if (bounded_) bind(number);
}

std::optional<Cycle> OuterTraffic::next() const {
  if (active_ == 0) return std::nullopt;
  if (config_.has_channels()) return Cycle(bounds_.front().first);
  if (!due_[end].empty() || !due_[finish].empty()) return Cycle(now_);
  const bool waits = std::ranges::any_of(due_, [](const auto& due) { return !due.empty(); });
  const std::uint64_t first = std::min(events_.first(), waits ? now_ + 1 : kNever);
  return first == kNever ? std::nullopt : std::optional(Cycle(first));
}

std::vector<OuterTraffic::Ended> OuterTraffic::advance(Cycle to) {
  std::vector<Ended> ended = advance(to, false);
  if (config_.has_channels())
    refresh_bounds();
  else
    arrive_all();
  return ended;
}

std::vector<OuterTraffic::Ended> OuterTraffic::advance_to_end(Cycle to) {
  check(target_ == nullptr, "memory: transfers with a target end when it answers");
  bounded_ = false;
  bounds_.clear();
  return advance(to, true);
}

std::vector<OuterTraffic::Ended> OuterTraffic::advance(Cycle to, bool to_end) {
  std::vector<Ended> ended;
  for (;;) {
    finish_requests();
    end_flights(ended);
    if (now_ >= to.count() || (to_end && !ended.empty())) return ended;
    go_on();
    now_ = std::min(to.count(), events_.first());
    if (events_.first() == now_)
      events_.take_first([&](const Event& event) { due_[event.phase].push_back(event.who); });
  }
}

std::pair<std::uint64_t, std::uint64_t> OuterTraffic::progress(TileId tile, Address list) const {
  for (const Flight& flight : flights_)
    if (flight.active && flight.transfer.tile == tile && flight.transfer.list == list)
      return {flight.requests - flight.unfinished, flight.requests};
  return {0, 0};
}

void OuterTraffic::push(std::uint64_t cycle, Phase phase, std::uint32_t who) {
  if (cycle == now_)
    due_[phase].push_back(who);
  else
    events_.push(cycle, {who, phase});
}

void OuterTraffic::finish_requests() {
  std::vector<std::uint32_t>& due = due_[finish];
  sort_requests(due);
  for (const std::uint32_t number : due) {
    const Request& request = requests_[number];
    Flight& flight = flights_[request.flight];
    if (store_ != nullptr && !request.piece.outward) copy(flight.transfer, request.piece);
    if (target_ != nullptr && !request.piece.outward) copy_answer(number);
    if (--flight.unfinished == 0) due_[end].push_back(request.flight);
    --dmas_[request.tile].under_way;
    plan_issue(request.tile);
    free_requests_.push_back(number);
    ++steps_;
  }
  due.clear();
}

void OuterTraffic::end_flights(std::vector<Ended>& ended) {
  std::vector<std::uint32_t>& due = due_[end];
  std::ranges::sort(due, {}, [&](std::uint32_t number) {
    return std::pair(flights_[number].transfer.tile, flights_[number].transfer.list);
  });
  for (const std::uint32_t number : due) {
    Flight& flight = flights_[number];
    if (store_ != nullptr && flight.written > Bytes(0)) {
      RequestCutter cutter;
      for (std::uint64_t i = 0; i < flight.requests; ++i) {
        const RequestCutter::Piece piece =
            cutter.next(flight.transfer.entries, config_.request_bytes);
        if (piece.outward) copy(flight.transfer, piece);
      }
    }
    ended.push_back({std::move(flight.transfer), Cycle(flight.begin), Cycle(now_), flight.read,
                     flight.written});
    flight.active = false;
    --active_;
    free_flights_.push_back(number);
  }
  due.clear();
}

/// Processes the rest of this cycle, after its ends.
void OuterTraffic::go_on() {
  for (const std::uint32_t tile : due_[issue]) issue_one(tile);
  due_[issue].clear();
  arrive_all();
  for (const std::uint32_t channel : due_[choose]) choose_requests(channel);
  due_[choose].clear();
  sort_requests(due_[pass]);
  for (const std::uint32_t request : due_[pass]) pass_port(request);
  due_[pass].clear();
}

/// Schedules the tile's next issue as early as possible.
void OuterTraffic::plan_issue(std::uint32_t tile) {
  Dma& dma = dmas_[tile];
  if (dma.flights.empty() || dma.under_way >= config_.outstanding) return;
  const std::uint64_t ready =
      flights_[dma.flights.front()].transfer.start.count() + config_.setup_cycles;
  const std::uint64_t at = std::max({now_, ready, dma.issue_from});
  if (dma.issue_at <= at) return;
  dma.issue_at = at;
  push(at, issue, tile);
}

void OuterTraffic::issue_one(std::uint32_t tile) {
  Dma& dma = dmas_[tile];
  if (dma.issue_at != now_) return;  // outdated: replanned for an earlier transfer
  dma.issue_at = kNever;
  dma.issue_from = now_ + 1;
  issue_next(tile);
  plan_issue(tile);
}

void OuterTraffic::issue_next(std::uint32_t tile) {
  Dma& dma = dmas_[tile];
  const std::uint32_t which = dma.flights.front();
  Flight& flight = flights_[which];
  const std::uint32_t number = new_request();
  Request& request = requests_[number];
  request = {dma.issued++, 0, flight.cutter.next(flight.transfer.entries, config_.request_bytes),
             which, tile};
  flight.begin = std::min(flight.begin, now_);
  --flight.unissued.requests;
  (request.piece.outward ? flight.unissued.written_bytes : flight.unissued.read_bytes) -=
      request.piece.bytes;
  ++flight.unchosen;
  ++flight.unknown;
  ++dma.under_way;
  if (flight.unissued.requests == 0) dma.flights.erase(dma.flights.begin());
  std::uint64_t leaves = now_;
  if (request.piece.outward)
    leaves = dma.port_free = std::max(dma.port_free, now_) + pass_cycles(request.piece.bytes);
  push(leaves + config_.way_cycles, arrive, number);
}

void OuterTraffic::arrive_all() {
  std::vector<std::uint32_t>& due = due_[arrive];
  sort_requests(due);
  for (const std::uint32_t request : due) {
    if (config_.has_channels())
      arrive_at_channel(request);
    else
      arrive_at_target(request);
  }
  due.clear();
}

void OuterTraffic::arrive_at_target(std::uint32_t number) {
  if (target_ == nullptr) return answer(number, Cycle(now_));
  const Request& request = requests_[number];
  const RequestCutter::Piece& piece = request.piece;
  if (data_.size() <= number) data_.resize(number + std::size_t{1});
  std::vector<std::byte>& data = data_[number];
  data.assign(piece.bytes, std::byte{});
  if (piece.outward)
    std::ranges::copy(flights_[request.flight].transfer.sram.subspan(piece.local, piece.bytes),
                      data.begin());
  const std::uint64_t space = config_.reach == ExternalReach::tile ? request.tile : 0;
  target_->send({number, space * config_.bytes() + piece.address, piece.outward, data});
}

void OuterTraffic::answer(std::uint32_t number, Cycle cycle) {
  check(cycle.count() >= now_, "memory: an answer at cycle {}, which lies in the past",
        cycle.count());
  const Request& request = requests_[number];
  Flight& flight = flights_[request.flight];
  --flight.unchosen;
  const std::uint64_t back = cycle.count() + config_.way_cycles;
  requests_[number].last = back;
  if (request.piece.outward) end_known(flight, back);
  push(back, request.piece.outward ? finish : pass, number);
}

void OuterTraffic::arrive_at_channel(std::uint32_t number) {
  const Request& request = requests_[number];
  const ChannelMap::Place place = map_.place(request.piece.address);
  const std::uint32_t space = config_.reach == ExternalReach::tile ? request.tile : 0;
  const std::uint32_t which = space * config_.channels + place.channel;
  DramChannel& channel = channels_[which];
  const bool idle = !channel.next();
  channel.push({place.address, request.piece.bytes, request.piece.outward, number, Cycle(now_)});
  if (idle) push(channel.next()->count(), choose, which);
}

void OuterTraffic::choose_requests(std::uint32_t number) {
  DramChannel& channel = channels_[number];
  std::optional<Cycle> next = channel.next();
  for (; next && next->count() == now_; next = channel.next()) {
    const DramChannel::Service service = channel.serve();
    Request& request = requests_[service.tag];
    Flight& flight = flights_[request.flight];
    --flight.unchosen;
    request.last = service.last.count() + config_.way_cycles;
    if (service.write) {
      end_known(flight, request.last);
      push(request.last, finish, service.tag);
    } else {
      push(service.first.count() + config_.way_cycles, pass, service.tag);
    }
  }
  if (next) push(next->count(), choose, number);
}

void OuterTraffic::pass_port(std::uint32_t number) {
  const Request& request = requests_[number];
  Dma& dma = dmas_[request.tile];
  dma.port_free = std::max(dma.port_free, now_) + pass_cycles(request.piece.bytes);
  const std::uint64_t done = std::max(dma.port_free, request.last);
  end_known(flights_[request.flight], done);
  push(done, finish, number);
}

void OuterTraffic::end_known(Flight& flight, std::uint64_t cycle) {
  --flight.unknown;
  flight.known_end = std::max(flight.known_end, cycle);
}

void OuterTraffic::sort_requests(std::vector<std::uint32_t>& requests) const {
  if (requests.size() < 2) return;
  std::ranges::sort(requests, {}, [&](std::uint32_t number) {
    return std::pair(requests_[number].tile, requests_[number].number);
  });
}

std::uint32_t OuterTraffic::new_flight() {
  if (free_flights_.empty()) {
    flights_.emplace_back();
    return static_cast<std::uint32_t>(flights_.size() - 1);
  }
  const std::uint32_t number = free_flights_.back();
  free_flights_.pop_back();
  flights_[number] = {};
  return number;
}

std::uint32_t OuterTraffic::new_request() {
  if (free_requests_.empty()) {
    requests_.emplace_back();
    return static_cast<std::uint32_t>(requests_.size() - 1);
  }
  const std::uint32_t number = free_requests_.back();
  free_requests_.pop_back();
  return number;
}

void OuterTraffic::copy(const Transfer& transfer, const RequestCutter::Piece& piece) const {
  std::byte* outside = store_->bytes(transfer.tile, piece.address, piece.bytes).data();
  std::byte* inside = transfer.sram.subspan(piece.local, piece.bytes).data();
  if (values_)
    std::memcpy(piece.outward ? outside : inside, piece.outward ? inside : outside, piece.bytes);
}

void OuterTraffic::copy_answer(std::uint32_t number) const {
  const Request& request = requests_[number];
  const std::span<std::byte> sram = flights_[request.flight].transfer.sram;
  std::ranges::copy(data_[number], sram.subspan(request.piece.local).begin());
}

std::uint64_t OuterTraffic::pass_cycles(std::uint64_t bytes) const {
  return ceil_div<std::uint64_t>(bytes, config_.dma_bytes_per_cycle);
}

}  // namespace tessera
