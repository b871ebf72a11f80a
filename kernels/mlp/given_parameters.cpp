#include "kernels/mlp/network.h"
#include "sim/base/errors.h"
#include "sim/data/weights_folder.h"

/// Parameters that a user gives, as a run saves them.
namespace tessera::mlp {

namespace {

/// Elements of S that stand for no input or output multiply zeros, and stay zero.
void require_zero_padding(const Linear& linear, const std::vector<double>& values,
                          const std::string& path) {
  for_elements(linear.mask(), [&](std::size_t at, std::uint32_t row, std::uint32_t column) {
    if (values[at] != 0 && !linear.in_s(row, column))
      throw KeyError("workload.weights", fmt::format("found {} at [{}] of {}, allowed 0: padding",
                                                     values[at], at, path));
  });
}

}  // namespace

void read_parameters(std::vector<Linear>& products, const std::string& folder, program::Type type) {
  data::WeightsFolder files(folder, "weights_", "workload.weights");
  for (std::size_t i = 0; i < products.size(); ++i) {
    Linear& linear = products[i];
    const std::string name = fmt::format("weights_{}", i);
    std::vector<double> all;
    const auto read = [&](const char* suffix, const std::vector<std::uint64_t>& shape) {
      const std::vector<float> values = files.read(name + suffix, shape, type);
      all.insert(all.end(), values.begin(), values.end());
    };
    if (linear.by_rows()) {
      read("", {linear.parameters() - linear.outputs});
      read("_bias", {linear.outputs});
    } else if (linear.layer.kind == LayerKind::pixelfly) {
      read("", {pixelfly_order(linear, linear.mask()).end});
      require_zero_padding(linear, all, files.path(name));
      if (linear.learns_gamma()) read("_gamma", {1});
    } else {
      read("", {linear.columns(), linear.outputs});
    }
    linear.given = std::make_shared<const std::vector<double>>(std::move(all));
  }
  files.require_all_read();
}

}  // namespace tessera::mlp
