#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/report/run_folder.h"

/// Where the time of a run went.
namespace tessera::report {

/// Cycles along the last-arriving tile, by part.
struct Parts {
  double compute = 0, exchange = 0, sync = 0, link = 0, host = 0, wait = 0;
  [[nodiscard]] double total() const { return compute + exchange + sync + link + host + wait; }
};

/// Bound of a superstep, phase or run: its largest part. Computing counts as `memory` where tiles
/// only move bytes of their own SRAM: no floating-point operation, or a workload whose peak is one
/// of bytes.
enum class Bound { compute, exchange, sync, link, memory, host, wait };
std::string_view name_of(Bound bound);

/// The supersteps of one name and kind; or (of kind "host", no superstep) the host's transfers
/// before and after the program, where they are measured.
struct Phase {
  std::string name;
  std::string kind;
  std::uint64_t supersteps = 0;
  Parts parts;
  double most_compute = 0;          ///< sum over supersteps of the tile that computed longest
  double mean_compute = 0;          ///< sum over supersteps of the mean over tiles
  std::uint64_t critical_tile = 0;  ///< that others waited for, for most cycles
  double critical_cycles = 0;       ///< sum over the supersteps in which that tile came last
  double flops = 0, exchange_bytes = 0;
  Bound bound = Bound::compute;
  [[nodiscard]] double imbalance() const {
    return mean_compute > 0 ? most_compute / mean_compute : 1;
  }
};

struct Analysis {
  std::vector<Phase> phases;         ///< longest first
  Phase whole;                       ///< all supersteps together
  std::vector<std::size_t> largest;  ///< rows of the three longest supersteps, longest first
};

/// Where nodes go on by themselves, stages are the phases, in their order, and there are no largest
/// supersteps.
Analysis analyse(const RunFolder& run);
[[nodiscard]] bool has_stages(const RunFolder& run);
/// They are the phases: the machine's nodes go on by themselves.
[[nodiscard]] bool goes_by_stages(const RunFolder& run);

/// Bound of a single superstep, a row of steps.csv.
Bound bound_of_step(const RunFolder& run, std::size_t row);

/// Less than a screen of text: bound, phases and the largest supersteps, or the stages.
std::string top(const RunFolder& run, const Analysis& analysis);

/// A table of the cycles of each part and phase that differ, each run's beside the first one's;
/// what differs most stands first.
std::string differences(std::span<const Analysis> analyses);

/// Writes the analysis for the page.
nlohmann::ordered_json to_json(const RunFolder& run, const Analysis& analysis);

}  // namespace tessera::report
