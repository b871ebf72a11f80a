#include <vector>

#include <fmt/format.h>

#include "kernels/check/comparison.h"
#include "kernels/external.h"
#include "kernels/layout.h"
#include "kernels/stream/stream.h"
#include "sim/data/element.h"
#include "sim/elf/codelet.h"
#include "sim/plan/uniform.h"
#include "sim/program/catalogue.h"

namespace tessera::stream {

namespace {

constexpr config::Names<Operation, 8> kOperations{{{"copy", Operation::copy},
                                                   {"scale", Operation::scale},
                                                   {"add", Operation::add},
                                                   {"triad", Operation::triad},
                                                   {"update", Operation::update},
                                                   {"read", Operation::read},
                                                   {"write", Operation::write},
                                                   {"copy_dma", Operation::copy_dma}}};
constexpr config::Names<program::Type, 3> kTypes{
    {{"f16", program::Type::f16}, {"f32", program::Type::f32}, {"i32", program::Type::i32}}};

/// Unit of blocks and of workers' parts: a loop body of every type, or an element.
constexpr std::uint32_t kUnitBytes = 16;
std::uint32_t unit_bytes(const Options& options, const MachineConfig& machine) {
  if (!options.external) return body_bytes(options.dtype);
  if (!workers_start_transfers(machine)) return kUnitBytes;
  return std::max(machine.external.worker_dma->align_bytes,
                  only_moves(options.operation) ? data::element_bytes(options.dtype) : kUnitBytes);
}

std::string codelet_name(const Options& options, const MachineConfig& machine) {
  const std::string_view operation = config::name_of(kOperations, options.operation);
  const bool by_workers = only_moves(options.operation) || workers_start_transfers(machine);
  if (!options.external || !by_workers)
    return fmt::format("stream_{}_{}", operation, config::name_of(kTypes, options.dtype));
  const bool any_type = facts_of(options.operation).operations == 0;
  return any_type ? fmt::format("stream_outside_{}", operation)
                  : fmt::format("stream_outside_{}_{}", operation,
                                config::name_of(kTypes, options.dtype));
}

/// Options with block_bytes set from the machine, if not given.
Options resolved(Options options, const MachineConfig& machine) {
  if (options.external && options.block_bytes == 0 && workers_start_transfers(machine))
    options.block_bytes = machine.external.worker_dma->max_bytes;
  return options;
}

void require_memory(const Options& options, const MachineConfig& machine) {
  if (!options.external) return;
  if (!machine.has_external)
    throw KeyError("workload.operands",
                   "found external, allowed tiles: the machine has no external memory "
                   "(machine.external)");
  if (workers_start_transfers(machine)) {
    const WorkerDmaConfig& dma = *machine.external.worker_dma;
    const std::uint32_t unit = unit_bytes(options, machine);
    if (options.block_bytes % unit != 0 || options.block_bytes > dma.max_bytes)
      throw KeyError("workload.block_bytes",
                     "found {}, allowed multiples of {} up to {} "
                     "(machine.external.worker_dma)",
                     options.block_bytes, unit, dma.max_bytes);
    return;
  }
  if (machine.external.reach == ExternalReach::tile)
    throw KeyError("workload.operands",
                   "found external, allowed tiles where each tile reaches memory of its own alone "
                   "and workers start no transfers (machine.external.worker_dma)");
  const std::uint32_t unit = kUnitBytes * machine.tile.contexts;
  if (options.block_bytes == 0 || options.block_bytes % unit != 0)
    throw KeyError("workload.block_bytes",
                   "found {}, allowed multiples of {}: {} for each worker of a tile",
                   options.block_bytes, unit, kUnitBytes);
  if (facts_of(options.operation).reads == 0 || options.operation == Operation::copy_dma)
    throw KeyError("workload.operation",
                   "found {}, allowed copy, scale, add, triad, read where workers start "
                   "no transfers (machine.external.worker_dma)",
                   config::name_of(kOperations, options.operation));
  if (options.repeats > 1)
    throw KeyError("workload.repeats",
                   "found {}, allowed 1 with operands external where workers start no "
                   "transfers (machine.external.worker_dma)",
                   options.repeats);
}

/// Computes an element of a.
template <class Number>
Number made(Operation operation, Number b, Number c, Number scalar) {
  switch (operation) {
    case Operation::scale:
      return scalar * b;
    case Operation::add:
      return b + c;
    case Operation::triad:
      return b + scalar * c;
    case Operation::update:
      return b + scalar;
    default:
      return b;
  }
}

/// The bits of an i32 value.
std::uint32_t modulo(double value) {
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
}

}  // namespace

void describe(config::Fields& fields, Options& options) {
  fields.field({"operation",
                "copy a = b, scale a = s b, add a = b + c, triad a = b + s c; i32 also update a = "
                "a + s; with external operands also the transfers alone: read of b, write of a, "
                "copy_dma of b to a"},
               options.operation, kOperations);
  fields.field(
      {"dtype",
       "type of the elements: f16 and f32 use packed arithmetic, i32 one element at a time"},
      options.dtype, kTypes);
  fields.require(options.operation != Operation::update || options.dtype == program::Type::i32,
                 "operation", "found update, allowed copy, scale, add, triad with dtype {}",
                 config::name_of(kTypes, options.dtype));
  fields.field({"operands",
                "location of the arrays: tile SRAM, or external memory, from which workers load "
                "block by block by their own DMA, or supervisors if workers have none"},
               options.external, kernels::kOperandPlaces);
  fields.require(options.external || !only_moves(options.operation), "operation",
                 "found {}, allowed copy, scale, add, triad, update with operands tiles",
                 config::name_of(kOperations, options.operation));
  fields.require(!options.external || options.operation != Operation::update, "operation",
                 "found update, allowed copy, scale, add, triad, read, write, copy_dma with "
                 "operands external");
  fields.field({"block_bytes",
                "bytes of a block of an array that a worker (or a supervisor for its tile) loads "
                "or stores at once; 0: the most that its DMA moves",
                "bytes", false, options.external ? "" : "operands"},
               options.block_bytes, {0, 1U << 20});
  fields.field({"elements_per_worker",
                "array elements of each worker, rounded up to whole vectors "
                "(workload.worker_elements of the report)"},
               options.elements_per_worker, {1, 1u << 24});
  fields.field({"repeats", "number of times that the loop runs, with barriers between"},
               options.repeats, {1, 1000000});
  fields.field({"seed", "seed of the values"}, options.seed);
}

Stream::Stream(const Options& options, MachineCosts& costs)
    : options_(resolved(options, costs.machine())),
      machine_(costs.machine()),
      codelet_(elf::embedded_codelet("stream", codelet_name(options, machine_))) {
  require_memory(options_, machine_);
  const Facts facts = facts_of(options.operation);
  const std::uint64_t elements = std::uint64_t{options.elements_per_worker} *
                                 machine_.tile.contexts * machine_.tiles * options.repeats;
  const std::uint64_t operations = facts.operations * elements;
  const bool integer = options.dtype == program::Type::i32;
  summarise({.problem = fmt::format(
                 "{}, {} elements a worker {}{}", config::name_of(kOperations, options.operation),
                 options.elements_per_worker, config::name_of(kTypes, options.dtype),
                 options.external ? " outside" : ""),
             .peak_type = "bytes",
             .prediction = predict(costs),
             .facts = {{"worker_elements", padded_elements()}, {"workers", machine_.tile.contexts}},
             .useful_flops = integer ? 0 : operations,
             .useful_integer_operations = integer ? operations : 0,
             .useful_bytes =
                 (facts.reads + facts.writes) * elements * data::element_bytes(options.dtype)});
}

std::uint32_t Stream::padded_elements() const {
  return round_up(options_.elements_per_worker,
                  unit_bytes(options_, machine_) / data::element_bytes(options_.dtype));
}

std::uint32_t Stream::element_bytes() const { return data::element_bytes(options_.dtype); }
std::uint32_t Stream::worker_bytes() const { return padded_elements() * element_bytes(); }

double Stream::initial(TileId tile, std::uint64_t stream, std::uint64_t at) const {
  return seeded(stream).element(plan::number_in_slice(index(tile), at));
}

std::uint32_t Stream::scalar_bits() const {
  if (options_.dtype == program::Type::i32) return kIntegerScalar;
  return kernels::bits_of(options_.dtype, kScalar);
}

void Stream::add_calls(plan::Description& description, std::string_view name,
                       const program::Vertex& vertex, std::uint32_t repeats) {
  const auto add = [&] {
    description.compute(std::string(name), description.tiles(),
                        [vertex](Tile /*tile*/, Calls& calls) { calls.add(vertex); });
  };
  repeats == 1 ? add() : description.repeat(repeats, add);
}

void Stream::add_given(plan::Description& description, const char* name, std::uint64_t stream,
                       const Shape& shape) const {
  program::Tensor tensor{name, program::Role::input, options_.dtype, shape};
  const std::uint64_t slice = tensor.elements() / shape.front();
  plan::add_given(description, std::move(tensor),
                  [rounds = in_rounds(), slice, values = plan::slices_of(seeded(stream))](
                      Tile tile, std::uint64_t at, std::span<std::byte> into) {
                    if (rounds)  // indices count through all tiles
                      values(0, tile * slice + at, into);
                    else
                      values(tile, at, into);
                  });
}

void Stream::state_loop(plan::Description& description, std::uint32_t bodies,
                        std::uint32_t repeats) const {
  const std::uint32_t bytes = bodies * body_bytes(options_.dtype);
  const Shape shape{description.tiles(), machine_.tile.contexts, bytes / element_bytes()};
  const auto given = [&](std::string_view name, const char* tensor, std::uint64_t stream) {
    return plan::add_given(description, {.name = name, .bytes = {}, .keep = name == "a"},
                           {tensor, program::Role::input, options_.dtype, shape},
                           plan::slices_of(seeded(stream)));
  };
  const std::uint32_t arrays = arrays_of(options_.operation);
  const std::uint64_t all = std::uint64_t{bytes} * machine_.tile.contexts;
  const BufferId a = arrays == 1
                         ? given("a", "a0", 1)
                         : description.array({"a", [all](Tile /*tile*/) { return all; }, true});
  const BufferId b = arrays > 1 ? given("b", "b", 1) : a;
  const BufferId c = arrays > 2 ? given("c", "c", 2) : b;
  add_calls(description, config::name_of(kOperations, options_.operation),
            loop(codelet(description), bytes, a, b, c), repeats);
  plan::add_result(description, {"a", program::Role::result, options_.dtype, shape}, a);
}

program::Vertex Stream::loop(const kernels::Codelet& codelet, std::uint32_t bytes, BufferId a,
                             BufferId b, BufferId c) const {
  kernels::Arguments arguments{scalar_bits(), 0U};
  for (std::uint32_t w = 0; w < codelet.contexts; ++w) {
    const std::uint32_t part = w * bytes;
    arguments.insert(arguments.end(), {Place{a, part}, Place{b, part}, Place{c, part},
                                       bytes / body_bytes(options_.dtype) - 1});
  }
  return codelet.all(std::move(arguments));
}

/// Inputs are multiples of 2^-8 below 1 and s = 1.5, so every result is exact in f16 and f32. i32
/// is exact modulo 2^32, and compared as numbers.
CheckResult Stream::check(const TensorReader& tensors, const CheckRequest& request) const {
  constexpr double kLessThanOne = 0.5;
  const bool integer = options_.dtype == program::Type::i32;
  const program::Type type = integer ? program::Type::f32 : options_.dtype;
  const Operation operation = options_.operation;
  const std::uint32_t added = operation == Operation::update ? options_.repeats : 1;
  kernels::Comparison comparison({"a", type, type});
  const auto compare_slice = [&](std::uint32_t slice, kernels::Comparison& into) {
    const std::vector<std::byte> bytes = tensors.slice("a", slice);
    const std::size_t elements = bytes.size() / element_bytes();
    for (std::size_t i = 0; i < elements; ++i) {
      const auto [tile, at] = element(slice, i, elements);
      const double b = initial(tile, 1, at), c = initial(tile, 2, at);
      const double found = data::load_element(options_.dtype, bytes, i);
      if (integer) {
        const auto expected = static_cast<std::int32_t>(
            made(operation, modulo(b), modulo(c), added * kIntegerScalar));
        into.add({slice, i, found, static_cast<double>(expected), kLessThanOne});
      } else {
        into.add_exact(slice, i, found, made(operation, b, c, kScalar));
      }
    }
  };
  HostThreads threads(request.threads);
  comparison.add_all(slices(), 1, threads,
                     [&](std::size_t begin, std::size_t end, kernels::Comparison& into) {
                       for (; begin < end; ++begin)
                         compare_slice(static_cast<std::uint32_t>(begin), into);
                     });
  return comparison.result("full");
}

std::uint32_t Stream::slices() const {
  const bool stores_blocks = in_rounds() && facts_of(options_.operation).writes > 0;
  return machine_.tiles * (stores_blocks ? rounds() : 1);
}

Stream::Element Stream::element(std::uint32_t slice, std::uint64_t at,
                                std::uint64_t elements) const {
  if (in_rounds()) return {TileId{0}, source_of(slice * elements + at)};
  return {TileId{slice}, source_of(at)};
}

Kernel kernel() {
  return make_kernel<Options, Stream>(
      "stream",
      "STREAM copy, scale, add and triad, and updates, in every tile's SRAM or in external memory");
}

}  // namespace tessera::stream
