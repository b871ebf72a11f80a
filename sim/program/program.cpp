#include "sim/program/program.h"

#include <algorithm>
#include <bit>

#include "sim/base/errors.h"

namespace tessera::program {
namespace {

constexpr std::uint32_t kWordBytes = 4;

/// Walks a program and checks each id and range against what the program holds.
class Validator {
 public:
  explicit Validator(const Program& program) : program_(program) {}

  void check_sequence(const Sequence& sequence, std::uint32_t depth) const {
    for (const Step& step : sequence.steps) {
      if (const auto* set = std::get_if<ComputeSet>(&step.action)) {
        for (const Vertex& vertex : set->vertices) check_vertex(*set, vertex);
      } else if (const auto* exchange = std::get_if<Exchange>(&step.action)) {
        check_exchange(*exchange);
      } else if (const auto* transfer = std::get_if<HostTransfer>(&step.action)) {
        check_transfer(*transfer);
      } else if (const auto* repeat = std::get_if<Repeat>(&step.action)) {
        check(depth < kMaxLoopDepth, "program: loops nest more than {} deep", kMaxLoopDepth);
        check_sequence(repeat->body, depth + 1);
      } else {
        check_while(std::get<While>(step.action), depth);
      }
    }
  }

  void check_tensor(const Tensor& tensor) const {
    for (const TensorPart& part : tensor.parts) {
      check_range(tensor.name, part.place, part.bytes);
      check(part.bytes == 0 || program_.buffer(part.place.buffer).keep,
            "program: tensor {}: its bytes are not kept", tensor.name);
    }
    check(tensor.runs || tensor.given, "program: tensor {} lies nowhere", tensor.name);
  }

 private:
  void check_while(const While& loop, std::uint32_t depth) const {
    check_sequence(loop.test, depth);
    check_sequence(loop.body, depth);
    check(loop.decisions.size() == program_.tiles(), "program: {}: {} decisions for {} tiles",
          loop.name, loop.decisions.size(), program_.tiles());
    for (std::uint32_t i = 0; i < program_.tiles(); ++i) {
      const Place place = loop.decisions[i];
      check_range(loop.name, place, kWordBytes);
      const Buffer& buffer = program_.buffer(place.buffer);
      check(index(buffer.tile) == i, "program: {}: the decision of tile {} lies on tile {}",
            loop.name, i, index(buffer.tile));
      check(place.offset % kWordBytes == 0 && buffer.align % kWordBytes == 0,
            "program: {}: the decision of tile {} is not aligned", loop.name, i);
    }
  }

  void check_vertex(const ComputeSet& set, const Vertex& vertex) const {
    check(index(vertex.tile) < program_.tiles(), "program: {}: a vertex on tile {} of {}", set.name,
          index(vertex.tile), program_.tiles());
    check(vertex.codelet < program_.codelets().size(), "program: {}: codelet {} of {}", set.name,
          vertex.codelet, program_.codelets().size());
    for (const Argument& argument : vertex.arguments) {
      const auto* place = std::get_if<Place>(&argument);
      if (place == nullptr) continue;
      // A pointer may stand one past the end of its buffer.
      check_range(set.name, *place, 0);
      const TileId tile = program_.buffer(place->buffer).tile;
      check(tile == vertex.tile, "program: {}: a vertex on tile {} names a buffer of tile {}",
            set.name, index(vertex.tile), index(tile));
    }
  }

  void check_range(const std::string& where, Place place, std::uint32_t bytes) const {
    const auto id = static_cast<std::size_t>(place.buffer);
    check(id < program_.buffers().size(), "program: {}: buffer {} of {}", where, id,
          program_.buffers().size());
    const std::uint64_t end = std::uint64_t{place.offset} + bytes;
    const Buffer& buffer = program_.buffers()[id];
    check(end <= buffer.bytes, "program: {}: bytes {} to {} of buffer {} ({}) of {} bytes", where,
          place.offset, end, id, buffer.name, buffer.bytes);
  }

  void check_exchange(const Exchange& exchange) const {
    for (const Copy& copy : exchange.copies) {
      check(copy.bytes > 0, "program: {}: a copy of no bytes", exchange.name);
      check_range(exchange.name, copy.source, copy.bytes);
      for (Place destination : copy.destinations) {
        check_range(exchange.name, destination, copy.bytes);
      }
    }
  }

  void check_transfer(const HostTransfer& transfer) const {
    const bool given = transfer.direction == HostTransfer::Direction::read;
    for (const HostPiece& piece : transfer.pieces) {
      check_range(transfer.name, piece.place, piece.bytes);
      check(given == bool(piece.contents), "program: {}: a piece {} contents", transfer.name,
            given ? "without" : "to be written to the host with");
    }
  }

  const Program& program_;
};

}  // namespace

std::uint32_t Program::add_codelet(Codelet codelet) {
  const auto same = std::find_if(codelets_.begin(), codelets_.end(),
                                 [&](const Codelet& other) { return other.code == codelet.code; });
  const auto found = static_cast<std::uint32_t>(same - codelets_.begin());
  if (same == codelets_.end()) codelets_.push_back(std::move(codelet));
  return found;
}

BufferId Program::add_buffer(Buffer buffer) {
  check(index(buffer.tile) < tiles_, "program: buffer {} on tile {} of {}", buffer.name,
        index(buffer.tile), tiles_);
  check(std::has_single_bit(buffer.align), "program: buffer {} aligned to {}", buffer.name,
        buffer.align);
  buffers_.push_back(std::move(buffer));
  return BufferId{static_cast<std::uint32_t>(buffers_.size() - 1)};
}

void validate(const Program& program) {
  const Validator validator(program);
  validator.check_sequence(program.main(), 0);
  for (const Tensor& tensor : program.tensors()) validator.check_tensor(tensor);
}

HostBytes host_bytes(const Program& program) {
  HostBytes bytes;
  for (const Buffer& buffer : program.buffers()) {
    if (buffer.initialised()) bytes.written += Bytes(buffer.bytes);
    if (buffer.keep) bytes.read += Bytes(buffer.bytes);
  }
  return bytes;
}

}  // namespace tessera::program
