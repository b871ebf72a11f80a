#include "sim/plan/pricing.h"

#include <algorithm>

#include "sim/plan/tile_parts.h"

namespace tessera::plan {

namespace {

/// Hash of a part's expected contents.
std::uint64_t mark_of(const Array& array, Tile tile, std::uint32_t moment) {
  std::string bytes(array.bytes(tile), '\0');
  array.expected(tile, std::as_writable_bytes(std::span(bytes)), moment);
  return std::hash<std::string>()(bytes);
}

/// A call of `function` in a one-tile program, with newly added operands.
program::Vertex sampled(const Description& description, const Function& function, const Sizes& at,
                        program::Program& sample) {
  std::vector<Place> operands;
  for (const std::uint64_t bytes : function.operand_bytes(at)) {
    program::Buffer operand{kSampleTile, std::max<std::uint64_t>(bytes, 16), 8, false, {}, {},
                            "sample"};
    if (function.contents)
      operand.contents = [&function, at, number = operands.size()](std::span<std::byte> into) {
        function.contents(at, number, into);
      };
    operands.push_back({sample.add_buffer(std::move(operand))});
  }
  program::Vertex vertex = function.vertex(at, operands);
  vertex.tile = kSampleTile;
  vertex.codelet = sample.add_codelet(description.codelets()[vertex.codelet]);
  return vertex;
}

}  // namespace

std::uint64_t Pricing::call(const Description& description, const Function& function,
                            const Sizes& sizes, bool closely) {
  FittedCost& fitted = fitted_.try_emplace(function.name, function.axes).first->second;
  const auto measure = [&](const Sizes& at) {
    return steps_.vertex(
        [&](program::Program& sample) { return sampled(description, function, at, sample); });
  };
  const std::uint64_t cycles = fitted(sizes, measure);
  return closely && costs_.workers_compete() && cycles <= kMostMeasured
             ? fitted.exactly(sizes, measure)
             : cycles;
}

/// Cycles of consecutive calls of functions: the supervisor prepares less for each after the first,
/// and consecutive one_worker calls have no join between.
std::uint64_t Pricing::together(const Description& description, const std::vector<Call>& calls) {
  std::string names;
  Kind kind;
  for (const Call& call : calls) {
    names += call.function->name + ' ';
    kind.insert(kind.end(), call.sizes.begin(), call.sizes.end());
  }
  const auto [known, is_new] = together_.try_emplace({std::move(names), std::move(kind)});
  if (is_new)
    known->second = steps_.vertices([&](program::Program& sample) {
      std::vector<program::Vertex> vertices;
      vertices.reserve(calls.size());
      for (const Call& call : calls)
        vertices.push_back(sampled(description, *call.function, call.sizes, sample));
      return vertices;
    });
  return known->second;
}

/// Measured cycles of one tile's calls in one step, with the contents of their operands.
std::uint64_t Pricing::measured(const Description& description, Tile tile,
                                const std::vector<const Call*>& calls, std::uint32_t moment) {
  std::string names;
  Kind kind;
  bool filled = false;
  std::map<BufferId, std::uint64_t> expected;
  for (const Call* call : calls) {
    const program::Vertex& vertex = call->vertex;
    names += description.codelets()[vertex.codelet].name + ' ';
    kind.push_back(static_cast<std::uint64_t>(vertex.executor));
    kind.push_back(vertex.worker);
    for (const program::Argument& argument : vertex.arguments) {
      if (const auto* place = std::get_if<Place>(&argument)) {
        const Array& array = description.array(place->buffer);
        filled = filled || (array.initialised() && !call->by_size);
        kind.insert(kind.end(), {array.bytes(tile), place->offset});
        if (array.expected && !expected.contains(place->buffer))
          kind.push_back(expected[place->buffer] = mark_of(array, tile, moment));
      } else if (const auto* outside = std::get_if<OuterPlace>(&argument)) {
        const OuterArray& array = description.outer(outside->buffer);
        filled = filled || (array.part_contents && !call->by_size);
        kind.insert(kind.end(), {array.part_bytes(tile), outside->offset});
      } else {
        kind.push_back(std::get<std::uint32_t>(argument));
      }
    }
  }
  const auto measure = [&] {
    return steps_.vertices([&](program::Program& sample) {
      TileParts parts(description, tile, sample, moment);
      std::vector<program::Vertex> vertices;
      vertices.reserve(calls.size());
      for (const Call* call : calls) vertices.push_back(parts(call->vertex));
      return vertices;
    });
  };
  if (filled && expected.empty()) return measure();
  const auto [known, is_new] = known_.try_emplace({std::move(names), std::move(kind)});
  if (is_new) known->second = measure();
  return known->second;
}

}  // namespace tessera::plan
