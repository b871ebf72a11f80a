#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/codelet.h"
#include "sim/data/element.h"
#include "sim/data/seeded.h"
#include "sim/plan/description.h"

namespace tessera::kernels {

/// Pulls pieces of the buffer `from` to `into` on the pulling tile.
template <class Pieces>
void pull(Pulls& pulls, Place into, BufferId from, const Pieces& pieces) {
  for (const auto& piece : pieces)
    pulls.push_back({behind(into, piece.at), piece.tile, {from, piece.offset}, piece.bytes});
}
/// Pulls bytes [begin, end) of an evenly stored array.
inline void pull(Pulls& pulls, Place into, const EvenStorage& storage, BufferId from,
                 std::uint64_t begin, std::uint64_t end) {
  pull(pulls, into, from, storage.pieces(begin, end));
}

/// Fills `into` with the bytes from offset `first` on of a sequence of units of `unit_bytes`;
/// `write(unit, bytes)` writes one whole unit.
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

/// Adds arrays of tiles 0 to `tiles` - 1 to a description.
struct Arrays {
  plan::Description& description;
  plan::Tile tiles;

  /// An array of `bytes(tile)` bytes on each tile; `of` gives its other properties.
  template <class Bytes>
  BufferId operator()(std::string_view name, Bytes bytes, plan::Array of = {}) const {
    of.name = name;
    of.bytes = [bytes](plan::Tile tile) -> std::uint64_t { return bytes(tile); };
    of.tiles = tiles;
    return description.array(std::move(of));
  }
};

/// Contents of a tensor's array: on part `part` the elements at(index) where `runs(part, into)`
/// places them, and zeros elsewhere.
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

/// A vector split evenly and in order over tiles 0, 1, ...
struct Spread {
  plan::Description& description;
  EvenSplit split;  ///< splits the elements

  /// Declares an array that holds `values`, and its tensor `name`.
  [[nodiscard]] BufferId given(std::string_view array, std::string name,
                               const data::Seeded& values) const {
    description.tensor(data::tensor_of(std::move(name), values, {split.total}));
    return add(array, values.type, {.contents = contents_of(values, runs())});
  }
  /// Declares an array that is read after the run, and its tensor `name`.
  [[nodiscard]] BufferId result(std::string_view array, std::string name,
                                program::Type type) const {
    const BufferId made = add(array, type, {.keep = true});
    description.tensor(
        {{std::move(name), program::Role::result, type, {split.total}}, made, runs()});
    return made;
  }

 private:
  [[nodiscard]] std::function<void(plan::Tile, program::Runs&)> runs() const {
    return [split = split](plan::Tile tile, program::Runs& into) {
      into.add({0, split.begin(tile), split.part(tile).size(), 1});
    };
  }
  BufferId add(std::string_view name, program::Type type, plan::Array of) const {
    return Arrays{description, split.parts}(
        name,
        [split = split, each = data::element_bytes(type)](plan::Tile tile) {
          return split.part(tile).size() * each;
        },
        std::move(of));
  }
};

/// An array whose bytes are stored evenly on all tiles of the machine.
struct Stored {
  /// Writes the bytes from offset `first` on.
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
  /// Pulls the bytes to `into` on the pulling tile.
  void pull(Interval bytes, Place into, Pulls& pulls) const {
    kernels::pull(pulls, into, storage, array, bytes.begin, bytes.end);
  }

  EvenStorage storage;
  BufferId array{};
};

}  // namespace tessera::kernels
