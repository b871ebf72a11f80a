#pragma once

#include <cstdint>
#include <vector>

#include "sim/program/program.h"

/// A program's control, flattened: its steps in order, zone by zone, and the loops as ranges of
/// steps.
namespace tessera::program {

struct FlatStep {
  const ComputeSet* compute = nullptr;  ///< one of these two is set
  const Exchange* exchange = nullptr;
  std::uint32_t number = 0;  ///< index of the exchange in Flow::exchanges
  bool starts = true;        ///< this step starts the exchange, waits for it, or both
  bool waits = true;
  bool measured = true;
  /// Begins with a barrier. A superstep is sync, exchange, compute: a compute set that follows an
  /// exchange, or the start or wait of one, on every way to it needs no barrier between; nor do
  /// starts and waits apart, but between what is measured and what is not. A wait for the host is
  /// a superstep of its own, since it counts only where the host is measured.
  bool sync = true;

  [[nodiscard]] bool waits_for_host() const {
    return exchange != nullptr && exchange->host && waits;
  }
};

/// Steps [begin, end) run `count` times, or as long as `condition` says: then [begin, body) test it
/// and every tile branches behind them. Repeats of one or no iteration and empty ones are gone.
struct FlatLoop {
  std::uint32_t begin;
  std::uint32_t end;
  std::uint32_t count;
  std::uint32_t depth;  ///< index of its counter: the number of repeats around it
  const While* condition = nullptr;
  std::uint32_t body = 0;  ///< the step behind the test
};

struct Flow {
  std::vector<FlatStep> steps;
  std::vector<FlatLoop> loops;             ///< by begin, outer ones first
  std::vector<const Exchange*> exchanges;  ///< by number: in the order of their first steps
  std::vector<std::uint32_t> end_of_zone;  ///< one behind the last step of each

  [[nodiscard]] std::uint32_t begin_of_zone(std::uint32_t zone) const {
    return zone == 0 ? 0 : end_of_zone[zone - 1];
  }
  [[nodiscard]] std::uint32_t zone_of(std::uint32_t step) const {
    std::uint32_t zone = 0;
    while (end_of_zone[zone] <= step) ++zone;
    return zone;
  }
};

/// The flow of `program`, which it points into.
Flow flatten(const Program& program);

}  // namespace tessera::program
