#pragma once

#include <array>
#include <bit>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/layout.h"
#include "sim/data/element.h"
#include "sim/elf/codelet.h"
#include "sim/plan/description.h"

namespace tessera {

// Names that every kernel states its program with.
using plan::Calls;
using plan::Pulls;
using plan::Sizes;
using program::BufferId;
using program::Place;

}  // namespace tessera

namespace tessera::kernels {

using Arguments = std::vector<program::Argument>;

/// The place so many bytes behind another in its buffer.
inline Place behind(Place place, std::uint64_t bytes) {
  return {place.buffer, word(place.offset + bytes)};
}

/// The bits of a number, as tile code loads it from its arguments.
inline std::uint32_t bits_of(program::Type type, double value) {
  std::array<std::byte, 4> bytes{};
  data::store_element(type, bytes, 0, value);
  return std::bit_cast<std::uint32_t>(bytes);
}

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
  /// `arguments`, and what `add(part, arguments)` adds to them for each worker, whose part of so
  /// many `things` it is told; parts of idle workers begin at 0.
  template <class Add>
  [[nodiscard]] Arguments dealt(Arguments arguments, std::uint64_t things, const Add& add) const {
    const EvenSplit split{things, contexts};
    for (std::uint32_t w = 0; w < contexts; ++w) {
      const Interval part = split.part(w);
      add(part.size() > 0 ? part : Interval{0, 0}, arguments);
    }
    return arguments;
  }
  /// By all workers, who divide `bytes` in whole `grain`s: last arguments, where each begins and
  /// how many it takes.
  [[nodiscard]] program::Vertex all_over(Arguments arguments, std::uint64_t bytes,
                                         std::uint64_t grain = 8) const {
    return all(dealt(std::move(arguments), bytes / grain, [&](Interval part, Arguments& into) {
      into.insert(into.end(), {word(part.begin * grain), word(part.size())});
    }));
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
