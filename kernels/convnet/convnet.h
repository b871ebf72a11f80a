#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kernels/convnet/plan.h"
#include "kernels/convnet/weights.h"
#include "sim/config/fields.h"

/// The workload `convnet`: an int8 convolutional network on an array of cores with memory tiles,
/// one image from DDR to DDR.
namespace tessera::convnet {

struct Options {
  std::string network = "resnet50";
  std::string image;    ///< a file; empty: seeded
  std::string weights;  ///< a folder of files; empty: those of the network's file, or seeded
  double sparsity = 0;
  std::uint64_t seed = 1;
  std::optional<PinnedPlan> plan;
};
void describe(config::Fields& fields, Options& options);

class Convnet : public Workload {
 public:
  Convnet(const Options& options, MachineCosts& costs);

  [[nodiscard]] CheckResult check(const TensorReader& tensors,
                                  const CheckRequest& request) const override;

 private:
  [[nodiscard]] program::Program lowered() const override;

  std::shared_ptr<Model> model_;
  Plan plan_;
};

}  // namespace tessera::convnet
