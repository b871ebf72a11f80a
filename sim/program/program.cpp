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

  void check_zone(std::uint32_t zone) {
    zone_ = zone;
    in_flight_.assign(program_.exchanges().size(), false);
    started_.assign(program_.exchanges().size(), false);
    check_sequence(program_.steps(zone), 0);
    check_in_flight("the program's end", std::vector<bool>(in_flight_.size()));
    for (std::size_t i = 0; i < started_.size(); ++i)
      check(started_[i] || !takes_part(program_.exchanges()[i]),
            "program: zone {} never starts {}, in which it takes part", zone,
            program_.exchanges()[i].name);
  }

  void check_exchange(const Exchange& exchange) const {
    for (const Copy& copy : exchange.copies) {
      check(copy.bytes > 0, "program: {}: a copy of no bytes", exchange.name);
      check_range(exchange.name, copy.source, copy.bytes);
      for (Place destination : copy.destinations) {
        check_range(exchange.name, destination, copy.bytes);
      }
    }
    check(exchange.outside.empty() || exchange.copies.empty(),
          "program: {}: copies between tiles and with external memory", exchange.name);
    for (const OuterCopy& copy : exchange.outside) check_outer(exchange, copy);
    for (const Stream& stream : exchange.streams) check_stream(exchange, stream);
    check(exchange.streams.empty() || (exchange.copies.empty() && exchange.outside.empty()),
          "program: {}: streams and something else", exchange.name);
    if (!exchange.host) return;
    check(exchange.outside.empty() && exchange.copies.empty(),
          "program: {}: a transfer with the host that does something else too", exchange.name);
    check_transfer(exchange.name, *exchange.host);
  }

  void check_tensor(const Tensor& tensor) const {
    for (const TensorPart& part : tensor.parts) {
      const auto* outside = std::get_if<OuterPlace>(&part.place);
      if (outside != nullptr)
        check_range(tensor.name, *outside, part.bytes);
      else
        check_range(tensor.name, std::get<Place>(part.place), part.bytes);
      const bool kept = outside != nullptr
                            ? program_.outer(outside->buffer).keep
                            : program_.buffer(std::get<Place>(part.place).buffer).keep;
      check(part.bytes == 0 || kept, "program: tensor {}: its bytes are not kept", tensor.name);
    }
    check(tensor.runs || tensor.given, "program: tensor {} lies nowhere", tensor.name);
  }

 private:
  void check_sequence(const Sequence& sequence, std::uint32_t depth) {
    for (const Step& step : sequence.steps) {
      if (const auto* set = std::get_if<ComputeSet>(&step.action)) {
        for (const Vertex& vertex : set->vertices) check_vertex(*set, vertex);
      } else if (const auto* exchange = std::get_if<Exchange>(&step.action)) {
        check_exchange(*exchange);
        if (program_.zones() == 1) continue;
        for_each_place(*exchange, [&](Place place) { check_of_zone(exchange->name, place); });
      } else if (const auto* repeat = std::get_if<Repeat>(&step.action)) {
        check_repeat(*repeat, depth);
      } else if (const auto* loop = std::get_if<While>(&step.action)) {
        check_while(*loop, depth);
      } else if (const auto* start = std::get_if<Start>(&step.action)) {
        take_turns(start->exchange, true);
      } else {
        take_turns(std::get<Wait>(step.action).exchange, false);
      }
    }
  }

  /// Checks that starts and waits alternate.
  void take_turns(ExchangeId id, bool starts) {
    const auto number = static_cast<std::size_t>(id);
    check(number < in_flight_.size(), "program: exchange {} of {}", number, in_flight_.size());
    check(in_flight_[number] != starts, "program: {} is {}", program_.exchange(id).name,
          starts ? "started again before it was waited for" : "waited for before it was started");
    in_flight_[number] = starts;
    started_[number] = true;
  }

  void check_in_flight(std::string_view where, const std::vector<bool>& expected) const {
    for (std::size_t i = 0; i < in_flight_.size(); ++i)
      check(in_flight_[i] == expected[i], "program: {} is {}in flight at {}",
            program_.exchanges()[i].name, in_flight_[i] ? "" : "not ", where);
  }

  [[nodiscard]] bool of_zone(Place place) const {
    return program_.zone_of(program_.buffer(place.buffer).tile) == zone_;
  }
  [[nodiscard]] bool takes_part(const Exchange& exchange) const {
    bool found = false;
    for_each_place(exchange, [&](Place place) { found = found || of_zone(place); });
    return found;
  }
  void check_of_zone(const std::string& where, Place place) const {
    check(of_zone(place), "program: {}: zone {} names a buffer of tile {}", where, zone_,
          index(program_.buffer(place.buffer).tile));
  }

  void check_repeat(const Repeat& repeat, std::uint32_t depth) {
    check(depth < kMaxLoopDepth, "program: loops nest more than {} deep", kMaxLoopDepth);
    const std::vector<bool> before = in_flight_;
    check_sequence(repeat.body, depth + 1);
    if (repeat.count == 0) in_flight_ = before;  // it never runs
    if (repeat.count > 1) check_in_flight("a loop's end, unlike at its beginning", before);
  }

  void check_while(const While& loop, std::uint32_t depth) {
    const std::vector<bool> before = in_flight_;
    check_sequence(loop.test, depth);
    const std::vector<bool> tested = in_flight_;
    check_sequence(loop.body, depth);
    check_in_flight("a loop's end, unlike at its beginning", before);
    in_flight_ = tested;
    check(loop.decisions.size() == program_.tiles(), "program: {}: {} decisions for {} tiles",
          loop.name, loop.decisions.size(), program_.tiles());
    for (std::uint32_t i = 0; i < program_.tiles(); ++i) {
      if (program_.zone_of(TileId{i}) != zone_) continue;
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
    check(program_.zone_of(vertex.tile) == zone_, "program: {}: zone {} names tile {}", set.name,
          zone_, index(vertex.tile));
    check(vertex.codelet < program_.codelets().size(), "program: {}: codelet {} of {}", set.name,
          vertex.codelet, program_.codelets().size());
    for (const Argument& argument : vertex.arguments) {
      if (const auto* outside = std::get_if<OuterPlace>(&argument))
        check_outer(set, vertex, *outside);
      const auto* place = std::get_if<Place>(&argument);
      if (place == nullptr) continue;
      // A pointer may point one past the end of its buffer.
      check_range(set.name, *place, 0);
      const TileId tile = program_.buffer(place->buffer).tile;
      check(tile == vertex.tile, "program: {}: a vertex on tile {} names a buffer of tile {}",
            set.name, index(vertex.tile), index(tile));
    }
  }

  void check_outer(const ComputeSet& set, const Vertex& vertex, OuterPlace place) const {
    check_range(set.name, place, 0);
    const TileId tile = program_.outer(place.buffer).tile;
    check(tile == vertex.tile, "program: {}: a vertex on tile {} names external memory of tile {}",
          set.name, index(vertex.tile), index(tile));
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

  void check_range(const std::string& where, OuterPlace place, std::uint64_t bytes) const {
    const auto id = static_cast<std::size_t>(place.buffer);
    check(id < program_.outers().size(), "program: {}: buffer {} of {} outside", where, id,
          program_.outers().size());
    const OuterBuffer& buffer = program_.outers()[id];
    check(place.offset + bytes <= buffer.bytes,
          "program: {}: bytes {} to {} of buffer {} ({}) of {} bytes outside", where, place.offset,
          place.offset + bytes, id, buffer.name, buffer.bytes);
  }

  /// The largest offset of any turn: that of the last turn, or of one with one digit lower and the
  /// largest digits below it.
  template <class Step>
  [[nodiscard]] static std::uint64_t farthest(const Turns& turns, const Step (&steps)[3]) {
    if (turns.count == 0) return 0;
    const std::uint64_t last = turns.count - 1;
    const std::uint64_t inner = std::uint64_t{turns.radices[0]} * turns.radices[1];
    std::uint64_t most = 0;
    for (const std::uint64_t turn :
         {last, last / turns.radices[0] * turns.radices[0] - 1, last / inner * inner - 1})
      if (turn <= last)  // it exists
        most = std::max(most, turn % turns.radices[0] * steps[0] +
                                  turn / turns.radices[0] % turns.radices[1] * steps[1] +
                                  turn / inner * steps[2]);
    return most;
  }
  static void check_turns(const Exchange& exchange) {
    const Turns& turns = exchange.turns;
    check(turns.radices[0] > 0 && turns.radices[1] > 0 && turns.every > 0,
          "program: {}: turns that do not count", exchange.name);
  }

  void check_stream(const Exchange& exchange, const Stream& stream) const {
    check_turns(exchange);
    check(!stream.destinations.empty(), "program: {}: a stream to nowhere", exchange.name);
    const std::uint64_t bytes = stream_bytes(stream.source.unit, stream.source.extents);
    check(bytes > 0, "program: {}: a stream of no bytes", exchange.name);
    const auto check_walk = [&](const Walk& walk) {
      if (reads_nothing(walk.extents)) return;
      const std::uint64_t reach =
          farthest(exchange.turns, walk.steps) + stream_reach(walk.unit, walk.extents);
      check(reach <= UINT32_MAX, "program: {}: a walk over {} bytes", exchange.name, reach);
      check_range(exchange.name, walk.place, static_cast<std::uint32_t>(reach));
    };
    check_walk(stream.source);
    for (const Walk& walk : stream.destinations) {
      check_walk(walk);
      check(stream_bytes(walk.unit, walk.extents) == bytes,
            "program: {}: {}: {} bytes sent, {} received", exchange.name, stream.name, bytes,
            stream_bytes(walk.unit, walk.extents));
      for (const StreamExtent& extent : walk.extents)
        check(extent.before == 0 && extent.after == 0, "program: {}: {}: zeros are received",
              exchange.name, stream.name);
    }
  }

  /// Checks the copy's ranges in every turn.
  void check_outer(const Exchange& exchange, const OuterCopy& copy) const {
    const Turns& turns = exchange.turns;
    check(copy.row_bytes > 0 && copy.rows > 0, "program: {}: a copy of no bytes", exchange.name);
    check_turns(exchange);
    check_range(exchange.name, copy.place, copy.row_bytes * copy.rows);
    if (turns.count == 0) return;
    check_range(exchange.name, copy.outside,
                farthest(turns, copy.steps) + (copy.rows - 1) * copy.pitch + copy.row_bytes);
  }

  void check_transfer(const std::string& name, const HostTransfer& transfer) const {
    const bool given = transfer.direction == HostTransfer::Direction::read;
    for (const HostPiece& piece : transfer.pieces) {
      check_range(name, piece.place, piece.bytes);
      check(given == bool(piece.contents), "program: {}: a piece {} contents", name,
            given ? "without" : "to be written to the host with");
    }
  }

  const Program& program_;
  std::uint32_t zone_ = 0;
  std::vector<bool> in_flight_, started_;  ///< by ExchangeId
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

OuterId Program::add_outer(OuterBuffer buffer) {
  check(index(buffer.tile) < tiles_, "program: buffer {} of tile {} of {}", buffer.name,
        index(buffer.tile), tiles_);
  outers_.push_back(std::move(buffer));
  return OuterId{static_cast<std::uint32_t>(outers_.size() - 1)};
}

void Program::part(std::vector<std::uint32_t> zone_of) {
  check(zone_of.size() == tiles_, "program: zones of {} tiles, there are {}", zone_of.size(),
        tiles_);
  check(steps_.size() == 1 && steps_[0].steps.empty(), "program: parted behind its first step");
  std::vector<bool> used(tiles_);
  std::uint32_t zones = 1;
  for (const std::uint32_t zone : zone_of) {
    check(zone < tiles_, "program: zone {} of {} tiles", zone, tiles_);
    used[zone] = true;
    zones = std::max(zones, zone + 1);
  }
  check(std::ranges::count(used, true) == zones, "program: a zone of no tiles");
  steps_.resize(zones);
  zone_of_ = std::move(zone_of);
}

ExchangeId Program::add_exchange(Exchange exchange) {
  exchanges_.push_back(std::move(exchange));
  return ExchangeId{static_cast<std::uint32_t>(exchanges_.size() - 1)};
}

void validate(const Program& program) {
  Validator validator(program);
  for (const Exchange& exchange : program.exchanges()) validator.check_exchange(exchange);
  for (std::uint32_t zone = 0; zone < program.zones(); ++zone) validator.check_zone(zone);
  for (const Tensor& tensor : program.tensors()) validator.check_tensor(tensor);
}

HostBytes host_bytes(const Program& program) {
  HostBytes bytes;
  for (const Buffer& buffer : program.buffers()) {
    if (buffer.initialised()) bytes.written += Bytes(buffer.bytes);
    if (buffer.keep) bytes.read += Bytes(buffer.bytes);
  }
  for (const OuterBuffer& buffer : program.outers()) {
    if (buffer.contents) bytes.written += Bytes(buffer.bytes);
    if (buffer.keep) bytes.read += Bytes(buffer.bytes);
  }
  return bytes;
}

}  // namespace tessera::program
