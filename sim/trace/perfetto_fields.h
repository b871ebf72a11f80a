#pragma once

#include <cstdint>
#include <string_view>

/// Field numbers of Perfetto's messages, and the names of a trace's tracks and annotations.
/// Source: perfetto.dev, protos/perfetto/trace/trace_packet.proto and track_event/*.proto.
namespace tessera::trace::perfetto {

namespace trace_file {
inline constexpr std::uint32_t kPacket = 1;
}
namespace trace_packet {
inline constexpr std::uint32_t kTimestamp = 8;
inline constexpr std::uint32_t kSequence = 10;
inline constexpr std::uint32_t kTrackEvent = 11;
inline constexpr std::uint32_t kInternedData = 12;
inline constexpr std::uint32_t kSequenceFlags = 13;
inline constexpr std::uint32_t kTrackDescriptor = 60;
}  // namespace trace_packet
namespace track_descriptor {
inline constexpr std::uint32_t kUuid = 1;
inline constexpr std::uint32_t kName = 2;
inline constexpr std::uint32_t kParent = 5;
inline constexpr std::uint32_t kCounter = 8;
inline constexpr std::uint32_t kChildOrdering = 11;
inline constexpr std::uint32_t kSiblingRank = 12;
inline constexpr std::uint32_t kUnit = 3;  // of its CounterDescriptor
}  // namespace track_descriptor
namespace interned_data {
inline constexpr std::uint32_t kEventNames = 2;
inline constexpr std::uint32_t kAnnotationNames = 3;
inline constexpr std::uint32_t kId = 1;  // of an entry
inline constexpr std::uint32_t kText = 2;
}  // namespace interned_data
namespace track_event {
inline constexpr std::uint32_t kAnnotation = 4;
inline constexpr std::uint32_t kType = 9;
inline constexpr std::uint32_t kNameId = 10;
inline constexpr std::uint32_t kTrack = 11;
inline constexpr std::uint32_t kName = 23;
inline constexpr std::uint32_t kCounterValue = 30;
inline constexpr std::uint32_t kAnnotationNameId = 1;  // of a DebugAnnotation
inline constexpr std::uint32_t kAnnotationValue = 3;
inline constexpr std::uint32_t kSliceBegin = 1;  // its types
inline constexpr std::uint32_t kSliceEnd = 2;
inline constexpr std::uint32_t kInstant = 3;
inline constexpr std::uint32_t kCounterEvent = 4;
}  // namespace track_event

inline constexpr std::uint32_t kSliceBegin = 1;
inline constexpr std::uint32_t kSliceEnd = 2;
inline constexpr std::uint32_t kInstant = 3;
inline constexpr std::uint32_t kCounterEvent = 4;

inline constexpr std::string_view kMachineTrack = "machine", kTilesTrack = "tiles",
                                  kSuperstepsTrack = "supersteps, phases of the last tile",
                                  kZoneTrack = "supersteps of zone ", kTileTrack = "tile ",
                                  kWorkerTrack = "worker ", kReceivesTrack = "receives";
inline constexpr const char *kCycle = "cycle", *kCycles = "cycles", *kSuperstep = "superstep",
                            *kBytes = "bytes", *kFrom = "from";

}  // namespace tessera::trace::perfetto
