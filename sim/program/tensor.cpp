#include "sim/program/tensor.h"

#include <array>
#include <numeric>

namespace tessera::program {

std::string_view name_of(Role role) {
  constexpr std::array<std::string_view, 4> kNames{"input", "weights", "result", "gradient"};
  return kNames[static_cast<std::size_t>(role)];
}

void Runs::add(std::uint64_t at, std::uint64_t index) {
  if (!runs_.empty() && runs_.back().at + runs_.back().count == at) {
    Run& last = runs_.back();
    if (last.count == 1 && index > last.index) last.step = index - last.index;
    if (index == last.index + last.count * last.step) {
      ++last.count;
      return;
    }
  }
  runs_.push_back({at, index, 1, 1});
}

std::function<void(std::size_t part, Runs& runs)> slices(const std::vector<std::uint64_t>& shape) {
  const std::uint64_t elements =
      std::accumulate(shape.begin() + 1, shape.end(), std::uint64_t{1}, std::multiplies<>());
  return [elements](std::size_t part, Runs& runs) {
    if (elements > 0) runs.add({0, part * elements, elements, 1});
  };
}

std::uint64_t Tensor::elements() const {
  return std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
}

}  // namespace tessera::program
