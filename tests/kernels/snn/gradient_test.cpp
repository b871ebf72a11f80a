#include <cmath>
#include <memory>

#include <doctest/doctest.h>

#include "kernels/snn/reference.h"
#include "models/costs/measured_costs.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::snn;

/// Compares gradients of the plain network, which machines match bit by bit, with automatic
/// differentiation in double.
namespace {

/// A value with its computation graph, for reverse-mode automatic differentiation.
class Number {
 public:
  Number() : Number(0.0) {}
  Number(double value) : node_(std::make_shared<Node>()) { node_->value = value; }  // NOLINT

  [[nodiscard]] double value() const { return node_->value; }
  [[nodiscard]] double gradient() const { return node_->gradient; }

  static Number made(double value, const std::vector<std::pair<Number, double>>& from) {
    Number made(value);
    for (const auto& [number, slope] : from) made.node_->from.push_back({number.node_, slope});
    return made;
  }
  friend Number operator+(const Number& a, const Number& b) {
    return made(a.value() + b.value(), {{a, 1}, {b, 1}});
  }
  friend Number operator-(const Number& a, const Number& b) {
    return made(a.value() - b.value(), {{a, 1}, {b, -1}});
  }
  friend Number operator*(const Number& a, const Number& b) {
    return made(a.value() * b.value(), {{a, b.value()}, {b, a.value()}});
  }

  /// Computes the gradients of this number by everything it depends on.
  void differentiate() const {
    std::vector<Node*> order;
    visit(node_.get(), order);
    node_->gradient = 1;
    for (auto node = order.rbegin(); node != order.rend(); ++node)
      for (const auto& [from, slope] : (*node)->from) from->gradient += slope * (*node)->gradient;
  }

 private:
  struct Node {
    double value = 0, gradient = 0;
    bool seen = false;
    std::vector<std::pair<std::shared_ptr<Node>, double>> from;
  };
  static void visit(Node* node, std::vector<Node*>& order) {
    if (node->seen) return;
    node->seen = true;
    for (const auto& [from, slope] : node->from) visit(from.get(), order);
    order.push_back(node);
  }
  std::shared_ptr<Node> node_;
};

constexpr std::uint32_t kSteps = 9;
constexpr double kSteepness = 10;

struct Case {
  NeuronKind kind = NeuronKind::lif;
  bool recurrent = false;
  Loss loss = Loss::spike_count;
  bool recurrent_outputs = false;
};

Options options_of(const Case& which) {
  Options options;
  options.layers = {14, 10, 4};
  options.neuron.kind = which.kind;
  options.neuron.recurrent = which.recurrent;
  options.loss = which.loss;
  options.neuron.second_threshold = 0.2;
  options.data = {.kind = DataKind::custom, .inputs = 20, .classes = 4};
  options.weight_scale = 12;
  return options;
}

std::vector<std::uint32_t> events(std::uint64_t sample, std::uint32_t step) {
  std::vector<std::uint32_t> ids;
  for (std::uint32_t i = 0; i < 20; ++i)
    if ((i * 7 + step * 3 + sample * 5) % 4 == 0) ids.push_back(i);
  return ids;
}

/// A listed neuron's spike with the surrogate's derivative; other neurons give 0 and no gradient.
Number spike(const Number& v, double threshold, bool listed) {
  const double base = kSteepness * std::abs(v.value() - threshold) + 1;
  return Number::made(v.value() > threshold ? 1 : 0, {{v, listed ? 1 / (base * base) : 0}});
}

/// The loss of some samples with all weights as Numbers. The lists are those of the plain network.
struct Tape {
  std::vector<std::vector<Number>> weights;  ///< by layer, [row][neuron]
  Number loss;
};

Tape record(const PlainNetwork& plain, const std::vector<PlainNetwork::Sample>& batch) {
  const Network& network = plain.network();
  Tape tape;
  for (const Layer& layer : network.layers) {
    auto& weights = tape.weights.emplace_back();
    for (std::uint32_t row = 0; row < layer.rows(); ++row)
      for (std::uint32_t k = 0; k < layer.neurons; ++k) weights.emplace_back(layer.weight(row, k));
  }
  for (std::size_t b = 0; b < batch.size(); ++b) {
    std::vector<std::vector<Number>> spikes{{}};
    std::vector<std::vector<Number>> u{{}}, second{{}}, v{{}};
    for (const Layer& layer : network.layers)
      for (auto* each : {&spikes, &u, &second, &v})
        each->push_back(std::vector<Number>(layer.neurons, Number(0)));
    std::vector<Number> logits(network.outputs(), Number(0));
    for (std::uint32_t t = 0; t < kSteps; ++t) {
      spikes[0].assign(network.inputs(), Number(0));
      for (const std::uint32_t i : events(batch[b].number, t)) spikes[0][i] = Number(1);
      const auto before = spikes;
      for (std::uint32_t l = 0; l < network.layers.size(); ++l) {
        const Layer& layer = network.layers[l];
        const auto& weights = tape.weights[l];
        const List& list = plain.list(l + 1, b, t + 1);
        for (std::uint32_t k = 0; k < layer.neurons; ++k) {
          Number input(0);
          for (std::uint32_t i = 0; i < layer.inputs; ++i)
            input = input + weights[i * layer.neurons + k] * before[l][i];
          if (layer.recurrent())
            for (std::uint32_t i = 0; i < layer.neurons; ++i)
              input = input + weights[(layer.inputs + i) * layer.neurons + k] * before[l + 1][i];
          const bool reads = layer.kind == NeuronKind::integrator;
          const bool reset = !reads && v[l + 1][k].value() > double(layer.threshold[k]);
          const Number kept = reset ? Number(0) : Number(double(layer.alpha[k])) * u[l + 1][k];
          if (layer.kind == NeuronKind::cuba_lif)
            input = second[l + 1][k] = Number(double(layer.beta[k])) * second[l + 1][k] + input;
          Number strength(0);
          if (layer.kind == NeuronKind::adaptive) {
            second[l + 1][k] = Number(double(layer.rho[k])) * second[l + 1][k] +
                               Number(1 - double(layer.rho[k])) * before[l + 1][k];
            strength = Number(double(layer.strength[k]));
          }
          u[l + 1][k] = kept + Number(double(layer.gain[k])) * input;
          v[l + 1][k] = u[l + 1][k] - strength * second[l + 1][k];
          if (reads) {
            logits[k] = logits[k] + u[l + 1][k];
            continue;
          }
          const bool listed = std::find(list.ids.begin(), list.ids.end(), k) != list.ids.end();
          spikes[l + 1][k] = spike(v[l + 1][k], double(layer.threshold[k]), listed);
          if (l + 1 == network.layers.size()) logits[k] = logits[k] + spikes[l + 1][k];
        }
      }
    }
    double sum = 0;
    for (const Number& logit : logits) sum += std::exp(logit.value());
    std::vector<std::pair<Number, double>> slopes;
    for (std::size_t c = 0; c < logits.size(); ++c)
      slopes.emplace_back(logits[c],
                          std::exp(logits[c].value()) / sum - (c == batch[b].label ? 1 : 0));
    const Number loss = Number::made(std::log(sum) - logits[batch[b].label].value(), slopes);
    tape.loss = tape.loss + loss * Number(1.0 / static_cast<double>(batch.size()));
  }
  return tape;
}

void compare(const Case& which) {
  Options options = options_of(which);
  MeasuredCosts costs(test::small_machine(9));
  Network network = make_network(options, options.data.inputs);
  if (which.recurrent_outputs) {
    Layer& last = network.layers.back();
    for (std::size_t i = 0; i < std::size_t{last.neurons} * last.neurons; ++i)
      last.recurrent_weights.push_back(static_cast<float>(3 * std::sin(0.7 + 1.9 * double(i))));
  }
  options.batch = 3;
  options.max_activity = 1;
  const Plan plan = make_plan(network, options, options.data.inputs, {}, costs);
  HostThreads one(1);
  PlainNetwork plain(network, plan, {1, 6, kSteps, float(kSteepness), {}}, one);
  const std::vector<PlainNetwork::Sample> batch{{0, 1}, {1, 2}, {2, 0}};
  const auto outcome = plain.look(batch, events);
  plain.find_gradients();
  const Tape tape = record(plain, batch);
  CHECK(double(outcome.loss) == doctest::Approx(tape.loss.value()).epsilon(1e-5));
  tape.loss.differentiate();
  for (std::uint32_t l = 0; l < network.layers.size(); ++l) {
    double largest = 0;
    for (const Number& weight : tape.weights[l])
      largest = std::max(largest, std::abs(weight.gradient()));
    CHECK(largest > 0);
    for (std::size_t i = 0; i < tape.weights[l].size(); ++i) {
      CAPTURE(l);
      CAPTURE(i);
      REQUIRE(std::abs(double(plain.weight_gradient(l)[i]) - tape.weights[l][i].gradient()) <=
              1e-5 * largest);
    }
  }
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("gradients are those of automatic differentiation with the surrogate's slope") {
    for (const NeuronKind kind : {NeuronKind::lif, NeuronKind::cuba_lif, NeuronKind::adaptive})
      for (const bool recurrent : {false, true})
        for (const Loss loss : {Loss::spike_count, Loss::membrane}) {
          CAPTURE(static_cast<int>(kind));
          CAPTURE(recurrent);
          CAPTURE(static_cast<int>(loss));
          compare({kind, recurrent, loss});
        }
  }

  TEST_CASE("outputs that take their own spikes have gradients by them and by the loss") {
    for (const NeuronKind kind : {NeuronKind::lif, NeuronKind::cuba_lif, NeuronKind::adaptive}) {
      CAPTURE(static_cast<int>(kind));
      compare({kind, false, Loss::spike_count, true});
      compare({kind, true, Loss::spike_count, true});
    }
  }
}
