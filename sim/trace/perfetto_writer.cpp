#include "sim/trace/perfetto_writer.h"

namespace tessera::trace {
namespace {

// Field numbers, by message.
namespace trace_file {
constexpr std::uint32_t kPacket = 1;
}
namespace trace_packet {
constexpr std::uint32_t kTimestamp = 8;
constexpr std::uint32_t kSequence = 10;
constexpr std::uint32_t kTrackEvent = 11;
constexpr std::uint32_t kInternedData = 12;
constexpr std::uint32_t kSequenceFlags = 13;
constexpr std::uint32_t kTrackDescriptor = 60;
}  // namespace trace_packet
namespace track_descriptor {
constexpr std::uint32_t kUuid = 1;
constexpr std::uint32_t kName = 2;
constexpr std::uint32_t kParent = 5;
constexpr std::uint32_t kCounter = 8;
constexpr std::uint32_t kChildOrdering = 11;
constexpr std::uint32_t kSiblingRank = 12;
constexpr std::uint32_t kUnit = 3;  // of its CounterDescriptor
}  // namespace track_descriptor
namespace interned_data {
constexpr std::uint32_t kEventNames = 2;
constexpr std::uint32_t kAnnotationNames = 3;
constexpr std::uint32_t kId = 1;  // of an entry
constexpr std::uint32_t kText = 2;
}  // namespace interned_data
namespace track_event {
constexpr std::uint32_t kAnnotation = 4;
constexpr std::uint32_t kType = 9;
constexpr std::uint32_t kNameId = 10;
constexpr std::uint32_t kTrack = 11;
constexpr std::uint32_t kName = 23;
constexpr std::uint32_t kCounterValue = 30;
constexpr std::uint32_t kAnnotationNameId = 1;  // of a DebugAnnotation
constexpr std::uint32_t kAnnotationValue = 3;
}  // namespace track_event

constexpr std::uint32_t kSliceBegin = 1;
constexpr std::uint32_t kSliceEnd = 2;
constexpr std::uint32_t kInstant = 3;
constexpr std::uint32_t kCounterEvent = 4;

constexpr std::uint32_t kExplicitOrder = 3;
constexpr std::uint32_t kOnlySequence = 1;
constexpr std::uint32_t kStateCleared = 1;  // the first packet: no names are known yet
constexpr std::uint32_t kNeedsState = 2;    // it refers to names written before

}  // namespace

PerfettoWriter::PerfettoWriter(std::ostream& out) : output_(out) {
  packet_.clear();
  packet_.number(trace_packet::kSequence, kOnlySequence);
  packet_.number(trace_packet::kSequenceFlags, kStateCleared);
  write_packet();
}

PerfettoWriter::Track PerfettoWriter::describe(Track parent, std::string_view name) {
  const Track track = ++last_track_;
  inner_.clear();
  inner_.number(track_descriptor::kUuid, track);
  inner_.text(track_descriptor::kName, name);
  if (parent != kNoParent) inner_.number(track_descriptor::kParent, parent);
  inner_.number(track_descriptor::kSiblingRank, track);
  return track;
}

PerfettoWriter::Track PerfettoWriter::add_track(Track parent, std::string_view name) {
  const Track track = describe(parent, name);
  inner_.number(track_descriptor::kChildOrdering, kExplicitOrder);
  packet_.clear();
  packet_.number(trace_packet::kSequence, kOnlySequence);
  packet_.message(trace_packet::kTrackDescriptor, inner_);
  write_packet();
  return track;
}

PerfettoWriter::Track PerfettoWriter::add_counter(Track parent, std::string_view name, Unit unit) {
  const Track track = describe(parent, name);
  event_.clear();
  event_.number(track_descriptor::kUnit, static_cast<std::uint64_t>(unit));
  inner_.message(track_descriptor::kCounter, event_);
  packet_.clear();
  packet_.number(trace_packet::kSequence, kOnlySequence);
  packet_.message(trace_packet::kTrackDescriptor, inner_);
  write_packet();
  return track;
}

PerfettoWriter::Name PerfettoWriter::event_name(std::string_view text) {
  return intern(event_names_, interned_data::kEventNames, text);
}

PerfettoWriter::Name PerfettoWriter::annotation_name(std::string_view text) {
  return intern(annotation_names_, interned_data::kAnnotationNames, text);
}

PerfettoWriter::Name PerfettoWriter::intern(std::map<std::string, Name, std::less<>>& names,
                                            std::uint32_t field, std::string_view text) {
  const auto known = names.find(text);
  if (known != names.end()) return known->second;
  const Name name = names.size() + 1;
  names.emplace(text, name);
  inner_.clear();
  inner_.number(interned_data::kId, name);
  inner_.text(interned_data::kText, text);
  event_.clear();
  event_.message(field, inner_);
  packet_.clear();
  packet_.number(trace_packet::kSequence, kOnlySequence);
  packet_.message(trace_packet::kInternedData, event_);
  packet_.number(trace_packet::kSequenceFlags, kNeedsState);
  write_packet();
  return name;
}

void PerfettoWriter::begin(Track track, std::uint64_t at, Name name,
                           std::initializer_list<Annotation> annotations) {
  begin_event(kSliceBegin, track);
  event_.number(track_event::kNameId, name);
  for (const Annotation& annotation : annotations) {
    inner_.clear();
    inner_.number(track_event::kAnnotationNameId, annotation.name);
    inner_.number(track_event::kAnnotationValue, annotation.value);
    event_.message(track_event::kAnnotation, inner_);
  }
  write_event(at);
}

void PerfettoWriter::end(Track track, std::uint64_t at) {
  begin_event(kSliceEnd, track);
  write_event(at);
}

void PerfettoWriter::instant(Track track, std::uint64_t at, std::string_view text) {
  begin_event(kInstant, track);
  event_.text(track_event::kName, text);
  write_event(at);
}

void PerfettoWriter::counter(Track track, std::uint64_t at, std::int64_t value) {
  begin_event(kCounterEvent, track);
  event_.number(track_event::kCounterValue, static_cast<std::uint64_t>(value));
  write_event(at);
}

void PerfettoWriter::begin_event(std::uint32_t type, Track track) {
  event_.clear();
  event_.number(track_event::kType, type);
  event_.number(track_event::kTrack, track);
}

void PerfettoWriter::write_event(std::uint64_t at) {
  packet_.clear();
  packet_.number(trace_packet::kTimestamp, at);
  packet_.number(trace_packet::kSequence, kOnlySequence);
  packet_.message(trace_packet::kTrackEvent, event_);
  packet_.number(trace_packet::kSequenceFlags, kNeedsState);
  write_packet();
}

void PerfettoWriter::write_packet() {
  file_.clear();
  file_.message(trace_file::kPacket, packet_);
  output_.append(file_.view());
}

}  // namespace tessera::trace
