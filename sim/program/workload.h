#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/machine/machine_config.h"
#include "sim/program/program.h"
#include "sim/program/tensor_reader.h"

/// The interface between the command line and kernels: the functions of every kernel.
namespace tessera {

struct CheckResult {
  bool passed = false;
  double max_error = 0;           ///< largest absolute error over its bound's scale (see bound)
  double bound = 0;               ///< limit on max_error
  std::string method = {};        ///< full | sample | off
  std::string problem = {};       ///< the worst element and its error; empty if passed
  std::string note = {};          ///< the parts not compared, and why; empty: none
  std::uint64_t compared = 0;     ///< number of elements compared one by one
  std::uint64_t replayed = 0;     ///< elements recomputed with every rounding in plan order
  double mean = 0;                ///< mean of the signed errors over the allowed error
  double rms = 0;                 ///< root mean square of the same
  double threshold = 0;           ///< sample: any element that is off by more ...
  double lone_threshold = 0;      ///< or, alone among its neighbours, by more than this ...
  double missed_probability = 0;  ///< ... is missed at most so probably
};

/// The planner's prediction for the measured region.
struct Prediction {
  std::uint64_t cycles = 0;
  std::uint64_t compute_cycles = 0;
  std::uint64_t exchange_cycles = 0;
  std::uint64_t sync_cycles = 0;
  /// Not included in the others: barriers of supersteps that wait for the host (run.measure host).
  std::uint64_t host_sync_cycles = 0;

  /// The prediction including these barriers, if `host` (the host is measured).
  [[nodiscard]] Prediction measured(bool host) const {
    Prediction all = *this;
    if (!host) return all;
    all.sync_cycles += host_sync_cycles;
    all.cycles += host_sync_cycles;
    return all;
  }
  Prediction& operator+=(const Prediction& more) {
    cycles += more.cycles;
    compute_cycles += more.compute_cycles;
    exchange_cycles += more.exchange_cycles;
    sync_cycles += more.sync_cycles;
    host_sync_cycles += more.host_sync_cycles;
    return *this;
  }
  friend Prediction operator*(std::uint64_t times, const Prediction& each) {
    return {times * each.cycles, times * each.compute_cycles, times * each.exchange_cycles,
            times * each.sync_cycles, times * each.host_sync_cycles};
  }
};

/// How thoroughly results are compared (`run.check`).
enum class CheckMode { automatic, full, sample, off };

/// The parameters of a check.
struct CheckRequest {
  CheckMode mode = CheckMode::automatic;
  std::uint64_t seed = 1;  ///< seed of random choices: the run's
  unsigned threads = 1;    ///< host threads; the result does not depend on them
};

/// From this many flops on a plain reference costs more than most runs.
constexpr std::uint64_t kMostComparedFlops = 10'000'000'000;

/// True if results are compared one by one: `automatic` below `most`.
constexpr bool compares_all(CheckMode mode, std::uint64_t useful_flops,
                            std::uint64_t most = kMostComparedFlops) {
  return mode == CheckMode::full || (mode == CheckMode::automatic && useful_flops < most);
}

/// A planned workload's properties for reports.
struct WorkloadSummary {
  /// The problem in a few words for headings: "4096x4096x4096 f16", the name of a matrix file.
  std::string problem = {};
  /// Which peak `fraction_of_peak` refers to: a type name (f16, f32) or bytes.
  std::string peak_type = {};
  /// The chosen plan, as it can be pinned in a config under workload.plan.
  nlohmann::ordered_json plan = {};
  Prediction prediction = {};
  /// Estimated bytes of the fullest tile beyond its SRAM; may be too high: only compiling tells.
  std::uint64_t bytes_over = 0;
  /// The report's facts on the problem beside its options, by name.
  nlohmann::ordered_json facts = nlohmann::ordered_json::object();
  /// By option that names a file: number of its values not exact in the workload's type.
  std::vector<std::pair<const char*, std::uint64_t>> rounded = {};
  std::uint64_t useful_flops = 0;
  std::uint64_t useful_integer_operations = 0;
  /// Useful bytes of local memory traffic (STREAM counts its arrays).
  std::uint64_t useful_bytes = 0;
  /// Number of runs of the program, built once; run r uses inputs number r (Buffer::inputs). Flops
  /// and predicted cycles are totals of all runs.
  std::uint32_t runs = 1;
};

/// One kernel with one set of options on one machine: planned when constructed.
class Workload {
 public:
  virtual ~Workload() = default;
  [[nodiscard]] const std::string& problem() const { return summary_.problem; }
  [[nodiscard]] const std::string& peak_type() const { return summary_.peak_type; }
  [[nodiscard]] const nlohmann::ordered_json& plan() const { return summary_.plan; }
  [[nodiscard]] const Prediction& prediction() const { return summary_.prediction; }
  [[nodiscard]] std::uint64_t bytes_over() const { return summary_.bytes_over; }
  [[nodiscard]] const nlohmann::ordered_json& facts() const { return summary_.facts; }
  [[nodiscard]] std::uint64_t useful_flops() const { return summary_.useful_flops; }
  [[nodiscard]] std::uint64_t useful_integer_operations() const {
    return summary_.useful_integer_operations;
  }
  [[nodiscard]] std::uint64_t useful_bytes() const { return summary_.useful_bytes; }
  /// Plans that differ in this are not comparable.
  [[nodiscard]] std::array<std::uint64_t, 3> useful_work() const {
    return {useful_flops(), useful_integer_operations(), useful_bytes()};
  }
  [[nodiscard]] std::uint32_t runs() const { return summary_.runs; }
  /// Worker contexts that it starts per tile; 0: all.
  [[nodiscard]] std::uint32_t workers() const { return workers_; }
  /// For a plan for `workers` contexts: starts only so many on a machine that has more.
  void start_workers(std::uint32_t workers);
  /// For a plan for `tiles` tiles: uses only so many of a machine that has more.
  void use_tiles(std::uint32_t tiles) { summary_.facts["used_tiles"] = tiles; }
  [[nodiscard]] program::Program build() const;
  /// The report's facts on one run beside its cycles; nothing by default.
  [[nodiscard]] virtual nlohmann::ordered_json run_facts(std::uint32_t run) const;
  /// The report's facts on the results beside their correctness; nothing by default.
  [[nodiscard]] virtual nlohmann::ordered_json results(const TensorReader& tensors) const;
  /// Compares the finished tensors with the plain reference.
  [[nodiscard]] virtual CheckResult check(const TensorReader& tensors,
                                          const CheckRequest& request) const = 0;
  /// As check(), for the last finished run, if there are several.
  [[nodiscard]] virtual CheckResult check_run(const TensorReader& tensors,
                                              const CheckRequest& request,
                                              std::uint32_t /*run*/) const {
    return check(tensors, request);
  }

 protected:
  /// Builds the program for the machine it was planned for.
  [[nodiscard]] virtual program::Program lowered() const = 0;
  /// Called by a kernel's constructor after planning. `rounded`, if not empty, becomes one of the
  /// facts.
  void summarise(WorkloadSummary summary);

 private:
  WorkloadSummary summary_;
  std::uint32_t workers_ = 0;
};

}  // namespace tessera
