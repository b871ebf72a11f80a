#include "models/chip/ledger.h"

#include <algorithm>

#include "sim/base/errors.h"

namespace tessera {

void Ledger::arrive(TileId tile, const Arrival& arrival) {
  const TileSpan& span = arrival.span;
  const Cycle compute = arrival.at - open_.start - span.exchange - span.wait;
  const bool first = arrived_++ == 0;
  if (first || arrival.at > last_arrival_ ||
      (arrival.at == last_arrival_ && index(tile) < index(open_.last_tile))) {
    last_arrival_ = arrival.at;
    open_.last_tile = tile;
    open_.time.compute = compute;
    open_.time.exchange = span.exchange;
    open_.time.wait = span.wait;
  }
  if (first) {
    open_.program_step = program::kNoStep;
    open_.least_compute = compute;
  }
  open_.least_compute = std::min(open_.least_compute, compute);
  open_.sum_compute += compute.count();
  open_.instructions += span.instructions;
  open_.flops += span.flops;
  if (arrival.step != program::kNoStep &&
      (open_.program_step == program::kNoStep || arrival.step > open_.program_step))
    open_.program_step = arrival.step;
}

void Ledger::deliver(Bytes delivered, Bytes multicast) {
  open_.exchanged += delivered;
  open_multicast_ += multicast;
}

bool Ledger::close(Cycle release) {
  open_.time.sync = release - last_arrival_;
  check(open_.start + open_.time.total() == release,
        "ledger: the parts of superstep {} sum to {}, not {} cycles", superstep_,
        open_.time.total().count(), (release - open_.start).count());
  const bool measured = open_.program_step < steps_.size() && steps_[open_.program_step].measured;
  if (measured) {
    records_.push_back(open_);
    multicast_ += open_multicast_;
  }
  open_ = {};
  open_.start = release;
  open_multicast_ = Bytes(0);
  arrived_ = 0;
  ++superstep_;
  return measured;
}

RunResult Ledger::totals() const {
  RunResult result;
  result.supersteps = records_.size();
  result.steps = records_;
  result.multicast_bytes = multicast_;
  for (const SuperstepRecord& step : records_) {
    result.time.compute += step.time.compute;
    result.time.exchange += step.time.exchange;
    result.time.sync += step.time.sync;
    result.time.wait += step.time.wait;
    result.instructions += step.instructions;
    result.flops += step.flops;
    result.exchange_bytes += step.exchanged;
  }
  return result;
}

}  // namespace tessera
