#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "sim/trace/output.h"

namespace tessera::trace {

/// Writes a Perfetto trace: tracks with slices, instants and counters. Times are nanoseconds;
/// events must be in order within a track, not across tracks. Source: perfetto.dev,
/// protos/perfetto/trace/trace_packet.proto and track_event/*.proto.
class PerfettoWriter {
 public:
  using Track = std::uint64_t;
  using Name = std::uint64_t;  ///< id of an event's or annotation's name, which is written once
  enum class Unit : std::uint8_t { count = 2, bytes = 3 };
  struct Annotation {
    Name name;
    std::uint64_t value;
  };
  static constexpr Track kNoParent = 0;

  explicit PerfettoWriter(std::ostream& out);

  /// Tracks are numbered, and shown below their parent, in the order of creation.
  Track add_track(Track parent, std::string_view name);
  Track add_counter(Track parent, std::string_view name, Unit unit);
  /// Returns a new Name each time, numbered from 1.
  Name add_event_name(std::string_view text);
  Name add_annotation_name(std::string_view text);

  /// Slices of one track must be nested or disjoint.
  void begin(Track track, std::uint64_t at, Name name,
             std::initializer_list<Annotation> annotations);
  void end(Track track, std::uint64_t at);
  void instant(Track track, std::uint64_t at, std::string_view text);
  void counter(Track track, std::uint64_t at, std::int64_t value);

  [[nodiscard]] std::uint64_t bytes() const { return output_.bytes(); }
  void flush() { output_.flush(); }

 private:
  void add_name(std::uint32_t field, Name name, std::string_view text);

  Output output_;
  Track last_track_ = kNoParent;
  Name last_event_name_ = 0;
  Name last_annotation_name_ = 0;
};

}  // namespace tessera::trace
