#pragma once

#include <cstdint>
#include <vector>

#include "sim/program/program.h"

/// A program's control made flat: its steps in order, and the loops as ranges of steps.
namespace tessera::program {

struct FlatStep {
  const ComputeSet* compute = nullptr;  ///< one of these three is set
  const Exchange* exchange = nullptr;
  const HostTransfer* transfer = nullptr;
  bool measured = true;
  /// Begins with a barrier. A superstep is sync, exchange, compute: a compute set that follows an
  /// exchange on every way to it needs no barrier between.
  bool sync = true;
};

/// Steps [begin, end) run `count` times, or as long as `condition` says: then [begin, body) test it
/// and every tile branches behind them. Repeats of one or no iteration and empty ones are gone.
struct FlatLoop {
  std::uint32_t begin;
  std::uint32_t end;
  std::uint32_t count;
  std::uint32_t depth;  ///< of the counters: repeats around it
  const While* condition = nullptr;
  std::uint32_t body = 0;  ///< the step behind the test
};

struct Flow {
  std::vector<FlatStep> steps;
  std::vector<FlatLoop> loops;  ///< by begin, outer ones first
};

/// The flow of `program`, which it points into.
Flow flatten(const Program& program);

}  // namespace tessera::program
