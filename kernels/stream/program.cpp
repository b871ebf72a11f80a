#include <array>
#include <bit>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/layout.h"
#include "kernels/stream/stream.h"
#include "sim/data/element.h"
#include "sim/data/random.h"
#include "sim/elf/codelet.h"
#include "sim/plan/fitted_cost.h"

namespace tessera::stream {

using program::BufferId;
using program::Place;

namespace {

constexpr config::Names<Operation, 5> kOperations{{{"copy", Operation::copy},
                                                   {"scale", Operation::scale},
                                                   {"add", Operation::add},
                                                   {"triad", Operation::triad},
                                                   {"update", Operation::update}}};
constexpr config::Names<program::Type, 3> kTypes{
    {{"f16", program::Type::f16}, {"f32", program::Type::f32}, {"i32", program::Type::i32}}};

constexpr std::size_t kResultArgument = 2;  ///< of a vertex: the place of a's first part

/// Times that the loop goes past an array's elements.
std::uint64_t arrays_touched(Operation operation) {
  return operation == Operation::update ? 2 : arrays_of(operation);
}

}  // namespace

void describe(config::Fields& fields, Options& options) {
  fields.field({"operation",
                "copy a = b, scale a = s b, add a = b + c, triad a = b + s c; i32 also update "
                "a = a + s"},
               options.operation, kOperations);
  fields.field({"dtype", "type of the elements: f16 and f32 packed, i32 one by one"}, options.dtype,
               kTypes);
  fields.require(options.operation != Operation::update || options.dtype == program::Type::i32,
                 "operation",
                 fmt::format("found update, allowed copy, scale, add, triad with dtype {}",
                             config::name_of(kTypes, options.dtype)));
  fields.field({"elements_per_worker", "array elements of each worker"},
               options.elements_per_worker, {1, 1u << 24});
  fields.field({"repeats", "times the loop runs, a barrier between"}, options.repeats,
               {1, 1000000});
  fields.field({"seed", "of the values"}, options.seed);
}

Stream::Stream(const Options& options, MachineCosts& costs)
    : options_(options),
      machine_(costs.machine()),
      codelet_(elf::embedded_codelet(
          "stream", fmt::format("stream_{}_{}", config::name_of(kOperations, options.operation),
                                config::name_of(kTypes, options.dtype)))),
      prediction_(predict(costs)) {}

std::uint32_t Stream::padded_elements() const {
  return round_up(options_.elements_per_worker,
                  body_bytes(options_.dtype) / data::element_bytes(options_.dtype));
}

std::uint32_t Stream::worker_bytes() const {
  return padded_elements() * data::element_bytes(options_.dtype);
}

double Stream::initial(TileId tile, std::uint64_t stream, std::uint64_t at) const {
  const std::uint64_t element = (std::uint64_t{index(tile)} << 32) + at;
  return static_cast<double>(data::random_signed(options_.seed, stream, element, 8));
}

std::uint32_t Stream::initial_word(TileId tile, std::uint64_t stream, std::uint64_t at) const {
  const std::uint64_t element = (std::uint64_t{index(tile)} << 32) + at;
  return static_cast<std::uint32_t>(data::random_bits(options_.seed, stream, element));
}

nlohmann::ordered_json Stream::plan() const {
  return {{"elements_per_worker", padded_elements()}, {"workers", machine_.tile.contexts}};
}

/// All tiles do the same: one of them is asked, with fewer elements and repeats where those have a
/// law.
Prediction Stream::predict(MachineCosts& costs) const {
  // Where contexts compete for issue slots, their order settles after some bodies.
  constexpr FittedCost::Axis kBodies{8, 32};
  constexpr FittedCost::Axis kRepeats{1, 2};
  FittedCost compute({kBodies, kRepeats}, [&](const FittedCost::Sizes& sizes) {
    const auto [bodies, repeats] = std::array{sizes[0], sizes[1]};
    program::Program sample(1);
    const auto bytes = word(bodies * body_bytes(options_.dtype));
    program::ComputeSet set{"sample", {loop(sample, TileId{0}, bytes, false)}};
    sample.main().steps.push_back(repeated(std::move(set), word(repeats)));
    return costs.tile(sample).compute_cycles;
  });
  Prediction p;
  p.compute_cycles = compute({worker_bytes() / body_bytes(options_.dtype), options_.repeats});
  p.sync_cycles = costs.barrier() * options_.repeats;
  p.cycles = p.compute_cycles + p.sync_cycles;
  return p;
}

std::uint64_t Stream::operations() const {
  constexpr std::array<std::uint64_t, 5> kAnElement{0, 1, 1, 2, 1};
  return kAnElement[static_cast<std::size_t>(options_.operation)] * options_.elements_per_worker *
         machine_.tile.contexts * machine_.tiles * options_.repeats;
}

std::uint64_t Stream::useful_flops() const {
  return options_.dtype == program::Type::i32 ? 0 : operations();
}

std::uint64_t Stream::useful_integer_operations() const {
  return options_.dtype == program::Type::i32 ? operations() : 0;
}

std::uint64_t Stream::useful_bytes() const {
  return arrays_touched(options_.operation) * options_.elements_per_worker *
         data::element_bytes(options_.dtype) * machine_.tile.contexts * machine_.tiles *
         options_.repeats;
}

std::string Stream::problem() const {
  return fmt::format("{}, {} elements a worker {}",
                     config::name_of(kOperations, options_.operation), options_.elements_per_worker,
                     config::name_of(kTypes, options_.dtype));
}

std::string Stream::peak_type() const { return "bytes"; }

std::uint32_t Stream::scalar_bits() const {
  if (options_.dtype == program::Type::i32) return kIntegerScalar;
  std::array<std::byte, 4> bytes{};
  data::store_element(options_.dtype, bytes, 0, kScalar);
  return std::bit_cast<std::uint32_t>(bytes);
}

void Stream::fill(TileId tile, std::uint64_t stream, std::uint64_t first,
                  std::span<std::byte> into) const {
  const std::size_t elements = into.size() / data::element_bytes(options_.dtype);
  for (std::size_t i = 0; i < elements; ++i) {
    const std::uint32_t word = initial_word(tile, stream, first + i);
    if (options_.dtype == program::Type::i32)
      std::memcpy(&into[i * sizeof word], &word, sizeof word);
    else
      data::store_element(options_.dtype, into, i, initial(tile, stream, first + i));
  }
}

BufferId Stream::add_array(program::Program& program, TileId tile, std::uint64_t stream,
                           std::uint32_t bytes) const {
  auto contents = [this, tile, stream](std::span<std::byte> into) { fill(tile, stream, 0, into); };
  const bool result = options_.operation == Operation::update;
  constexpr std::array<std::string_view, 3> kNames{"a", "b", "c"};
  return program.add_buffer(
      {tile, bytes, 8, result, program::Category::tensors, contents, kNames[result ? 0 : stream]});
}

program::Vertex Stream::loop(program::Program& program, TileId tile, std::uint32_t bytes,
                             bool filled) const {
  const std::uint32_t codelet = program.add_codelet(codelet_);
  const std::uint32_t all = bytes * machine_.tile.contexts;
  const auto add = [&](bool keep, std::string_view name) {
    return program.add_buffer({tile, all, 8, keep, program::Category::tensors, {}, name});
  };
  const auto input = [&](std::uint64_t stream) {
    return filled ? add_array(program, tile, stream, all) : add(false, "sample");
  };
  const std::uint32_t arrays = arrays_of(options_.operation);
  const BufferId a = arrays == 1 ? input(1) : add(true, "a");
  const BufferId b = arrays > 1 ? input(1) : a;
  const BufferId c = arrays > 2 ? input(2) : b;
  program::Vertex vertex{tile, codelet, program::Executor::all_workers, 0, {scalar_bits(), 0u}};
  for (std::uint32_t w = 0; w < machine_.tile.contexts; ++w) {
    const std::uint32_t part = w * bytes;
    vertex.arguments.insert(vertex.arguments.end(), {Place{a, part}, Place{b, part}, Place{c, part},
                                                     bytes / body_bytes(options_.dtype) - 1});
  }
  return vertex;
}

program::Step Stream::repeated(program::ComputeSet set, std::uint32_t times) const {
  if (times == 1) return {std::move(set)};
  return {program::Repeat{times, {{{std::move(set)}}}}};
}

program::Program Stream::build() const {
  program::Program program(machine_.tiles);
  program::ComputeSet set{std::string(config::name_of(kOperations, options_.operation)), {}};
  std::vector<BufferId> results;
  for (std::uint32_t t = 0; t < machine_.tiles; ++t) {
    set.vertices.push_back(loop(program, TileId{t}, worker_bytes(), true));
    results.push_back(std::get<Place>(set.vertices.back().arguments[kResultArgument]).buffer);
  }
  program.main().steps.push_back(repeated(std::move(set), options_.repeats));
  add_tensors(program, results);
  return program;
}

void Stream::add_tensors(program::Program& program, const std::vector<BufferId>& results) const {
  const std::uint64_t each = std::uint64_t{padded_elements()} * machine_.tile.contexts;
  const std::uint32_t size = data::element_bytes(options_.dtype);
  program::Tensor a{"a",
                    program::Role::result,
                    options_.dtype,
                    {machine_.tiles, machine_.tile.contexts, padded_elements()}};
  program::Tensor given = a;
  for (const BufferId buffer : results) a.parts.push_back({{buffer}, word(each * size)});
  a.runs = program::slices(a.shape);
  program.add_tensor(std::move(a));
  given.role = program::Role::input;
  const std::uint32_t arrays = arrays_of(options_.operation);
  for (std::uint64_t stream = 1; stream < std::max(arrays, 2U); ++stream) {
    given.name = arrays == 1 ? "a0" : stream == 1 ? "b" : "c";
    given.given = [this, stream, each, size](std::uint64_t first, std::span<std::byte> into) {
      for (std::uint64_t at = first, end = first + into.size() / size, next = 0; at < end;
           at = next) {
        next = std::min(end, (at / each + 1) * each);
        fill(TileId(word(at / each)), stream, at % each,
             into.subspan((at - first) * size, (next - at) * size));
      }
    };
    program.add_tensor(given);
  }
}

}  // namespace tessera::stream
