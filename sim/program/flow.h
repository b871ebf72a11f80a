#pragma once

#include <cstdint>
#include <vector>

#include "sim/program/program.h"

/// A program's control flow, flattened: its steps in order, zone by zone, and loops as ranges of
/// steps.
namespace tessera::program {

struct FlatStep {
  const ComputeSet* compute = nullptr;  ///< one of these two is set
  const Exchange* exchange = nullptr;
  std::uint32_t number = 0;  ///< index of the exchange in Flow::exchanges
  bool starts = true;        ///< this step starts the exchange, waits for it, or both
  bool waits = true;
  bool measured = true;
  /// True if the step begins with a barrier. A superstep is sync, exchange, compute: a compute set
  /// that follows an exchange (or its start or wait) on every path needs no barrier, nor do
  /// separate starts and waits, except between measured and unmeasured steps. A wait for the host
  /// is a superstep of its own, since it counts only if the host is measured.
  bool sync = true;

  [[nodiscard]] bool waits_for_host() const {
    return exchange != nullptr && exchange->host && waits;
  }
};

/// Steps [begin, end) run `count` times, or while `condition` holds: then [begin, body) is its
/// test, after which every tile branches. Repeats with an empty body or fewer than two iterations
/// are removed.
struct FlatLoop {
  std::uint32_t begin;
  std::uint32_t end;
  std::uint32_t count;
  std::uint32_t depth;  ///< index of its counter: the number of repeats around it
  const While* condition = nullptr;
  std::uint32_t body = 0;  ///< first step after the test
};

struct Flow {
  std::vector<FlatStep> steps;
  std::vector<FlatLoop> loops;             ///< by begin, outer ones first
  std::vector<const Exchange*> exchanges;  ///< by number: in the order of their first steps
  std::vector<std::uint32_t> end_of_zone;  ///< one past the last step of each

  [[nodiscard]] std::uint32_t begin_of_zone(std::uint32_t zone) const {
    return zone == 0 ? 0 : end_of_zone[zone - 1];
  }
  [[nodiscard]] std::uint32_t zone_of(std::uint32_t step) const {
    std::uint32_t zone = 0;
    while (end_of_zone[zone] <= step) ++zone;
    return zone;
  }
};

/// Flattens `program`, which must outlive the result.
Flow flatten(const Program& program);

}  // namespace tessera::program
