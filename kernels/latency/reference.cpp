#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/latency/latency.h"

namespace tessera::latency {
namespace {

/// One step of a floating-point chain, rounded to nearest.
float step(Operation operation, float state, float operand) {
  switch (operation) {
    case Operation::f32_add:
      return state + operand;
    case Operation::f32_multiply:
      return state * operand;
    case Operation::f32_fma:
      return std::fma(state, operand, operand);
    case Operation::f32_divide:
      return operand / state;
    default:
      return std::sqrt(state);
  }
}

/// One step of the others.
std::uint32_t step(Operation operation, const ContextData& data, std::uint32_t state,
                   std::uint32_t operand) {
  switch (operation) {
    case Operation::load:
      return data.at(state / sizeof state);
    case Operation::integer:
      return state + operand;
    case Operation::integer_multiply:
      return state * operand;
    case Operation::integer_divide:
      return operand / state;
    default:
      return 0;
  }
}

}  // namespace

std::uint32_t Latency::expected(const ContextData& data, std::uint32_t chain) const {
  const Operation operation = options_.operation;
  std::uint32_t state = data.at(chain);
  if (operation >= Operation::f32_add && operation <= Operation::square_root) {
    const auto value = std::bit_cast<float>(operand());
    auto number = std::bit_cast<float>(state);
    for (std::uint32_t i = 0; i < chain_steps(); ++i) number = step(operation, number, value);
    return std::bit_cast<std::uint32_t>(number);
  }
  for (std::uint32_t i = 0; i < chain_steps(); ++i) state = step(operation, data, state, operand());
  return state;
}

/// Every chain must end with the very bits of the reference.
CheckResult Latency::check(const TensorReader& tensors, const CheckRequest& request) const {
  CheckResult result{true, 0, 0, "full"};
  const std::uint32_t contexts = machine_.tile.contexts;
  HostThreads threads(request.threads);
  const std::vector<std::byte> found = tensors.bytes("states", threads);
  std::size_t at = 0;
  for (std::uint32_t t = 0; t < machine_.tiles; ++t) {
    for (std::uint32_t i = 0; i < contexts; ++i) {
      const ContextData data = initial(TileId(t), i);
      for (std::uint32_t chain = 0; chain < options_.chains; ++chain) {
        std::uint32_t state = 0;
        std::memcpy(&state, &found[at++ * sizeof state], sizeof state);
        if (state == expected(data, chain)) continue;
        result.passed = false;
        result.max_error = 1;
      }
    }
  }
  return result;
}

}  // namespace tessera::latency
