#include <algorithm>
#include <cmath>
#include <functional>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/mlp/reference.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::mlp;

using test::small_machine;

namespace {

constexpr double kRelative = 1e-3;
constexpr double kScale = 64;  // of f16 gradients

LayerOptions of(LayerKind kind, std::uint32_t outputs) {
  LayerOptions layer{kind, outputs, 3, Activation::gelu};
  layer.block = 4;
  return layer;
}

/// Every kind, between sizes that are no powers of two: what is narrower and what is wider, two of
/// them so that inputs have gradients too.
std::vector<std::vector<LayerOptions>> networks() {
  std::vector<std::vector<LayerOptions>> all;
  for (const auto& [name, kind] : kLayerKinds) {
    all.push_back({of(kind, 21), of(kind, 9), {LayerKind::dense, 5, 8, Activation::none}});
    all.push_back({of(kind, 45), of(kind, 5)});
  }
  std::vector<LayerOptions> rotating = all[4];
  for (LayerOptions& layer : rotating) layer.parameters = butterfly::Parameters::rotation;
  rotating.back().parameters = butterfly::Parameters::free;
  all.push_back(rotating);
  for (const bool learned : {false, true}) {
    std::vector<LayerOptions> weighed = all[6];
    for (LayerOptions& layer : weighed)
      if (layer.kind == LayerKind::pixelfly) {
        layer.gamma = 0.3;
        layer.learn_gamma = learned;
      }
    all.push_back(weighed);
  }
  return all;
}

Options options_of(const std::vector<LayerOptions>& layers) {
  Options options;
  options.layers = layers;
  options.data = {
      .width = 6, .height = 5, .classes = 5, .samples = 60, .test_samples = 0, .noise = 0.5};
  options.batch = 9;
  options.steps = 1;
  options.learning.rate = 1;
  options.learning.momentum = 0;
  return options;
}

Options one_copy(Options options) {
  options.replicas = 1;
  return options;
}

/// A network with its first batch, whose gradients are one copy's.
struct Plain {
  explicit Plain(const Options& given)
      : options(one_copy(given)),
        data(options.data, options.seed),
        linears(products_of(options.layers, data.inputs())),
        network(options, linears) {}

  double loss(bool learns = false) {
    double sum = 0;
    for (std::uint32_t sample = 0; sample < options.batch; ++sample) {
      Vector image(data.inputs());
      for (std::uint32_t i = 0; i < data.inputs(); ++i) image[i] = data.pixel(sample, i);
      sum += network.look(image, data.label(sample)).loss;
      if (learns) network.learn(data.label(sample));
    }
    if (learns) network.gather();
    return sum;
  }

  Options options;
  Data data;
  std::vector<Linear> linears;
  PlainNetwork network;
};

double largest(const Vector& values) {
  double most = 0;
  for (const double each : values) most = std::max(most, std::abs(each));
  return most;
}

/// The worst difference over the largest gradient of its map, or where it is not allowed.
std::string compared(const std::vector<Vector>& found, const Plain& plain, double relative) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Vector& expected = plain.network.maps()[i]->gradients;
    const double allowed = relative * largest(expected);
    if (largest(expected) == 0) return fmt::format("map {} has no gradient", i);
    for (std::size_t j = 0; j < expected.size(); ++j)
      if (!(std::abs(found[i][j] - expected[j]) <= allowed))
        return fmt::format("map {} parameter {} of {}: found {}, expected {}", i, j,
                           expected.size(), found[i][j], expected[j]);
  }
  return "equal";
}

/// What one step with a rate of 1 took from each parameter.
std::vector<Vector> gradients_of(const test::Finished<Mlp>& run, const Options& options) {
  HostThreads threads(2);
  const Plain plain(options);
  std::vector<Vector> gradients;
  for (std::size_t i = 0; i < plain.network.maps().size(); ++i) {
    const Vector& before = plain.network.maps()[i]->parameters;
    Vector& taken = gradients.emplace_back();
    const std::string name = fmt::format("weights_{}", i);
    std::vector<float> after = run.tensors.floats(name, threads);
    if (run.tensors.has(name + "_bias"))
      for (const float bias : run.tensors.floats(name + "_bias", threads)) after.push_back(bias);
    const std::string gamma = fmt::format("weights_{}_gamma", i);
    if (run.tensors.has(gamma)) after.push_back(run.tensors.floats(gamma, threads).front());
    for (std::size_t j = 0; j < before.size(); ++j)
      taken.push_back(before[j] - static_cast<double>(after.at(j)));
  }
  return gradients;
}

/// compared() of a machine's run, and what is told of it besides. Of f16 few sums are rounded to
/// other numbers than those in double are.
std::string run_compared(const Options& options, const MachineConfig& machine,
                         const std::function<std::string(const program::Program&)>& besides = {}) {
  return in_child([&]() -> std::string {
    Plain plain(options);
    plain.loss(true);
    const bool half = options.dtype == program::Type::f16;
    for (const auto& map : plain.network.maps())
      for (double& each : map->gradients) each /= half ? kScale : 1;
    const test::Finished<Mlp> run(options, machine);
    return compared(gradients_of(run, options), plain, (half ? 2 : 1) * kRelative) +
           (besides ? besides(run.program) : "");
  });
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("gradients of the plain training are those of finite differences, every layer kind") {
    for (const auto& layers : networks()) {
      Plain plain(options_of(layers));
      plain.loss(true);
      std::vector<Vector> differences;
      for (const auto& map : plain.network.maps()) {
        Vector& found = differences.emplace_back();
        for (double& parameter : map->parameters) {
          constexpr double kStep = 1e-5;
          const double at = parameter;
          const auto loss_at = [&](double value) {
            parameter = value;
            map->refresh();
            return plain.loss();
          };
          found.push_back((loss_at(at + kStep) - loss_at(at - kStep)) / (2 * kStep));
          loss_at(at);
        }
      }
      CAPTURE(static_cast<int>(layers.front().kind));
      CHECK(compared(differences, plain, kRelative) == "equal");
    }
  }

  TEST_CASE("gradients of the machine are those of the plain training, every layer kind") {
    for (const auto& layers : networks()) {
      CAPTURE(static_cast<int>(layers.front().kind));
      CHECK(run_compared(options_of(layers), small_machine(13)) == "equal");
    }
  }

  TEST_CASE("in f16 they are the same but for roundings, whatever they are scaled by") {
    for (const bool unit : {true, false})
      for (const auto& layers : networks()) {
        Options options = options_of(layers);
        options.dtype = program::Type::f16;
        options.scaling.scale = kScale;
        MachineConfig machine = small_machine(13);
        if (!unit) machine.tile.matrix_unit = {};
        CAPTURE(static_cast<int>(layers.front().kind));
        CHECK(run_compared(options, machine) == "equal");
      }
  }

  TEST_CASE("of f16 copies f32 masters are saved, each by the copy that updates it, in one order") {
    for (const auto& layers : networks()) {
      Options options = options_of(layers);
      options.dtype = program::Type::f16;
      options.scaling.scale = kScale;
      CAPTURE(static_cast<int>(layers.front().kind));
      const auto of_copies = [&](std::uint32_t replicas) {
        options.replicas = replicas;
        return run_compared(options, small_machine(13), [](const program::Program& program) {
          std::string shapes;
          for (const program::Tensor& tensor : program.tensors())
            if (tensor.role == program::Role::weights)
              shapes += fmt::format(" {} {} {}", tensor.name, static_cast<int>(tensor.type),
                                    fmt::join(tensor.shape, "x"));
          return shapes;
        });
      };
      const std::string of_one = of_copies(1);
      CHECK(of_one.starts_with(
          fmt::format("equal weights_0 {}", static_cast<int>(program::Type::f32))));
      CHECK(of_copies(3) == of_one);
      CHECK(of_copies(9) == of_one);
    }
  }

  TEST_CASE("the same of a batch of one sample on one tile") {
    for (const auto& layers : networks()) {
      Options options = options_of(layers);
      options.batch = 1;
      CHECK(run_compared(options, small_machine(1)) == "equal");
    }
  }
}
