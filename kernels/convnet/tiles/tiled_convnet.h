#pragma once

#include "kernels/convnet/convnet.h"
#include "kernels/convnet/tiles/plan.h"

/// The workload `convnet` in f16 on machines whose tiles exchange what they hold: one image through
/// a network whose weights lie in SRAM.
namespace tessera::convnet::tiles {

class TiledConvnet : public Workload {
 public:
  TiledConvnet(const Options& options, MachineCosts& costs);

  /// Every element of every layer, from the machine's tensors before it, in double.
  [[nodiscard]] CheckResult check(const TensorReader& tensors,
                                  const CheckRequest& request) const override;

 private:
  [[nodiscard]] program::Program lowered() const override;
  void choose(FloatModel model, const Plan& pinned, MachineCosts& costs);

  std::shared_ptr<const Problem> problem_;
  Planned planned_;
};

}  // namespace tessera::convnet::tiles
