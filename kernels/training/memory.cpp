#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "kernels/training/results.h"

namespace tessera::training {

namespace {

struct Kind {
  const char* name;
  std::vector<std::string_view> buffers;
};

/// What buffers of a training are for.
std::array<Kind, 7> kinds() {
  return {Kind{"weights", {"weights"}},
          Kind{"masters", {"master weights"}},
          Kind{"gradients", {"weight gradients"}},
          Kind{"optimiser",
               {"velocity", "moments", "first moments", "second moments", "rate", "loss scale"}},
          Kind{"activations",
               {"batch", "labels", "sums", "activations", "inputs of factors", "x in blocks",
                "low rank"}},
          Kind{"states", {"states", "states of all steps", "checkpoints of states"}},
          Kind{"spikes",
               {"spikes", "spikes of all steps", "spikes received", "spikes for a neighbour",
                "own spikes", "events", "events of all steps"}}};
}

/// `for_bytes(of, take)` calls take(tile, bytes) for all of which of(name) holds.
template <class ForBytes>
nlohmann::ordered_json memory_by_kind(std::uint32_t tiles, const ForBytes& for_bytes) {
  nlohmann::ordered_json json;
  for (const Kind& kind : kinds()) {
    std::vector<std::uint64_t> by_tile(tiles);
    const auto of = [&](std::string_view name) {
      return std::ranges::find(kind.buffers, name) != kind.buffers.end();
    };
    for_bytes(of, [&](std::uint32_t tile, std::uint64_t bytes) { by_tile[tile] += bytes; });
    const std::uint64_t total = std::accumulate(by_tile.begin(), by_tile.end(), std::uint64_t{0});
    if (total == 0) continue;
    json[kind.name] = {{"total_bytes", total},
                       {"max_tile_bytes", *std::max_element(by_tile.begin(), by_tile.end())}};
  }
  return json;
}

}  // namespace

nlohmann::ordered_json memory_of(const program::Program& program) {
  return memory_by_kind(program.tiles(), [&](const auto& of, const auto& take) {
    for (const program::Buffer& buffer : program.buffers())
      if (of(buffer.name)) take(index(buffer.tile), buffer.bytes);
  });
}

nlohmann::ordered_json memory_of(const plan::Description& description) {
  return memory_by_kind(description.tiles(), [&](const auto& of, const auto& take) {
    for (const plan::Array& array : description.arrays())
      for (plan::Tile tile = 0; tile < description.tiles() && of(array.name); ++tile)
        take(tile, array.bytes(tile));
  });
}

}  // namespace tessera::training
