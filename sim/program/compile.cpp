#include <algorithm>

#include "sim/base/counted.h"
#include "sim/machine/nodes.h"
#include "sim/program/assembler.h"
#include "sim/program/compiler.h"

namespace tessera::program {
namespace {

std::uint64_t& of(CategoryBytes& memory, Category category) {
  return memory[static_cast<std::size_t>(category)];
}

const char* kind_of(const FlatStep& step) {
  if (step.compute != nullptr) return "compute";
  if (!step.waits) return "start";
  if (!step.starts) return "wait";
  if (!step.exchange->host) return "exchange";
  return step.exchange->host->direction == HostTransfer::Direction::read ? "host_read"
                                                                         : "host_write";
}

}  // namespace

void Compiler::start() {
  images_.tiles.resize(program_.tiles());
  images_.buffer_address.resize(program_.buffers().size());
  images_.zone_of = program_.zone_of();
  for (const FlatStep& step : flow_.steps) {
    StepInfo info;
    info.measured = step.measured;
    info.name = step.compute != nullptr ? step.compute->name : step.exchange->name;
    info.kind = kind_of(step);
    info.waits_for_host = step.waits_for_host();
    images_.steps.push_back(std::move(info));
  }
  std::vector<TileWork> work = work_by_tile(program_, flow_);
  for (std::uint32_t tile = 0; tile < tiles_.size(); ++tile) {
    tiles_[tile].work = std::move(work[tile]);
    require_workers(TileId{tile});
  }
}

/// Throws UserError if a vertex of the tile needs workers that the tile does not have.
void Compiler::require_workers(TileId tile) const {
  const std::uint32_t contexts = tile_of(machine_, index(tile)).contexts;
  for (const Work& item : tiles_[index(tile)].work) {
    if (item.vertex == nullptr || item.vertex->executor == Executor::supervisor) continue;
    if (contexts == 0)
      throw UserError(
          "program: {}: a vertex for workers on {}, which has none: its supervisor "
          "alone runs there",
          flow_.steps[item.step].compute->name, node_name(machine_, index(tile)));
    check(item.vertex->executor != Executor::one_worker || item.vertex->worker < contexts,
          "program: a vertex for worker {} of {}", item.vertex->worker, contexts);
  }
}

void Compiler::emit_code() {
  for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
    TileState& state = tiles_[tile];
    const std::uint32_t zone = program_.zone_of(TileId{static_cast<std::uint32_t>(tile)});
    const std::size_t kind = class_number(machine_, static_cast<std::uint32_t>(tile));
    std::vector<std::uint32_t> signature = control_signature(zone, state.work);
    if (kind != 0) signature.insert(signature.begin(), ~static_cast<std::uint32_t>(kind));
    const auto [entry, is_new] = groups_.try_emplace(std::move(signature));
    ControlGroup& group = entry->second;
    if (is_new) {
      group.data = layout_control_data(state.work);
      group.code = emit_control(program_, flow_, zone, state.work, group.data,
                                tile_of_class(machine_, kind));
      group.code.image.arguments = Address(group.code.data_begin + group.data.table_bytes);
      group.image = std::make_shared<const CodeImage>(std::move(group.code.image));
    }
    state.group = &group;
    images_.tiles[tile].code = group.image;
    CategoryBytes& memory = images_.tiles[tile].memory;
    of(memory, Category::code) = group.code.codelet_bytes;
    of(memory, Category::control) = group.code.control_bytes;
    of(memory, Category::stack) = group.code.stack_bytes;
    of(memory, Category::exchange) = group.data.table_bytes;
    of(memory, Category::arguments) = group.data.bytes - group.data.table_bytes;
  }
}

void Compiler::place_buffers() {
  const std::vector<Lifetime> lives = lifetimes(program_, flow_);
  for (std::uint32_t id = 0; id < lives.size(); ++id) {
    if (lives[id].used()) {
      tiles_[index(program_.buffers()[id].tile)].buffers.push_back(BufferId{id});
    }
  }
  std::map<std::pair<std::uint64_t, std::vector<Block>>, Layout> layouts;
  const auto steps = static_cast<std::uint32_t>(flow_.steps.size());
  for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
    TileState& state = tiles_[tile];
    std::vector<Block> blocks;
    for (BufferId id : state.buffers) {
      const Buffer& buffer = program_.buffer(id);
      blocks.push_back(
          {buffer.bytes, buffer.align, lives[static_cast<std::size_t>(id)], buffer.category});
      if (buffer.initialised()) images_.tiles[tile].initialised.push_back(id);
    }
    const std::uint64_t base = state.group->code.data_begin + state.group->data.bytes;
    const auto [entry, is_new] = layouts.try_emplace({base, std::move(blocks)});
    Layout& layout = entry->second;
    if (is_new) {
      layout = place(entry->first.second, base, steps);
      note_live(layout, program_.zone_of(TileId{static_cast<std::uint32_t>(tile)}));
    }
    for (std::size_t i = 0; i < state.buffers.size(); ++i) {
      images_.buffer_address[static_cast<std::size_t>(state.buffers[i])] =
          Address(static_cast<std::uint32_t>(layout.address[i]));
    }
    CategoryBytes& memory = images_.tiles[tile].memory;
    for (std::size_t i = 0; i < kCategories; ++i) memory[i] += layout.peak[i];
    state.lists_begin = round_up<std::uint64_t>(layout.end, kListAlign);
    of(memory, Category::exchange) += state.lists_begin - layout.end;
  }
  // Addresses have 32 bits: a larger program is refused without its lists' sizes.
  const bool addressable = std::all_of(tiles_.begin(), tiles_.end(), [](const TileState& state) {
    return state.lists_begin <= UINT32_MAX;
  });
  if (!addressable) throw UserError(overflow(kOverflow));
  buffers_.reserve(lives.size());
  for (std::size_t id = 0; id < lives.size(); ++id)
    buffers_.push_back({program_.buffers()[id].tile, images_.buffer_address[id]});
}

void Compiler::note_live(const Layout& layout, std::uint32_t zone) {
  for (std::uint32_t step = flow_.begin_of_zone(zone); step < flow_.end_of_zone[zone]; ++step) {
    std::uint64_t& most = images_.steps[step].live_bytes;
    most = std::max(most, layout.live[step]);
  }
}

/// Places external buffers one after another, on the chip or on each tile.
void Compiler::place_outers() {
  if (program_.outers().empty()) return;
  check(machine_.has_external, "program: buffers outside on a machine without external memory");
  const bool shared = machine_.external.reach == ExternalReach::chip;
  std::vector<std::uint64_t> ends(shared ? 1 : program_.tiles());
  for (const OuterBuffer& buffer : program_.outers()) {
    std::uint64_t& end = ends[shared ? 0 : index(buffer.tile)];
    images_.outer_address.push_back(end);
    end = end_of_outer(end, buffer.bytes);
  }
  const std::uint64_t most = *std::ranges::max_element(ends);
  images_.outer_bytes = most;
  if (most <= machine_.external.bytes()) return;
  std::string buffers;
  for (const OuterBuffer& buffer : program_.outers())
    if (shared || buffer.tile == program_.outers().front().tile)
      buffers += fmt::format("{}{} {}", buffers.empty() ? "" : ", ", buffer.name, buffer.bytes);
  throw UserError(
      "the program does not fit: external memory{} holds {} bytes (machine.external: {}), "
      "needed {}: {}",
      shared ? "" : " of a tile", machine_.external.bytes(), machine_.external.shown_capacity(),
      most, buffers);
}

std::uint32_t Compiler::word_of(const Argument& argument) const {
  if (const auto* word = std::get_if<std::uint32_t>(&argument)) return *word;
  if (const auto* place = std::get_if<OuterPlace>(&argument)) {
    check(machine_.external.worker_dma.has_value(),
          "program: an address outside for code on a machine whose workers do not reach there");
    return static_cast<std::uint32_t>(
        images_.outer_address[static_cast<std::size_t>(place->buffer)] + place->offset);
  }
  return port(std::get<Place>(argument)).address.count();
}

Port Compiler::port(Place place) const {
  const Port base = buffers_[static_cast<std::size_t>(place.buffer)];
  return {base.tile, base.address + Address(place.offset)};
}

void Compiler::write_arguments() {
  for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
    TileState& state = tiles_[tile];
    const ControlData& data = state.group->data;
    state.control_data.resize(data.bytes);
    for (std::size_t i = 0; i < state.work.size(); ++i) {
      const Work& item = state.work[i];
      if (item.decision != nullptr) {
        write_word(state.control_data, data.offset[i],
                   port(item.decision->decisions[tile]).address.count());
      }
      if (item.vertex == nullptr) continue;
      std::size_t at = data.offset[i];
      for (const Argument& argument : item.vertex->arguments) {
        write_word(state.control_data, at, word_of(argument));
        at += sizeof(std::uint32_t);
      }
    }
  }
}

void Compiler::finish_tiles() {
  for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
    TileState& state = tiles_[tile];
    const std::size_t expected = state.group->data.exchanges.size();
    check(state.exchanges == expected, "program: tile {} has {} descriptor lists of {}", tile,
          state.exchanges, expected);
    TileImage& image = images_.tiles[tile];
    of(image.memory, Category::exchange) += state.list_bytes;
    if (!state.control_data.empty()) {
      image.segments.push_back(
          {Address(state.group->code.data_begin), std::move(state.control_data)});
    }
    if (!state.lists.empty()) {
      image.segments.push_back(
          {Address(static_cast<std::uint32_t>(state.lists_begin)), std::move(state.lists)});
    }
  }
}

/// Gives nodes that the program does not name code that ends at once, and a zone of their own.
void Compiler::add_idle_nodes() {
  const std::uint32_t nodes = node_count(machine_);
  if (images_.tiles.size() == nodes) return;
  Assembler end;
  end.control(0);
  auto image = std::make_shared<CodeImage>();
  image->bytes = end.take();
  image->idle = true;
  TileImage idle;
  of(idle.memory, Category::control) = image->bytes.size();
  idle.code = std::move(image);
  images_.zone_of.resize(images_.tiles.size());
  images_.zone_of.resize(nodes, program_.zones());
  images_.tiles.resize(nodes, idle);
}

bool Compiler::fits() const {
  std::uint32_t tile = 0;
  return std::ranges::all_of(images_.tiles, [&](const TileImage& image) {
    return over(image.memory, tile_of(machine_, tile++)) == 0;
  });
}

std::string Compiler::overflow(std::string_view what) const {
  return overflow_message(what, bytes_by_tile(images_), machine_);
}

namespace {

/// Throws UserError for buffers too large for 32-bit offsets.
void require_addressable(const Program& program, const MachineConfig& machine) {
  for (const Buffer& buffer : program.buffers())
    if (buffer.bytes > UINT32_MAX)
      throw UserError(
          "the program does not fit: {} takes {} bytes on tile {}, allowed {} KiB of everything",
          buffer.name, buffer.bytes, index(buffer.tile),
          tile_of(machine, index(buffer.tile)).sram_kib);
}

Images compile(const Program& program, const MachineConfig& machine, const ExchangeSizer& sizer,
               const ExchangeCompiler* compiler, const Watch& watch = {}) {
  check(program.tiles() <= node_count(machine), "program: for {} tiles on a machine of {} nodes",
        program.tiles(), node_count(machine));
  require_addressable(program, machine);
  validate(program);
  const MachineConfig started = started_by(program, machine);
  Compiler fastest(program, started, sizer, compiler, watch);
  if (fastest.compile()) return fastest.take();
  const auto shortest = fastest.fits_without_lists() ? sizer.shortest() : nullptr;
  if (!shortest) fastest.fail();
  const Watch unwatched;
  Compiler shorter(
      program, started, *shortest,
      compiler == nullptr ? nullptr : &dynamic_cast<const ExchangeCompiler&>(*shortest), unwatched);
  if (!shorter.compile()) shorter.fail();
  Images images = shorter.take();
  images.shortest_lists = true;
  return images;
}

}  // namespace

MachineConfig started_by(const Program& program, MachineConfig machine) {
  if (program.workers() > 0) machine.tile.contexts = program.workers();
  return machine;
}

ExchangeUsage ExchangeCompiler::resource_usage(std::uint32_t exchange,
                                               std::span<const PlacedCopy> copies) const {
  const CompiledExchange compiled = compile(exchange, copies);
  ExchangeUsage usage{{}, compiled.makespan, compiled.bound, compiled.ports};
  for (const DescriptorList& list : compiled.lists)
    usage.lists.push_back({list.tile, list.bytes.size()});
  return usage;
}

Images compile(const Program& program, const MachineConfig& machine,
               const ExchangeCompiler& exchanges) {
  return compile(program, machine, exchanges, &exchanges);
}

Images outline(const Program& program, const MachineConfig& machine,
               const ExchangeSizer& exchanges) {
  return compile(program, machine, exchanges, nullptr);
}

std::optional<Images> outline(const Program& program, const MachineConfig& machine,
                              const ExchangeSizer& exchanges, const Watch& watch) try {
  return compile(program, machine, exchanges, nullptr, watch);
} catch (const Stopped&) {
  return std::nullopt;
}

ResourceUsage usage_of(const Images& images) {
  return {images.steps, summarise_memory(images), images.shortest_lists};
}

ResourceUsage resource_usage(const Program& program, const MachineConfig& machine,
                             const ExchangeSizer& exchanges) {
  return *resource_usage(program, machine, exchanges, {});
}

std::optional<ResourceUsage> resource_usage(const Program& program, const MachineConfig& machine,
                                            const ExchangeSizer& exchanges, const Watch& watch) {
  const std::optional<Images> images = outline(program, compiled_for(machine), exchanges, watch);
  return images ? std::optional(usage_of(*images)) : std::nullopt;
}

MachineConfig compiled_for(const MachineConfig& machine) {
  MachineConfig kept;
  kept.name = machine.name;
  kept.tiles = machine.tiles;
  kept.fabric = machine.fabric;
  kept.nodes = machine.nodes;
  kept.has_external = machine.has_external;
  if (machine.has_external) kept.clock_ghz = machine.clock_ghz;  // memory has another clock
  kept.external = machine.external;
  kept.tile.overlap = machine.tile.overlap;
  kept.tile.sram_kib = machine.tile.sram_kib;
  kept.tile.program_kib = machine.tile.program_kib;
  kept.tile.contexts = machine.tile.contexts;
  kept.tile.worker_stack_bytes = machine.tile.worker_stack_bytes;
  kept.tile.supervisor_stack_bytes = machine.tile.supervisor_stack_bytes;
  return kept;
}

}  // namespace tessera::program
