#include "kernels/pixelfly/gamma.h"

#include <fmt/format.h>

#include "sim/data/element.h"

namespace tessera::pixelfly {

using program::Place;

float factor_of(Factor factor, double gamma) {
  const auto of_s = static_cast<float>(gamma);
  if (factor == Factor::of_s) return of_s;
  return factor == Factor::of_uv ? 1 - of_s : 1;
}

double scaled(double value, float factor, program::Type type) {
  return data::rounded(type, static_cast<double>(static_cast<float>(value) * factor));
}

namespace {

/// Workers share words; each has its runs in a list of the tile. Arguments: the list, how many, the
/// first byte.
void add_workers(sparse::Assembly& assembly, program::Type type, const std::vector<FactorRun>& runs,
                 program::Vertex& vertex) {
  const std::uint64_t size = data::element_bytes(type);
  std::uint64_t elements = 0;
  for (const FactorRun& run : runs) elements += run.count;
  const std::uint64_t lanes = 8 / size;
  const kernels::EvenSplit words{ceil_div(elements, lanes), assembly.contexts()};
  std::vector<std::uint32_t> list, first{0};
  auto run = runs.begin();
  std::uint64_t used = 0;  // of that run
  for (std::uint32_t w = 0; w < words.parts; ++w) {
    std::uint64_t left =
        std::min(words.part(w).end * lanes, elements) - std::min(words.begin(w) * lanes, elements);
    while (left > 0) {
      const std::uint64_t taken = std::min(left, run->count - used);
      list.push_back(word(4 * taken + static_cast<std::uint64_t>(run->factor)));
      left -= taken;
      used += taken;
      if (used == run->count) {
        ++run;
        used = 0;
      }
    }
    first.push_back(word(list.size()));
  }
  const program::BufferId stored = assembly.list(index(vertex.tile), list, "factors");
  for (std::uint32_t w = 0; w < words.parts; ++w) {
    vertex.arguments.emplace_back(Place{stored, word(first[w] * sizeof(std::uint32_t))});
    vertex.arguments.emplace_back(first[w + 1] - first[w]);
    vertex.arguments.emplace_back(word(words.begin(w) * 8));
  }
}

std::string typed(const char* name, program::Type type) {
  return fmt::format("{}_{}", name, config::name_of(data::kFloatTypes, type));
}

}  // namespace

program::Vertex scaling(sparse::Assembly& assembly, program::Type type, TileId tile,
                        const ScaledElements& elements) {
  program::Vertex vertex{tile,
                         assembly.codelet(typed("gamma_scale", type)),
                         program::Executor::all_workers,
                         0,
                         {Place{elements.from}, Place{elements.to}, Place{elements.gamma}}};
  add_workers(assembly, type, elements.runs, vertex);
  return vertex;
}

program::Vertex gradient_scaling(sparse::Assembly& assembly, program::Type type, TileId tile,
                                 const ScaledElements& elements, program::BufferId weights,
                                 program::BufferId sums) {
  program::Vertex vertex{
      tile,
      assembly.codelet(typed("gamma_gradients", type)),
      program::Executor::all_workers,
      0,
      {Place{elements.from}, Place{weights}, Place{elements.gamma}, Place{sums}}};
  add_workers(assembly, type, elements.runs, vertex);
  return vertex;
}

program::Vertex sum_of(sparse::Assembly& assembly, TileId tile, program::BufferId from,
                       std::uint64_t count, program::BufferId to) {
  return {tile,
          assembly.codelet("gamma_sum"),
          program::Executor::one_worker,
          0,
          {Place{from}, Place{to}, word(count)}};
}

}  // namespace tessera::pixelfly
