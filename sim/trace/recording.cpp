#include "sim/trace/recording.h"

#include <algorithm>
#include <tuple>

#include "sim/data/read_file.h"

namespace tessera::trace {
namespace {

constexpr std::string_view kPerfetto = ".pftrace", kVcd = ".vcd";

/// Sorts all slices by time and sets the recording's end.
void put_in_order(Recording& recording) {
  const auto sort = [&](auto& slices) {
    std::ranges::stable_sort(slices, [](const auto& a, const auto& b) {
      return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
    });
    for (const auto& slice : slices) recording.end = std::max(recording.end, slice.end);
  };
  for (auto& [number, zone] : recording.zones) {
    sort(zone.supersteps);
    sort(zone.phases);
  }
  for (auto& [number, tile] : recording.tiles) {
    sort(tile.states);
    for (auto& [worker, slices] : tile.workers) sort(slices);
    std::ranges::sort(tile.transfers, [](const auto& a, const auto& b) {
      return std::tie(a.begin, a.from, a.end) < std::tie(b.begin, b.from, b.end);
    });
    for (const auto& transfer : tile.transfers)
      recording.end = std::max(recording.end, transfer.end);
  }
}

}  // namespace

Recording::Recording(std::string of) : file(std::move(of)) {
  for (const std::string_view state : kStateNames) name(state);
}

Name Recording::name(std::string_view text) {
  const auto found = known_.find(text);
  if (found != known_.end()) return found->second;
  names.emplace_back(text);
  return known_.emplace(text, static_cast<Name>(names.size() - 1)).first->second;
}

bool is_trace(const std::string& file) { return file.ends_with(kPerfetto) || file.ends_with(kVcd); }

Recording read_trace(const std::string& file) {
  const std::string bytes = data::read_file(file);
  Recording recording = file.ends_with(kVcd) ? read_vcd(bytes, file) : read_perfetto(bytes, file);
  put_in_order(recording);
  return recording;
}

}  // namespace tessera::trace
