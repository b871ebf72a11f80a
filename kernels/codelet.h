#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "kernels/layout.h"
#include "sim/elf/codelet.h"
#include "sim/plan/description.h"

namespace tessera::kernels {

using Arguments = std::vector<program::Argument>;

/// A codelet of a description, and how tiles of so many contexts call it. Calls are for any tile:
/// whoever reads a description puts its own.
struct Codelet {
  std::uint32_t number, contexts;

  /// It is added to the description if it is not there.
  static Codelet of(const elf::KernelCode& code, const plan::Description& description,
                    std::string_view name, std::uint32_t contexts) {
    return {code.in(*description.code(), name), contexts};
  }

  /// By all workers, by one of them, or by the supervisor.
  [[nodiscard]] program::Vertex all(Arguments arguments) const {
    return call(program::Executor::all_workers, std::move(arguments));
  }
  [[nodiscard]] program::Vertex one(Arguments arguments) const {
    return call(program::Executor::one_worker, std::move(arguments));
  }
  /// By all workers, who divide `bytes` in whole `grain`s: last arguments, where each begins and
  /// how many it takes.
  [[nodiscard]] program::Vertex all_over(Arguments arguments, std::uint64_t bytes,
                                         std::uint64_t grain = 8) const {
    const EvenSplit grains{bytes / grain, contexts};
    for (std::uint32_t w = 0; w < contexts; ++w) {
      arguments.emplace_back(word(grains.begin(w) * grain));
      arguments.emplace_back(word(grains.part(w).size()));
    }
    return all(std::move(arguments));
  }
  [[nodiscard]] program::Vertex supervised(Arguments arguments) const {
    return call(program::Executor::supervisor, std::move(arguments));
  }

 private:
  [[nodiscard]] program::Vertex call(program::Executor executor, Arguments arguments) const {
    return {TileId{0}, number, executor, 0, std::move(arguments)};
  }
};

}  // namespace tessera::kernels
