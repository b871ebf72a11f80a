#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "kernels/training/results.h"

namespace tessera::training {

namespace {

struct Kind {
  const char* name;
  std::vector<std::string_view> arrays;
};

/// What arrays of a training are for.
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

}  // namespace

nlohmann::ordered_json memory_of(const plan::Description& description) {
  nlohmann::ordered_json json;
  for (const Kind& kind : kinds()) {
    std::vector<std::uint64_t> by_tile(description.tiles());
    for (const plan::Array& array : description.arrays()) {
      if (std::ranges::find(kind.arrays, array.name) == kind.arrays.end()) continue;
      for (plan::Tile tile = 0; tile < description.tiles(); ++tile)
        by_tile[tile] += array.bytes(tile);
    }
    const std::uint64_t total = std::accumulate(by_tile.begin(), by_tile.end(), std::uint64_t{0});
    if (total == 0) continue;
    json[kind.name] = {{"total_bytes", total},
                       {"max_tile_bytes", *std::max_element(by_tile.begin(), by_tile.end())}};
  }
  return json;
}

}  // namespace tessera::training
