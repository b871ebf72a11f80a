#include <algorithm>
#include <array>
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

}  // namespace

nlohmann::ordered_json memory_of(const program::Program& program) {
  nlohmann::ordered_json json;
  for (const Kind& kind : kinds()) {
    std::vector<std::uint64_t> tiles(program.tiles());
    std::uint64_t total = 0;
    for (const program::Buffer& buffer : program.buffers()) {
      if (std::find(kind.buffers.begin(), kind.buffers.end(), buffer.name) == kind.buffers.end())
        continue;
      tiles[index(buffer.tile)] += buffer.bytes;
      total += buffer.bytes;
    }
    if (total == 0) continue;
    json[kind.name] = {{"total_bytes", total},
                       {"max_tile_bytes", *std::max_element(tiles.begin(), tiles.end())}};
  }
  return json;
}

}  // namespace tessera::training
