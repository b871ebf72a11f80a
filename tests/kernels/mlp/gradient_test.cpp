#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "kernels/mlp/reference.h"

using namespace tessera;
using namespace tessera::mlp;

namespace {

LayerOptions of(LayerKind kind, std::uint32_t outputs) {
  LayerOptions layer{kind, outputs, 3, Activation::gelu};
  layer.block = 4;
  return layer;
}

/// Networks of every layer kind with sizes that are not powers of two, narrowing and widening. Two
/// such layers, so that gradients of inputs are tested, too.
std::vector<std::vector<LayerOptions>> networks() {
  std::vector<std::vector<LayerOptions>> all;
  for (const auto& [name, kind] : kLayerKinds) {
    all.push_back({of(kind, 21), of(kind, 9), {LayerKind::dense, 5, 8, Activation::none}});
    all.push_back({of(kind, 45), of(kind, 5)});
  }
  all.push_back(all[4]);
  for (LayerOptions& layer : all.back())
    if (layer.kind == LayerKind::butterfly) layer.parameters = butterfly::Parameters::rotation;
  for (const bool learned : {false, true}) {
    all.push_back(all[6]);
    for (LayerOptions& layer : all.back())
      if (layer.kind == LayerKind::pixelfly) {
        layer.gamma = 0.3;
        layer.learn_gamma = learned;
      }
  }
  return all;
}

Options options_of(const std::vector<LayerOptions>& layers) {
  Options options;
  options.layers = layers;
  options.batch = 9;
  return options;
}

/// A network in double, with one batch.
struct Plain {
  explicit Plain(const std::vector<LayerOptions>& layers) : options(options_of(layers)) {}

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
  /// The derivative of the loss by a parameter, by a central difference.
  double slope(PlainMap& map, double& parameter) {
    constexpr double kStep = 1e-5;
    const double at = parameter;
    const auto loss_at = [&](double value) {
      parameter = value;
      map.refresh();
      return loss();
    };
    const double found = (loss_at(at + kStep) - loss_at(at - kStep)) / (2 * kStep);
    loss_at(at);
    return found;
  }

  Options options;
  Data data{{.width = 6, .height = 5, .classes = 5, .samples = 60, .noise = 0.5}, 1};
  std::vector<Linear> linears = products_of(options.layers, data.inputs());
  PlainNetwork network{options, linears};
};

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("gradients of the plain training are those of finite differences, every layer kind") {
    for (const auto& layers : networks()) {
      CAPTURE(static_cast<int>(layers.front().kind));
      Plain plain(layers);
      plain.loss(true);
      for (const auto& map : plain.network.maps()) {
        const Vector& expected = map->gradients;
        const auto size = [](double gradient) { return std::abs(gradient); };
        const double largest = size(std::ranges::max(expected, {}, size));
        CHECK(largest > 0);
        for (std::size_t i = 0; i < expected.size(); ++i)
          CHECK(std::abs(plain.slope(*map, map->parameters[i]) - expected[i]) <= 1e-3 * largest);
      }
    }
  }
}
