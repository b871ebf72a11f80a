#include "kernels/training/replicas.h"

namespace tessera::training {

GroupCosts::GroupCosts(MachineCosts& costs, std::uint32_t tiles)
    : costs_(costs), machine_(costs.machine()) {
  machine_.tiles = tiles;
}

program::Needs GroupCosts::needs(const program::Program& program) const {
  program::Program wide(costs_.machine().tiles);
  for (const program::Codelet& codelet : program.codelets()) wide.add_codelet(codelet);
  for (const program::Buffer& buffer : program.buffers()) wide.add_buffer(buffer);
  wide.main() = program.main();
  return costs_.needs(wide);
}

Replicas::Replicas(program::Program& program, std::uint32_t tiles, std::uint32_t copies)
    : program_(program), tiles_(tiles), copies_(copies), buffers_(word(program.buffers().size())) {}

void Replicas::replicate(const Contents& contents) {
  for (std::uint32_t copy = 1; copy < copies_; ++copy) {
    for (std::uint32_t id = 0; id < buffers_; ++id) {
      program::Buffer buffer = program_.buffer(BufferId(id));
      buffer.tile = TileId(index(buffer.tile) + copy * tiles_);
      if (auto others = contents(BufferId(id), copy)) buffer.contents = std::move(others);
      program_.add_buffer(std::move(buffer));
    }
  }
  replicate(program_.main());
}

void Replicas::replicate(program::Sequence& sequence) const {
  for (program::Step& step : sequence.steps) {
    if (auto* const set = std::get_if<program::ComputeSet>(&step.action)) replicate(*set);
    if (auto* const exchange = std::get_if<program::Exchange>(&step.action)) replicate(*exchange);
    if (auto* const transfer = std::get_if<program::HostTransfer>(&step.action))
      replicate(*transfer);
    if (auto* const repeat = std::get_if<program::Repeat>(&step.action)) replicate(repeat->body);
  }
}

void Replicas::replicate(program::ComputeSet& set) const {
  const std::size_t each = set.vertices.size();
  for (std::uint32_t copy = 1; copy < copies_; ++copy) {
    for (std::size_t i = 0; i < each; ++i) {
      program::Vertex vertex = set.vertices[i];
      vertex.tile = TileId(index(vertex.tile) + copy * tiles_);
      for (program::Argument& argument : vertex.arguments)
        if (auto* const place = std::get_if<Place>(&argument)) *place = of(*place, copy);
      set.vertices.push_back(std::move(vertex));
    }
  }
}

void Replicas::replicate(program::Exchange& exchange) const {
  const std::size_t each = exchange.copies.size();
  for (std::uint32_t copy = 1; copy < copies_; ++copy) {
    for (std::size_t i = 0; i < each; ++i) {
      program::Copy further = exchange.copies[i];
      further.source = of(further.source, copy);
      for (Place& place : further.destinations) place = of(place, copy);
      exchange.copies.push_back(std::move(further));
    }
  }
}

void Replicas::replicate(program::HostTransfer& transfer) const {
  const std::vector<program::HostPiece> first = std::move(transfer.pieces);
  transfer.pieces.clear();
  for (std::uint32_t copy = 0; copy < copies_; ++copy) {
    for (const program::HostPiece& piece : first) {
      program::HostPiece further = piece;
      further.place = of(piece.place, copy);
      further.contents = [give = piece.contents, copy, copies = copies_](std::span<std::byte> into,
                                                                         std::uint64_t number) {
        give(into, number * copies + copy);
      };
      transfer.pieces.push_back(std::move(further));
    }
  }
}

std::vector<Stretch> Replicas::shares(const std::vector<Stretch>& stretches) const {
  std::vector<Stretch> parts;
  for (const Stretch& each : stretches)
    for (std::uint32_t copy = 0; copy < copies_; ++copy)
      if (std::optional<Stretch> part = each.share(copies_, copy)) {
        for (BufferId* const buffer :
             {&part->weights, &part->masters, &part->gradient, &part->first, &part->second})
          *buffer = of(*buffer, copy);
        parts.push_back(*part);
      }
  return parts;
}

std::function<void(std::span<std::byte>)> Replicas::masters(const std::vector<Stretch>& stretches,
                                                            BufferId first,
                                                            std::uint32_t copy) const {
  for (const Stretch& each : stretches) {
    if (each.masters != first || each.masters == each.weights) continue;
    const std::optional<Stretch> part = each.share(copies_, copy);
    if (!part) return [](std::span<std::byte>) {};
    return [give = program_.buffer(first).contents, begin = part->begin * kElementBytes,
            count = part->count * kElementBytes](std::span<std::byte> into) {
      std::vector<std::byte> all(begin + count);
      give(all);
      std::copy(all.begin() + static_cast<std::ptrdiff_t>(begin), all.end(), into.begin());
    };
  }
  return nullptr;
}

std::vector<Place> Replicas::master_places(const Stretch& stretch) const {
  std::vector<Place> places;
  for (const Stretch& part : shares({stretch}))
    for (std::uint64_t i = 0; i < part.count; ++i) {
      places.push_back(part.kept_place(part.masters));
      places.back().offset += word(i * data::element_bytes(part.master_type()));
    }
  return places;
}

std::vector<BufferId> Replicas::all(const std::vector<BufferId>& first) const {
  std::vector<BufferId> buffers;
  for (std::uint32_t copy = 0; copy < copies_; ++copy)
    for (const BufferId each : first) buffers.push_back(of(each, copy));
  return buffers;
}

void Replicas::add_sums(Assembly& assembly, const std::vector<Stretch>& stretches) const {
  Exchange scatter{"gradients of copies", {}};
  ComputeSet sums{"sums of copies", {}};
  for (const Stretch& each : stretches) {
    const std::uint32_t tile = assembly.tile_of(each.gradient);
    const bool halves = each.gradients == program::Type::f16;
    for (std::uint32_t copy = 0; copy < copies_; ++copy) {
      const std::optional<Stretch> part = each.share(copies_, copy);
      if (!part) continue;
      const std::uint32_t bytes = word(part->gradient_bytes());
      const Place own = of(part->gradient_place(), copy);
      const BufferId received = assembly.buffer(
          tile + copy * tiles_, std::uint64_t{bytes} * (copies_ - 1), "gradients of copies");
      for (std::uint32_t other = 0; other < copies_; ++other) {
        if (other == copy) continue;
        const std::uint32_t place = other < copy ? other : other - 1;
        scatter.copies.push_back(
            {of(part->gradient_place(), other), bytes, {{received, place * bytes}}});
      }
      sums.vertices.push_back(
          assembly.all_of(tile + copy * tiles_, halves ? "training_sum_f16" : "training_sum",
                          {own, Place{received}, own, copies_ - 1, bytes, 0U}, bytes));
    }
  }
  assembly.add_step(std::move(scatter));
  assembly.add_step(std::move(sums));
}

void Replicas::add_weights(Assembly& assembly, const std::vector<Stretch>& stretches) const {
  Exchange gather{"weights of copies", {}};
  for (const Stretch& each : stretches)
    for (std::uint32_t copy = 0; copy < copies_; ++copy) {
      const std::optional<Stretch> part = each.share(copies_, copy);
      if (!part) continue;
      program::Copy weights{
          of(part->weights_place(), copy), word(part->count * data::element_bytes(part->type)), {}};
      for (std::uint32_t other = 0; other < copies_; ++other)
        if (other != copy) weights.destinations.push_back(of(part->weights_place(), other));
      gather.copies.push_back(std::move(weights));
    }
  assembly.add_step(std::move(gather));
}

BufferId Replicas::add_totals(Assembly& assembly, BufferId totals) const {
  const BufferId all = assembly.buffer(assembly.tile_of(totals),
                                       std::uint64_t{kResultBytes} * copies_, "totals of copies");
  Exchange exchange{"totals of copies", {}};
  for (std::uint32_t copy = 0; copy < copies_; ++copy)
    exchange.copies.push_back({{of(totals, copy)}, kResultBytes, {{all, copy * kResultBytes}}});
  assembly.add_step(std::move(exchange));
  return add_total(assembly, "total of copies", all, copies_, 1, "totals of all");
}

}  // namespace tessera::training
