#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/codelet.h"
#include "sim/data/element.h"
#include "sim/data/seeded.h"
#include "sim/plan/description.h"

namespace tessera::kernels {

/// Pieces of what is stored in `from` come to `into` on the tile at hand.
template <class Pieces>
void pull(plan::Pulls& pulls, program::Place into, program::BufferId from, const Pieces& pieces) {
  for (const auto& piece : pieces)
    pulls.push_back({behind(into, piece.at), piece.tile, {from, piece.offset}, piece.bytes});
}
/// Its bytes [begin, end).
inline void pull(plan::Pulls& pulls, program::Place into, const EvenStorage& storage,
                 program::BufferId from, std::uint64_t begin, std::uint64_t end) {
  pull(pulls, into, from, storage.pieces(begin, end));
}

/// Writes bytes from number `first` on of what `write(unit, whole)` makes, unit by unit.
template <class Write>
void fill_units(std::uint64_t first, std::span<std::byte> into, std::uint64_t unit_bytes,
                Write&& write) {
  std::vector<std::byte> unit(unit_bytes);
  while (!into.empty()) {
    const std::uint64_t skipped = first % unit_bytes;
    const std::size_t bytes = std::min<std::size_t>(unit_bytes - skipped, into.size());
    write(first / unit_bytes, std::span(unit));
    std::copy_n(unit.begin() + static_cast<std::ptrdiff_t>(skipped), bytes, into.begin());
    first += bytes;
    into = into.subspan(bytes);
  }
}

/// Contents of what a tensor declares: part `part` has number at(index) where `runs(part, into)`
/// says so, and zeros elsewhere.
template <class At, class RunsOf>
auto contents_of(program::Type type, At at, RunsOf runs) {
  return [=, write = data::elements_by(type, at)](plan::Tile part, std::span<std::byte> into) {
    const std::size_t bytes = data::element_bytes(type);
    plan::zeros(part, into);
    program::Runs all;
    runs(part, all);
    for (const program::Run& run : all.all()) {
      const auto numbers = into.subspan(run.at * bytes, run.count * bytes);
      if (run.step == 1) {
        write(run.index, numbers);
        continue;
      }
      for (std::uint64_t i = 0; i < run.count; ++i)
        data::store_element(type, numbers, i, static_cast<double>(at(run.index + i * run.step)));
    }
  };
}
template <class RunsOf>
auto contents_of(const data::Seeded& values, RunsOf runs) {
  return contents_of(
      values.type, [values](std::uint64_t number) { return values.element(number); }, runs);
}

/// Bytes that all tiles of the machine hold evenly, and the array that they lie in.
struct Stored {
  /// Writes bytes from number `first` on.
  using Fill = std::function<void(std::uint64_t first, std::span<std::byte>)>;

  Stored() = default;
  Stored(plan::Description& description, std::string_view name, const EvenStorage& bytes,
         const Fill& fill, bool keep = false)
      : storage(bytes),
        array(description.array({name, [bytes](plan::Tile tile) { return bytes.bytes_on(tile); },
                                 keep,
                                 [bytes, fill](plan::Tile tile, std::span<std::byte> into) {
                                   fill(bytes.begin(tile), into);
                                 }})) {}

  [[nodiscard]] std::uint64_t bytes_on(plan::Tile tile) const { return storage.bytes_on(tile); }
  /// Bytes [begin, end) come to `into` on the tile at hand.
  void pull(Interval bytes, program::Place into, plan::Pulls& pulls) const {
    kernels::pull(pulls, into, storage, array, bytes.begin, bytes.end);
  }

  EvenStorage storage;
  program::BufferId array{};
};

}  // namespace tessera::kernels
