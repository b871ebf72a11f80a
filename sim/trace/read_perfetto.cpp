#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/base/sizes.h"
#include "sim/trace/perfetto_fields.h"
#include "sim/trace/recording.h"

namespace tessera::trace {
namespace {

using namespace perfetto;

/// One field of a protobuf message: a number, or the bytes of a text or message.
struct ProtobufField {
  std::uint32_t field = 0;
  std::uint64_t number = 0;
  std::string_view bytes;
};

/// Reads the fields of one message in sequence. Errors are UserErrors `file: byte N: ...`. Source:
/// protobuf.dev/programming-guides/encoding.
class ProtobufReader {
 public:
  /// `bytes` must lie within the file's bytes, which begin at `begin`.
  ProtobufReader(std::string_view bytes, const char* begin, const std::string& file)
      : rest_(bytes), begin_(begin), file_(file) {}

  /// Nullopt at the end. Fields of 4 and 8 bytes have neither number nor bytes.
  std::optional<ProtobufField> next() {
    if (rest_.empty()) return std::nullopt;
    const std::uint64_t tag = varint();
    ProtobufField read{static_cast<std::uint32_t>(tag >> kTypeBits), 0, {}};
    switch (tag & ((1U << kTypeBits) - 1)) {
      case kVarint:
        read.number = varint();
        break;
      case kDelimited:
        read.bytes = take(varint());
        break;
      case kEight:
        take(sizeof(std::uint64_t));
        break;
      case kFour:
        take(sizeof(std::uint32_t));
        break;
      default:
        fail(fmt::format("found a field of wire type {}", tag & ((1U << kTypeBits) - 1)));
    }
    return read;
  }

  [[nodiscard]] ProtobufReader inside(const ProtobufField& field) const {
    return {field.bytes, begin_, file_};
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw UserError("{}: byte {}: {}, expected a Perfetto trace of tessera run", file_,
                    rest_.data() - begin_, problem);
  }

 private:
  static constexpr unsigned kTypeBits = 3;
  static constexpr std::uint64_t kVarint = 0, kEight = 1, kDelimited = 2, kFour = 5;

  std::string_view take(std::uint64_t bytes) {
    if (bytes > rest_.size())
      fail(fmt::format("found the file's end {} bytes early", bytes - rest_.size()));
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }
  std::uint64_t varint() {
    constexpr unsigned kBits = 7, kMostBits = 64;
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < kMostBits; shift += kBits) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
    fail("found a number of more than 10 bytes");
  }

  std::string_view rest_;
  const char* begin_;
  const std::string& file_;
};

/// The number after `front`: 12 for "tile 12" and "tile ".
std::optional<std::uint32_t> number_behind(std::string_view text, std::string_view front) {
  if (!text.starts_with(front)) return std::nullopt;
  return number_in<std::uint32_t>(text.substr(front.size()));
}

/// A track by its kind of slices.
struct Track {
  enum class Kind : std::uint8_t { other, machine, tiles, supersteps, tile, worker, receives };
  Kind kind = Kind::other;
  std::uint32_t tile = 0, worker = 0;  ///< for `supersteps`, `tile` is the zone
  std::size_t open = 0;                ///< begun, unended slices
};

Track track_of(std::string_view name, const Track* parent) {
  using Kind = Track::Kind;
  if (parent == nullptr) {
    if (name == kMachineTrack) return {Kind::machine};
    return {name == kTilesTrack ? Kind::tiles : Kind::other};
  }
  if (parent->kind == Kind::machine && name == kSuperstepsTrack) return {Kind::supersteps};
  if (parent->kind == Kind::machine)
    if (const auto zone = number_behind(name, kZoneTrack)) return {Kind::supersteps, *zone};
  if (parent->kind == Kind::tiles)
    if (const auto tile = number_behind(name, kTileTrack))
      return {*tile < Recording::kMostTiles ? Kind::tile : Kind::other, *tile};
  if (parent->kind != Kind::tile) return {};
  if (name == kReceivesTrack) return {Kind::receives, parent->tile};
  if (const auto worker = number_behind(name, kWorkerTrack))
    return {Kind::worker, parent->tile, *worker};
  return {};
}

class PerfettoReading {
 public:
  PerfettoReading(const std::string& bytes, const std::string& file)
      : reader_(bytes, bytes.data(), file), recording_(file) {}

  Recording read() {
    while (const auto field = reader_.next()) {
      if (field->field != trace_file::kPacket) reader_.fail("found no packet");
      packet(reader_.inside(*field));
    }
    for (const auto& [uuid, track] : tracks_)
      if (track.open > 0) reader_.fail("found the file's end within a slice");
    if (!is_ours_) reader_.fail("found no track of supersteps");
    return std::move(recording_);
  }

 private:
  void packet(ProtobufReader reader) {
    while (const auto field = reader.next()) {
      const ProtobufReader inside = reader.inside(*field);
      if (field->field == trace_packet::kTrackDescriptor) describe(inside);
      if (field->field == trace_packet::kInternedData) learn(inside);
      if (field->field == trace_packet::kTrackEvent) event(inside);
    }
  }

  void describe(ProtobufReader reader) {
    std::uint64_t uuid = 0, parent = 0;
    std::string_view name;
    while (const auto field = reader.next()) {
      if (field->field == track_descriptor::kUuid) uuid = field->number;
      if (field->field == track_descriptor::kParent) parent = field->number;
      if (field->field == track_descriptor::kName) name = field->bytes;
    }
    const auto above = tracks_.find(parent);
    const Track track =
        track_of(name, parent == 0 || above == tracks_.end() ? nullptr : &above->second);
    tracks_[uuid] = track;
    is_ours_ |= track.kind == Track::Kind::supersteps;
    if (track.kind == Track::Kind::supersteps) recording_.zones[track.tile];
    if (track.kind == Track::Kind::tile) recording_.tiles[track.tile];
    if (track.kind == Track::Kind::worker) recording_.tiles[track.tile].workers[track.worker];
  }

  void learn(ProtobufReader reader) {
    while (const auto field = reader.next()) {
      ProtobufReader entry = reader.inside(*field);
      std::uint64_t id = 0;
      std::string_view text;
      while (const auto part = entry.next()) {
        if (part->field == interned_data::kId) id = part->number;
        if (part->field == interned_data::kText) text = part->bytes;
      }
      if (field->field == interned_data::kEventNames) events_[id] = recording_.name(text);
      if (field->field == interned_data::kAnnotationNames) annotations_[id] = text;
    }
  }

  /// Fields of an event, and the slice annotations that are read.
  struct Event {
    std::uint64_t type = 0, track = 0, name = 0;
    std::string_view text;
    std::optional<std::uint64_t> cycle, cycles, from, bytes, superstep;
  };

  void annotate(ProtobufReader reader, Event& event) {
    std::uint64_t name = 0, value = 0;
    while (const auto field = reader.next()) {
      if (field->field == track_event::kAnnotationNameId) name = field->number;
      if (field->field == track_event::kAnnotationValue) value = field->number;
    }
    const auto known = annotations_.find(name);
    if (known == annotations_.end()) return;
    if (known->second == kCycle) event.cycle = value;
    if (known->second == kCycles) event.cycles = value;
    if (known->second == kFrom) event.from = value;
    if (known->second == kBytes) event.bytes = value;
    if (known->second == kSuperstep) event.superstep = value;
  }

  void event(ProtobufReader reader) {
    Event event;
    while (const auto field = reader.next()) {
      if (field->field == track_event::kAnnotation) annotate(reader.inside(*field), event);
      if (field->field == track_event::kType) event.type = field->number;
      if (field->field == track_event::kTrack) event.track = field->number;
      if (field->field == track_event::kNameId) event.name = field->number;
      if (field->field == track_event::kName) event.text = field->bytes;
    }
    const auto track = tracks_.find(event.track);
    if (track == tracks_.end()) reader.fail("found an event of a track that was not described");
    if (event.type == track_event::kInstant) recording_.remarks.emplace_back(event.text);
    if (event.type == track_event::kSliceBegin) begin(event, track->second, reader);
    if (event.type != track_event::kSliceEnd) return;
    if (track->second.open == 0) reader.fail("found the end of a slice that had not begun");
    --track->second.open;
  }

  void begin(const Event& event, Track& track, const ProtobufReader& reader) {
    ++track.open;
    if (track.kind == Track::Kind::other) return;
    const auto name = events_.find(event.name);
    if (name == events_.end()) reader.fail("found a slice whose name was not said");
    if (!event.cycle || !event.cycles || *event.cycle + *event.cycles < *event.cycle)
      reader.fail("found a slice without its cycles");
    const Cycle from(*event.cycle), until(*event.cycle + *event.cycles);
    const Recording::Slice slice{from, until, name->second};
    switch (track.kind) {
      case Track::Kind::supersteps:
        if (track.open > 1) return recording_.zones[track.tile].phases.push_back(slice);
        return recording_.zones[track.tile].supersteps.push_back({from, until, name->second,
                                                                  event.superstep.value_or(0),
                                                                  Bytes(event.bytes.value_or(0))});
      case Track::Kind::tile:
        return recording_.tiles[track.tile].states.push_back(slice);
      case Track::Kind::worker:
        return recording_.tiles[track.tile].workers[track.worker].push_back(slice);
      case Track::Kind::receives:
        if (!event.from || !event.bytes || *event.from > UINT32_MAX)
          reader.fail("found a transfer without its sender or its bytes");
        return recording_.tiles[track.tile].transfers.push_back(
            {from, until, static_cast<std::uint32_t>(*event.from), Bytes(*event.bytes)});
      default:
        return;
    }
  }

  ProtobufReader reader_;
  Recording recording_;
  std::unordered_map<std::uint64_t, Track> tracks_;
  std::unordered_map<std::uint64_t, Name> events_;
  std::unordered_map<std::uint64_t, std::string_view> annotations_;
  bool is_ours_ = false;
};

}  // namespace

Recording read_perfetto(const std::string& bytes, const std::string& file) {
  return PerfettoReading(bytes, file).read();
}

}  // namespace tessera::trace
