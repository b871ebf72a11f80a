#include "models/chip/ledger.h"

#include <algorithm>

#include "sim/base/errors.h"

namespace tessera {

void Ledger::arrive(const ArrivalGroup& group) {
  const bool first = arrived_.tiles == 0;
  if (arrived_.add(group.arrivals)) {
    open_.last_tile = group.arrivals.last;
    open_.time.compute = group.compute;
    open_.time.exchange = group.exchange;
    open_.time.wait = group.wait;
  }
  const std::uint32_t begun = first ? 0 : open_.program_step + 1;  // kNoStep + 1 is 0
  open_.program_step = std::max(begun, group.steps_begun) - 1;
  open_.least_compute =
      first ? group.least_compute : std::min(open_.least_compute, group.least_compute);
  open_.most_compute = std::max(open_.most_compute, group.most_compute);
  open_.sum_compute += group.sum_compute;
  open_.instructions += group.instructions;
  open_.flops += group.flops;
}

void Ledger::deliver(Bytes delivered, Bytes multicast) {
  open_.exchanged += delivered;
  open_multicast_ += multicast;
}

bool Ledger::close(Cycle release, HostShare host) {
  open_.time.host = host.cycles;
  open_.time.sync = release - arrived_.last_at - host.cycles;
  check(open_.start + open_.time.total() == release,
        "ledger: the parts of superstep {} sum to {}, not {} cycles", superstep_,
        open_.time.total().count(), (release - open_.start).count());
  const bool measured = open_.program_step < steps_.size() && steps_[open_.program_step].measured;
  if (measured) {
    records_.push_back(open_);
    multicast_ += open_multicast_;
    hosted_ += host.bytes;
  }
  closed_ = open_;
  open_ = {};
  open_.start = release;
  open_multicast_ = Bytes(0);
  arrived_ = {};
  ++superstep_;
  return measured;
}

RunResult Ledger::totals() const {
  RunResult result;
  result.supersteps = records_.size();
  result.steps = records_;
  result.multicast_bytes = multicast_;
  result.host_bytes = hosted_;
  for (const SuperstepRecord& step : records_) {
    result.time.compute += step.time.compute;
    result.time.exchange += step.time.exchange;
    result.time.sync += step.time.sync;
    result.time.host += step.time.host;
    result.time.wait += step.time.wait;
    result.instructions += step.instructions;
    result.flops += step.flops;
    result.exchange_bytes += step.exchanged;
  }
  return result;
}

}  // namespace tessera
