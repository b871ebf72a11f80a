#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/report/run_folder.h"

/// Attributes the cycles of a run.
namespace tessera::report {

/// Cycles by part, along the last-arriving tile.
struct Parts {
  double compute = 0, exchange = 0, sync = 0, link = 0, host = 0, wait = 0;
  [[nodiscard]] double total() const { return compute + exchange + sync + link + host + wait; }
};

/// The bound of a superstep, phase or run: its largest part. Compute counts as `memory` if tiles
/// only move bytes of their own SRAM: no floating-point operations, or a workload with a peak in
/// bytes.
enum class Bound { compute, exchange, sync, link, memory, host, wait };
std::string_view name_of(Bound bound);

/// The supersteps of one name and kind; or, as kind "host" without supersteps, the measured host
/// transfers before and after the program.
struct Phase {
  std::string name;
  std::string kind;
  std::uint64_t supersteps = 0;
  Parts parts;
  double most_compute = 0;          ///< sum over supersteps of the longest-computing tile
  double mean_compute = 0;          ///< sum over supersteps of the mean over tiles
  std::uint64_t critical_tile = 0;  ///< the tile that came last for the most cycles
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

/// If nodes run independently (goes_by_stages), the phases are the stages, in order, and `largest`
/// is empty.
Analysis analyse(const RunFolder& run);
[[nodiscard]] bool has_stages(const RunFolder& run);
/// True if the nodes run independently (fabric `streams`), so that the phases are the stages.
[[nodiscard]] bool goes_by_stages(const RunFolder& run);

/// Bound of a single superstep, a row of steps.csv.
Bound bound_of_step(const RunFolder& run, std::size_t row);

/// At most one screen of text: bound, phases and the largest supersteps, or the stages.
std::string top(const RunFolder& run, const Analysis& analysis);

/// A table of the parts and phases whose cycles differ between runs, each beside the first run's;
/// the largest difference first.
std::string differences(std::span<const Analysis> analyses);

/// The analysis as data of the page.
nlohmann::ordered_json to_json(const RunFolder& run, const Analysis& analysis);

}  // namespace tessera::report
