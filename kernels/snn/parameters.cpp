#include <array>
#include <cstring>
#include <limits>

#include "kernels/snn/program.h"

/// Parameters of neurons as tile code takes them.
namespace tessera::snn {

namespace {

/// Of two neurons, as the tile code has it.
struct Parameters {
  float alpha[2], gain[2], bias[2], threshold[2], second[2], beta[2], rho[2], keep[2], through[2],
      strength[2];
};
static_assert(sizeof(Parameters) == kPairBytes);

Parameters parameters_of(const Layer& layer, std::uint64_t begin, std::uint64_t end) {
  Parameters made{};
  for (std::uint32_t lane = 0; lane < 2; ++lane) {
    const std::uint64_t n = begin + lane;
    constexpr float kNever = std::numeric_limits<float>::infinity();
    made.threshold[lane] = kNever;
    made.second[lane] = kNever;
    if (n >= end) continue;
    made.alpha[lane] = layer.alpha[n];
    made.gain[lane] = layer.gain[n];
    if (!layer.bias.empty()) made.bias[lane] = layer.bias[n];
    if (layer.kind == NeuronKind::integrator) continue;
    made.threshold[lane] = layer.threshold[n];
    made.second[lane] = layer.second_threshold[n];
    if (layer.kind == NeuronKind::cuba_lif) made.beta[lane] = layer.beta[n];
    if (layer.kind != NeuronKind::adaptive) continue;
    made.rho[lane] = layer.rho[n];
    made.keep[lane] = 1 - layer.rho[n];
    made.through[lane] = made.keep[lane] / layer.rho[n];
    made.strength[lane] = layer.strength[n];
  }
  return made;
}

using Two = const float (&)[2];

}  // namespace

void fill_parameters(const Layer& layer, kernels::Interval neurons, std::span<std::byte> into) {
  std::byte* to = into.data();
  for (std::uint64_t n = neurons.begin; n < neurons.end; n += 2, to += kPairBytes) {
    const Parameters made = parameters_of(layer, n, neurons.end);
    std::memcpy(to, &made, sizeof made);
  }
}

void fill_streams(const Layer& layer, kernels::Interval neurons, std::span<std::byte> into) {
  const std::uint64_t pairs = ceil_div<std::uint64_t>(neurons.size(), 2);
  const std::uint32_t values = stream_values(layer.kind);
  for (std::uint64_t pair = 0; pair < pairs; ++pair) {
    const Parameters made = parameters_of(layer, neurons.begin + 2 * pair, neurons.end);
    // A spike is above both thresholds: what is above neither is told by one.
    float second[2], none[2] = {};
    for (std::uint32_t lane = 0; lane < 2; ++lane)
      second[lane] = std::min(made.second[lane], made.threshold[lane]);
    const auto put = [&](std::uint64_t place, Two two) {
      std::memcpy(into.data() + place * 8, two, sizeof two);
    };
    const auto stream = [&](std::uint32_t which, const std::array<const float(*)[2], 4>& all) {
      for (std::uint32_t i = 0; i < values; ++i)
        put(pairs + (which * pairs + pair) * values + i, *all[i]);
    };
    put(pair, made.bias);
    if (layer.kind == NeuronKind::integrator) {
      stream(0, {&made.alpha});
      stream(1, {&made.gain});
      continue;
    }
    const bool adapts = layer.kind == NeuronKind::adaptive;
    stream(0, {&made.alpha, &made.gain, adapts ? &made.rho : &made.beta, &made.strength});
    stream(1, {&made.threshold, &second, adapts ? &made.keep : &none, &none});
  }
}

}  // namespace tessera::snn
