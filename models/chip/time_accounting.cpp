#include "models/chip/time_accounting.h"

#include <algorithm>
#include <utility>

#include "sim/base/errors.h"

namespace tessera {

void TimeAccounting::arrive(const ArrivalGroup& group) {
  const bool first = arrived_.tiles == 0;
  if (arrived_.add(group.arrivals)) {
    open_.last_tile = group.arrivals.last;
    const Path& path = group.path;
    open_.time.compute = group.arrivals.last_at - open_.start - path.blocked();
    open_.time.exchange = path.exchange;
    open_.time.wait = path.wait + path.ports;
    open_.time.port_wait = path.ports;
    open_.time.external = path.external;
    open_.time.host = path.host;
  }
  const std::uint32_t begun = first ? 0 : open_.program_step + 1;  // kNoStep + 1 is 0
  open_.program_step = std::max(begun, group.steps_begun) - 1;
  open_.least_compute =
      first ? group.least_compute : std::min(open_.least_compute, group.least_compute);
  open_.most_compute = std::max(open_.most_compute, group.most_compute);
  open_.sum_compute += group.sum_compute;
  open_.instructions += group.instructions;
  open_.flops += group.flops;
  open_.external_read += group.read;
  open_.external_written += group.written;
  open_.overlapped += group.overlapped;
}

void TimeAccounting::deliver(std::uint32_t exchange, Bytes delivered, Bytes multicast) {
  open_.exchanges.push_back(exchange);
  open_.exchanged += delivered;
  open_multicast_ += multicast;
}

void TimeAccounting::deliver_outside(std::uint32_t exchange, Bytes read, Bytes written) {
  // Called once per tile; the exchange is listed once.
  if (std::ranges::find(open_.exchanges, exchange) == open_.exchanges.end())
    open_.exchanges.push_back(exchange);
  open_.external_read += read;
  open_.external_written += written;
}

void TimeAccounting::deliver_host(std::uint32_t exchange, Bytes bytes) {
  open_.exchanges.push_back(exchange);
  open_hosted_ += bytes;
}

bool TimeAccounting::close(Cycle release) {
  open_.time.sync = release - arrived_.last_at;
  check(open_.start + open_.time.total() == release,
        "accounting: the parts of superstep {} sum to {}, not {} cycles", superstep_,
        open_.time.total().count(), (release - open_.start).count());
  const bool measured = open_.program_step < steps_.size() && steps_[open_.program_step].measured;
  if (measured) {
    time_ += open_.time;
    multicast_ += open_multicast_;
    hosted_ += open_hosted_;
  }
  closed_ = std::exchange(open_, {});
  open_.zone = closed_.zone;
  open_.start = release;
  open_multicast_ = open_hosted_ = Bytes(0);
  arrived_ = {};
  ++superstep_;
  return measured;
}

}  // namespace tessera
