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

// Names that every kernel uses to describe its program.
using plan::Calls;
using plan::Pulls;
using plan::Sizes;
using program::BufferId;
using program::Place;

}  // namespace tessera

namespace tessera::kernels {

using Arguments = std::vector<program::Argument>;

/// The place `bytes` after another in its buffer.
inline Place behind(Place place, std::uint64_t bytes) {
  return {place.buffer, word(place.offset + bytes)};
}

/// Bit pattern of a number of a type, as an argument word of tile code.
inline std::uint32_t bits_of(program::Type type, double value) {
  std::array<std::byte, 4> bytes{};
  data::store_element(type, bytes, 0, value);
  return std::bit_cast<std::uint32_t>(bytes);
}

/// A codelet of a description, called by tiles of `contexts` workers. Calls name no tile: the
/// reader of the description adds its own.
struct Codelet {
  std::uint32_t number, contexts;

  /// Adds the codelet to the description if it is not there yet.
  static Codelet of(const elf::KernelCode& code, const plan::Description& description,
                    std::string_view name, std::uint32_t contexts) {
    return {code.in(*description.code(), name), contexts};
  }

  /// A call by all workers, by one of them, or by the supervisor.
  [[nodiscard]] program::Vertex all(Arguments arguments) const {
    return call(program::Executor::all_workers, std::move(arguments));
  }
  [[nodiscard]] program::Vertex one(Arguments arguments) const {
    return call(program::Executor::one_worker, std::move(arguments));
  }
  /// Extends `arguments` by add(part, arguments) for each worker's part of `things` items. The part
  /// of an idle worker is [0, 0).
  template <class Add>
  [[nodiscard]] Arguments dealt(Arguments arguments, std::uint64_t things, const Add& add) const {
    const EvenSplit split{things, contexts};
    for (std::uint32_t w = 0; w < contexts; ++w) {
      const Interval part = split.part(w);
      add(part.size() > 0 ? part : Interval{0, 0}, arguments);
    }
    return arguments;
  }
  /// A call by all workers, who divide `bytes` in whole `grain`s. The last arguments are each
  /// worker's first byte and number of grains.
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
