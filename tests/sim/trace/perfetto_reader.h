#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// Reads Perfetto traces, written from the format's description and not from the writer's code.
namespace tessera::test {

/// The fields of one protobuf message, numbers and texts separately.
struct ProtobufFields {
  std::multimap<std::uint32_t, std::uint64_t> numbers;
  std::multimap<std::uint32_t, std::string_view> texts;

  explicit ProtobufFields(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::uint64_t tag = varint(bytes);
      const auto field = static_cast<std::uint32_t>(tag >> 3);
      const std::uint64_t value = varint(bytes);
      if ((tag & 7) == 0) {
        numbers.emplace(field, value);
      } else if ((tag & 7) == 2 && value <= bytes.size()) {
        texts.emplace(field, bytes.substr(0, value));
        bytes.remove_prefix(value);
      } else {
        throw std::runtime_error("protobuf: another wire type, or cut off");
      }
    }
  }
  [[nodiscard]] std::uint64_t number(std::uint32_t field) const {
    const auto found = numbers.find(field);
    return found == numbers.end() ? 0 : found->second;
  }
  [[nodiscard]] std::string text(std::uint32_t field) const {
    const auto found = texts.find(field);
    return found == texts.end() ? "" : std::string(found->second);
  }

 private:
  static std::uint64_t varint(std::string_view& bytes) {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes.at(0));
      bytes.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
  }
};

struct Slice {
  std::string track;  ///< with its parents: "tiles/tile 3/worker 0"
  std::string name;
  std::uint64_t begin = 0, end = 0;  ///< ns
  std::map<std::string, std::uint64_t> arguments;
};

struct PerfettoTrace {
  std::vector<Slice> slices;  ///< in the order of their begin events in the file
  std::map<std::string, std::map<std::uint64_t, std::int64_t>> counters;
  std::vector<std::string> instants;

  [[nodiscard]] std::vector<Slice> of(const std::string& track) const {
    std::vector<Slice> result;
    for (const Slice& slice : slices)
      if (slice.track == track) result.push_back(slice);
    return result;
  }
};

class PerfettoReader {
 public:
  explicit PerfettoReader(const std::string& file) {
    for (const auto& [field, packet] : ProtobufFields(file).texts) read(ProtobufFields(packet));
    for (const auto& [track, open] : open_)
      if (!open.empty()) throw std::runtime_error("a slice without an end");
  }
  PerfettoTrace trace;

 private:
  void read(const ProtobufFields& packet) {
    if (packet.texts.count(60) != 0) describe(ProtobufFields(packet.text(60)));
    if (packet.texts.count(12) != 0) learn(packet.text(12));
    if (packet.texts.count(11) != 0) event(packet.text(11), packet.number(8));
  }
  void describe(const ProtobufFields& track) {
    const std::uint64_t parent = track.number(5);
    const std::string above = parent == 0 ? "" : tracks_.at(parent) + "/";
    tracks_[track.number(1)] = above + track.text(2);
  }
  void learn(const std::string& bytes) {
    for (const auto& [field, entry] : ProtobufFields(bytes).texts) {
      const ProtobufFields named(entry);
      (field == 2 ? events_ : arguments_)[named.number(1)] = named.text(2);
    }
  }
  void event(const std::string& bytes, std::uint64_t at) {
    const ProtobufFields event(bytes);
    const std::string& track = tracks_.at(event.number(11));
    switch (event.number(9)) {
      case 1:
        trace.slices.push_back({track, events_.at(event.number(10)), at, 0, arguments(event)});
        return open_[track].push_back(trace.slices.size() - 1);
      case 2:
        trace.slices.at(open_[track].back()).end = at;
        return open_[track].pop_back();
      case 3:
        return trace.instants.push_back(event.text(23));
      case 4:
        trace.counters[track][at] = static_cast<std::int64_t>(event.number(30));
        return;
      default:
        throw std::runtime_error("an event of another type");
    }
  }
  std::map<std::string, std::uint64_t> arguments(const ProtobufFields& event) {
    std::map<std::string, std::uint64_t> result;
    const auto [first, last] = event.texts.equal_range(4);
    for (auto each = first; each != last; ++each) {
      const ProtobufFields annotation(each->second);
      result[arguments_.at(annotation.number(1))] = annotation.number(3);
    }
    return result;
  }

  std::map<std::uint64_t, std::string> tracks_, events_, arguments_;
  std::map<std::string, std::vector<std::size_t>> open_;
};

inline PerfettoTrace read_perfetto(const std::string& file) { return PerfettoReader(file).trace; }

}  // namespace tessera::test
