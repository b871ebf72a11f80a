#include <array>
#include <bit>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/stream/stream.h"
#include "sim/data/element.h"
#include "sim/data/random.h"
#include "sim/elf/codelet.h"

namespace tessera::stream {

using program::BufferId;
using program::Place;

namespace {

constexpr std::uint32_t kControlCycles = 20;  // supervisor code around the compute set

constexpr config::Names<Operation, 4> kOperations{{{"copy", Operation::copy},
                                                   {"scale", Operation::scale},
                                                   {"add", Operation::add},
                                                   {"triad", Operation::triad}}};

/// Arrays that the loop reads and writes.
std::uint64_t arrays_touched(Operation operation) {
  return operation == Operation::copy || operation == Operation::scale ? 2 : 3;
}

}  // namespace

void describe(config::Fields& fields, Options& options) {
  fields.field({"operation", "copy a = b, scale a = s b, add a = b + c, triad a = b + s c"},
               options.operation, kOperations);
  fields.field({"dtype", "type of the elements"}, options.dtype, data::kFloatTypes);
  fields.field({"elements_per_worker", "array elements of each worker"},
               options.elements_per_worker, {1, 1u << 24});
  fields.field({"repeats", "times the loop runs, a barrier between"}, options.repeats,
               {1, 1000000});
  fields.field({"seed", "of the values"}, options.seed);
}

Stream::Stream(const Options& options, const MachineConfig& machine)
    : options_(options), machine_(machine) {}

std::uint32_t Stream::padded_elements() const {
  return round_up(options_.elements_per_worker, kBodyBytes / data::element_bytes(options_.dtype));
}

std::uint32_t Stream::worker_bytes() const {
  return padded_elements() * data::element_bytes(options_.dtype);
}

double Stream::initial(TileId tile, std::uint64_t stream, std::uint64_t at) const {
  const std::uint64_t element = (std::uint64_t{index(tile)} << 32) + at;
  return static_cast<double>(data::random_signed(options_.seed, stream, element, 8));
}

nlohmann::ordered_json Stream::plan() const {
  return {{"elements_per_worker", padded_elements()}, {"workers", machine_.tile.contexts}};
}

Prediction Stream::prediction() const {
  const SupervisorCosts& costs = machine_.tile.supervisor;
  const std::uint64_t slots = kWorkerSlots + (worker_bytes() / kBodyBytes - 1) * kBodySlots;
  Prediction p;
  p.compute_cycles = slots * machine_.tile.contexts + costs.launch_cycles + costs.join_cycles +
                     std::uint64_t{costs.launch_stagger_cycles} * (machine_.tile.contexts - 1) +
                     kControlCycles;
  p.compute_cycles *= options_.repeats;
  p.sync_cycles = std::uint64_t{machine_.sync.chip_cycles} * options_.repeats;
  p.cycles = p.compute_cycles + p.sync_cycles;
  return p;
}

std::uint64_t Stream::useful_flops() const {
  constexpr std::array<std::uint64_t, 4> kFlopsPerElement{0, 1, 1, 2};
  return kFlopsPerElement[static_cast<std::size_t>(options_.operation)] *
         options_.elements_per_worker * machine_.tile.contexts * machine_.tiles * options_.repeats;
}

std::uint64_t Stream::useful_bytes() const {
  return arrays_touched(options_.operation) * options_.elements_per_worker *
         data::element_bytes(options_.dtype) * machine_.tile.contexts * machine_.tiles *
         options_.repeats;
}

std::string Stream::peak_type() const { return "bytes"; }

std::uint32_t Stream::scalar_bits() const {
  std::array<std::byte, 4> bytes{};
  data::store_element(options_.dtype, bytes, 0, kScalar);
  return std::bit_cast<std::uint32_t>(bytes);
}

program::Program Stream::build() const {
  program::Program program(machine_.tiles);
  const std::string_view operation = config::name_of(kOperations, options_.operation);
  const std::uint32_t codelet = program.add_codelet(elf::embedded_codelet(
      "stream",
      fmt::format("stream_{}_{}", operation, config::name_of(data::kFloatTypes, options_.dtype))));

  const std::uint32_t bytes = worker_bytes() * machine_.tile.contexts;
  auto filled = [&](TileId tile, std::uint64_t stream, std::string_view name) {
    auto fill = [this, tile, stream](std::span<std::byte> into) {
      const std::size_t elements = into.size() / data::element_bytes(options_.dtype);
      for (std::size_t i = 0; i < elements; ++i) {
        data::store_element(options_.dtype, into, i, initial(tile, stream, i));
      }
    };
    return program.add_buffer({tile, bytes, 8, false, program::Category::tensors, fill, name});
  };

  program::ComputeSet set{std::string(operation), {}};
  for (std::uint32_t t = 0; t < machine_.tiles; ++t) {
    const TileId tile{t};
    const BufferId a =
        program.add_buffer({tile, bytes, 8, true, program::Category::tensors, {}, "a"});
    const BufferId b = filled(tile, 1, "b");
    const BufferId c = arrays_touched(options_.operation) == 3 ? filled(tile, 2, "c") : b;
    program::Vertex vertex{tile, codelet, program::Executor::all_workers, 0, {scalar_bits(), 0u}};
    for (std::uint32_t w = 0; w < machine_.tile.contexts; ++w) {
      const std::uint32_t part = w * worker_bytes();
      vertex.arguments.insert(
          vertex.arguments.end(),
          {Place{a, part}, Place{b, part}, Place{c, part}, worker_bytes() / kBodyBytes - 1});
    }
    set.vertices.push_back(std::move(vertex));
  }
  auto& steps = program.main().steps;
  if (options_.repeats == 1) {
    steps.push_back({std::move(set)});
  } else {
    steps.push_back({program::Repeat{options_.repeats, {{{std::move(set)}}}}});
  }
  return program;
}

}  // namespace tessera::stream
