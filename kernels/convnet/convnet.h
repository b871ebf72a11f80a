#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "kernels/convnet/network_file.h"
#include "kernels/convnet/plan.h"
#include "kernels/convnet/tiles/plan.h"
#include "kernels/convnet/weights.h"
#include "sim/config/fields.h"

/// The workload `convnet`: a convolutional network on one image: in a type of the vector unit on an
/// array of cores with memory tiles, from DDR to DDR, or in f16 on tiles with an exchange (tiles/).
namespace tessera::convnet {

/// Types of activations and weights.
inline constexpr config::Names<program::Type, 4> kTypes{{{"i8", program::Type::i8},
                                                         {"i16", program::Type::i16},
                                                         {"bf16", program::Type::bf16},
                                                         {"f16", program::Type::f16}}};

struct Options {
  program::Type dtype = program::Type::i8;
  std::string network = "resnet50";
  std::string image;    ///< a file; empty: seeded
  std::string weights;  ///< a folder of files; empty: from the network file, or seeded
  double sparsity = 0;
  std::uint64_t seed = 1;
  std::optional<PinnedPlan> plan;
  std::optional<tiles::Plan> tiles_plan;  ///< as `plan`, for f16
};
void describe(config::Fields& fields, Options& options);

/// A network in the options' type. Throws KeyError for a type that the machine does not support.
std::unique_ptr<Workload> make_convnet(const Options& options, MachineCosts& costs);
namespace tiles {
/// A network in f16 on machines whose tiles have an exchange: one image, weights in SRAM.
std::unique_ptr<Workload> make_tiled_convnet(const Options& options, MachineCosts& costs);
}  // namespace tiles

/// The network named by the options, its weights if given, and the image.
struct Given {
  NetworkFile file;
  Image image;
  /// For the report: parts of the network file that the run does not use.
  nlohmann::ordered_json unused = nlohmann::ordered_json::object();
};
Given given_of(const Options& options);
/// A layer's prediction: its cycles, those of its parts, and the largest part, which binds.
nlohmann::ordered_json layer_facts(
    const std::string& layer, std::uint64_t cycles,
    std::initializer_list<std::pair<const char*, std::uint64_t>> parts);
/// A summary with the layers' predictions, the part that binds most of their cycles (each layer's
/// count for its own part), unused parts of files, and the number of rounded values; `rounded`: of
/// the weights.
WorkloadSummary summary_of(const Options& options, const Given& given,
                           nlohmann::ordered_json layers, std::uint64_t rounded);

class Convnet : public Workload {
 public:
  Convnet(const Options& options, MachineCosts& costs);

  [[nodiscard]] CheckResult check(const TensorReader& tensors,
                                  const CheckRequest& request) const override;

 private:
  [[nodiscard]] program::Program lowered() const override;
  /// Plans the model.
  [[nodiscard]] PricedProgram planned(const PinnedPlan& pinned, MachineCosts& costs);

  std::shared_ptr<Model> model_;
  BandedPlan chosen_;  ///< referenced by the program
  std::optional<program::Program> program_;
};

}  // namespace tessera::convnet
