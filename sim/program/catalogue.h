#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/fields.h"
#include "sim/program/machine_costs.h"
#include "sim/program/resource_choice.h"
#include "sim/program/workload.h"

/// The list of kernels as the command line sees it. kernels/catalogue.cpp fills it.
namespace tessera {

/// The options of one kernel: defaults until a config has been read into them.
class KernelOptions {
 public:
  virtual ~KernelOptions() = default;
  virtual void visit(config::Fields& fields) = 0;
  /// Plans the kernel for the machine of `costs`. Throws UserError if the options do not fit the
  /// machine.
  [[nodiscard]] virtual std::unique_ptr<Workload> plan(MachineCosts& costs) const = 0;
};

struct Kernel {
  std::string name;      ///< as in workload.kernel
  std::string sentence;  ///< for `tessera list workloads`
  std::function<std::unique_ptr<KernelOptions>()> options;
};

using Catalogue = std::vector<Kernel>;

template <class Options>
using Planner = std::function<std::unique_ptr<Workload>(const Options&, MachineCosts&)>;

/// A kernel whose options are a plain struct with a `describe(config::Fields&, Options&)` beside
/// it.
template <class Options>
Kernel make_kernel(std::string name, std::string sentence, Planner<Options> planner) {
  class Described : public KernelOptions {
   public:
    explicit Described(Planner<Options> chosen) : planner_(std::move(chosen)) {}
    void visit(config::Fields& fields) override {
      describe(fields, options_);
      fields.field(
          {"used_tiles",
           "number of tiles used, from the first on; 0: the number predicted to be fastest"},
          tiles_, {0, 1U << 24});
    }
    [[nodiscard]] std::unique_ptr<Workload> plan(MachineCosts& costs) const override {
      return plan_for_machine([&](MachineCosts& of) { return planner_(options_, of); }, costs,
                              tiles_);
    }

   private:
    Options options_;
    std::uint32_t tiles_ = 0;
    Planner<Options> planner_;
  };
  return {std::move(name), std::move(sentence),
          [planner] { return std::make_unique<Described>(planner); }};
}
/// As above, for a workload whose constructor plans it from its options.
template <class Options, class Planned>
Kernel make_kernel(std::string name, std::string sentence) {
  return make_kernel<Options>(std::move(name), std::move(sentence),
                              [](const Options& options, MachineCosts& costs) {
                                return std::make_unique<Planned>(options, costs);
                              });
}

}  // namespace tessera
