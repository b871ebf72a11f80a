#pragma once

#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "sim/machine/machine_config.h"
#include "sim/program/program.h"
#include "sim/program/tensor_reader.h"

/// The seam between the command line and kernels: what every kernel can do.
namespace tessera {

struct CheckResult {
  bool passed = false;
  double max_error = 0;        ///< largest absolute error found over its bound's scale (see bound)
  double bound = 0;            ///< what max_error may reach
  std::string method = {};     ///< full | sample | off
  std::string problem = {};    ///< the worst element and what is wrong with it; empty if passed
  std::string note = {};       ///< what it did not compare, and why; empty: nothing
  std::uint64_t compared = 0;  ///< elements, one by one
  std::uint64_t replayed = 0;  ///< elements computed again, every rounding in the plan's order
  double mean = 0;             ///< of their signed errors over what is allowed
  double rms = 0;              ///< root mean square of the same
  double threshold = 0;        ///< sample: any element that is off by more ...
  double lone_threshold = 0;   ///< or, alone among its neighbours, by more than this ...
  double missed_probability = 0;  ///< ... is missed at most so probably
};

/// What the planner expects of the measured region.
struct Prediction {
  std::uint64_t cycles = 0;
  std::uint64_t compute_cycles = 0;
  std::uint64_t exchange_cycles = 0;
  std::uint64_t sync_cycles = 0;
};

/// How thoroughly results are compared (`run.check`).
enum class CheckMode { automatic, full, sample, off };

/// What a check is asked to do.
struct CheckRequest {
  CheckMode mode = CheckMode::automatic;
  std::uint64_t seed = 1;  ///< of what it chooses at random: the run's
  unsigned threads = 1;    ///< of the host; the result does not depend on them
};

/// From so many on a plain reference costs more than most runs.
constexpr std::uint64_t kMostComparedFlops = 10'000'000'000;

/// Whether results are compared one by one: `automatic` below `most`.
constexpr bool compares_all(CheckMode mode, std::uint64_t useful_flops,
                            std::uint64_t most = kMostComparedFlops) {
  return mode == CheckMode::full || (mode == CheckMode::automatic && useful_flops < most);
}

/// One kernel with one set of options on one machine: planned when constructed.
class Workload {
 public:
  virtual ~Workload() = default;
  /// What the problem is, in a few words for headings: "4096x4096x4096 f16", the name of a matrix
  /// file.
  [[nodiscard]] virtual std::string problem() const = 0;
  /// The chosen plan, as it can be pinned in a config under workload.plan.
  [[nodiscard]] virtual nlohmann::ordered_json plan() const = 0;
  /// What the report says of the problem beside its options, by name; nothing by default.
  [[nodiscard]] virtual nlohmann::ordered_json facts() const;
  [[nodiscard]] virtual Prediction prediction() const = 0;
  [[nodiscard]] virtual std::uint64_t useful_flops() const = 0;
  /// The same of integers; 0: not a matter of those.
  [[nodiscard]] virtual std::uint64_t useful_integer_operations() const { return 0; }
  /// Bytes of local memory that the workload is about (STREAM counts its arrays); 0: not a matter
  /// of bytes.
  [[nodiscard]] virtual std::uint64_t useful_bytes() const { return 0; }
  /// Which peak `fraction_of_peak` refers to: a type name (f16, f32) or bytes.
  [[nodiscard]] virtual std::string peak_type() const = 0;
  [[nodiscard]] virtual program::Program build() const = 0;
  /// How often the program runs, without being built anew, each time with the inputs of that number
  /// (Buffer::inputs). Flops and predicted cycles are those of all runs.
  [[nodiscard]] virtual std::uint32_t runs() const { return 1; }
  /// What the report says of one run beside its cycles; nothing by default.
  [[nodiscard]] virtual nlohmann::ordered_json run_facts(std::uint32_t run) const;
  /// What the report says of what came out, beside whether it is right; nothing by default.
  [[nodiscard]] virtual nlohmann::ordered_json results(const TensorReader& tensors) const;
  /// Compares the finished tensors with the plain reference.
  [[nodiscard]] virtual CheckResult check(const TensorReader& tensors,
                                          const CheckRequest& request) const = 0;
  /// The same for the run that has just ended, where there are several.
  [[nodiscard]] virtual CheckResult check_run(const TensorReader& tensors,
                                              const CheckRequest& request,
                                              std::uint32_t /*run*/) const {
    return check(tensors, request);
  }
};

}  // namespace tessera
