#include "sim/trace/perfetto_writer.h"

#include <cstdint>
#include <cstring>
#include <string_view>

#include "sim/trace/perfetto_fields.h"

namespace tessera::trace {
namespace {

using namespace perfetto;

/// Writes protobuf fields in sequence, nested messages in place.
/// Source: protobuf.dev/programming-guides/encoding (wire types 0 and 2).
class ProtobufWriter {
 public:
  /// Maximum bytes of one number, or of a text or message without its content.
  static constexpr std::size_t kMostBytes = 20;

  /// `at` must have room for all fields.
  explicit ProtobufWriter(char* at) : at_(at) {}

  void number(std::uint32_t field, std::uint64_t value) {
    varint(std::uint64_t{field} << 3 | kVarint);
    varint(value);
  }
  void text(std::uint32_t field, std::string_view value) {
    varint(std::uint64_t{field} << 3 | kLengthDelimited);
    varint(value.size());
    std::memcpy(at_, value.data(), value.size());
    at_ += value.size();
  }
  /// Begins a message; end_message() of the returned pointer ends it.
  [[nodiscard]] char* begin_message(std::uint32_t field) {
    varint(std::uint64_t{field} << 3 | kLengthDelimited);
    return at_++;  // one byte for the length suffices for nearly all
  }
  void end_message(char* length) {
    const char* const content = length + 1;
    const auto size = static_cast<std::size_t>(at_ - content);
    if (size >= kLongVarint) {
      std::memmove(length + varint_bytes(size), content, size);
    }
    at_ = length;
    varint(size);
    at_ += size;
  }

  /// The end of the written bytes.
  [[nodiscard]] char* end() const { return at_; }

 private:
  static constexpr std::uint32_t kVarint = 0;
  static constexpr std::uint32_t kLengthDelimited = 2;
  static constexpr std::uint64_t kLongVarint = 0x80;

  static std::size_t varint_bytes(std::uint64_t value) {
    std::size_t bytes = 1;
    for (; value >= kLongVarint; value >>= 7) ++bytes;
    return bytes;
  }
  void varint(std::uint64_t value) {
    for (; value >= kLongVarint; value >>= 7) *at_++ = static_cast<char>(value | kLongVarint);
    *at_++ = static_cast<char>(value);
  }

  char* at_;
};

constexpr std::uint32_t kExplicitOrder = 3;
constexpr std::uint32_t kOnlySequence = 1;
constexpr std::uint32_t kStateCleared = 1;  // the first packet: no names are known yet
constexpr std::uint32_t kNeedsState = 2;    // refers to names in earlier packets

/// One packet, written at the file's end.
class Packet : public ProtobufWriter {
 public:
  /// It holds `numbers` numbers and messages besides its own, and texts of `text_bytes` bytes.
  Packet(Output& output, std::size_t numbers, std::size_t text_bytes = 0)
      : ProtobufWriter(output.room((kOwn + numbers) * kMostBytes + text_bytes)),
        output_(output),
        packet_(begin_message(trace_file::kPacket)) {}

  void finish() {
    number(trace_packet::kSequence, kOnlySequence);
    end_message(packet_);
    output_.wrote(end());
  }
  /// Ends a packet that refers to names.
  void finish_with_names() {
    number(trace_packet::kSequenceFlags, kNeedsState);
    finish();
  }

 private:
  static constexpr std::size_t kOwn = 3;  // the packet, its sequence and its flags
  Output& output_;
  char* packet_;
};

/// An open packet with an event.
class Event : public Packet {
 public:
  Event(Output& output, std::uint32_t type, PerfettoWriter::Track track, std::uint64_t at,
        std::size_t numbers, std::size_t text_bytes = 0)
      : Packet(output, kOwn + numbers, text_bytes) {
    number(trace_packet::kTimestamp, at);
    event_ = begin_message(trace_packet::kTrackEvent);
    number(track_event::kType, type);
    number(track_event::kTrack, track);
  }
  void end_event() { end_message(event_); }

 private:
  static constexpr std::size_t kOwn = 4;  // time, event, type and track
  char* event_;
};

/// An open packet that declares a track. Tracks are shown in the order of their numbers.
class TrackPacket : public Packet {
 public:
  TrackPacket(Output& output, PerfettoWriter::Track track, PerfettoWriter::Track parent,
              std::string_view name, std::size_t numbers)
      : Packet(output, kOwn + numbers, name.size()),
        track_(track),
        descriptor_(begin_message(trace_packet::kTrackDescriptor)) {
    number(track_descriptor::kUuid, track);
    text(track_descriptor::kName, name);
    if (parent != PerfettoWriter::kNoParent) number(track_descriptor::kParent, parent);
  }
  void end_track() {
    number(track_descriptor::kSiblingRank, track_);
    end_message(descriptor_);
  }

 private:
  static constexpr std::size_t kOwn = 5;  // descriptor, number, name, parent and rank
  PerfettoWriter::Track track_;
  char* descriptor_;
};

}  // namespace

PerfettoWriter::PerfettoWriter(std::ostream& out) : output_(out) {
  Packet packet(output_, 1);
  packet.number(trace_packet::kSequenceFlags, kStateCleared);
  packet.finish();
}

PerfettoWriter::Track PerfettoWriter::add_track(Track parent, std::string_view name) {
  TrackPacket packet(output_, ++last_track_, parent, name, 1);
  packet.number(track_descriptor::kChildOrdering, kExplicitOrder);
  packet.end_track();
  packet.finish();
  return last_track_;
}

PerfettoWriter::Track PerfettoWriter::add_counter(Track parent, std::string_view name, Unit unit) {
  TrackPacket packet(output_, ++last_track_, parent, name, 2);
  char* const counter = packet.begin_message(track_descriptor::kCounter);
  packet.number(track_descriptor::kUnit, static_cast<std::uint64_t>(unit));
  packet.end_message(counter);
  packet.end_track();
  packet.finish();
  return last_track_;
}

PerfettoWriter::Name PerfettoWriter::add_event_name(std::string_view text) {
  add_name(interned_data::kEventNames, ++last_event_name_, text);
  return last_event_name_;
}

PerfettoWriter::Name PerfettoWriter::add_annotation_name(std::string_view text) {
  add_name(interned_data::kAnnotationNames, ++last_annotation_name_, text);
  return last_annotation_name_;
}

void PerfettoWriter::add_name(std::uint32_t field, Name name, std::string_view text) {
  Packet packet(output_, 4, text.size());
  char* const data = packet.begin_message(trace_packet::kInternedData);
  char* const entry = packet.begin_message(field);
  packet.number(interned_data::kId, name);
  packet.text(interned_data::kText, text);
  packet.end_message(entry);
  packet.end_message(data);
  packet.finish_with_names();
}

void PerfettoWriter::begin(Track track, std::uint64_t at, Name name,
                           std::initializer_list<Annotation> annotations) {
  Event event(output_, track_event::kSliceBegin, track, at, 1 + 3 * annotations.size());
  event.number(track_event::kNameId, name);
  for (const Annotation& each : annotations) {
    char* const annotation = event.begin_message(track_event::kAnnotation);
    event.number(track_event::kAnnotationNameId, each.name);
    event.number(track_event::kAnnotationValue, each.value);
    event.end_message(annotation);
  }
  event.end_event();
  event.finish_with_names();
}

void PerfettoWriter::end(Track track, std::uint64_t at) {
  Event event(output_, track_event::kSliceEnd, track, at, 0);
  event.end_event();
  event.finish();
}

void PerfettoWriter::instant(Track track, std::uint64_t at, std::string_view text) {
  Event event(output_, track_event::kInstant, track, at, 1, text.size());
  event.text(track_event::kName, text);
  event.end_event();
  event.finish();
}

void PerfettoWriter::counter(Track track, std::uint64_t at, std::int64_t value) {
  Event event(output_, track_event::kCounterEvent, track, at, 1);
  event.number(track_event::kCounterValue, static_cast<std::uint64_t>(value));
  event.end_event();
  event.finish();
}

}  // namespace tessera::trace
