#include "models/tile/race_check.h"

#include <algorithm>

#include <fmt/format.h>

namespace tessera {
namespace {

/// The first byte in both sets of ranges.
std::optional<std::uint32_t> common_byte(const RaceCheck::Ranges& a, const RaceCheck::Ranges& b) {
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() && right != b.end()) {
    const std::uint32_t begin = std::max(left->begin, right->begin);
    if (begin < std::min(left->end, right->end)) return begin;
    if (left->end < right->end)
      ++left;
    else
      ++right;
  }
  return std::nullopt;
}

/// Merges ranges into ascending, disjoint ones of the same bytes.
RaceCheck::Ranges merged(const RaceCheck::Ranges& ranges) {
  engine::ByteSet set;
  for (const engine::ByteRange& range : ranges) set.add(range.begin, range.end - range.begin);
  return set.ranges();
}

std::string describe(std::uint32_t address, const std::string& what) {
  return fmt::format("data race at address {:#x}: {}", address, what);
}

/// Conflict between a worker and the others, from their logs of one memory.
std::optional<std::string> conflict_of(std::uint32_t worker, std::vector<engine::AccessLog>& logs) {
  engine::AccessLog& own = logs[worker];
  for (std::uint32_t other = 0; other < logs.size(); ++other) {
    if (other == worker) continue;
    engine::AccessLog& theirs = logs[other];
    if (const auto byte = common_byte(own.writes(), theirs.writes()))
      return describe(*byte, fmt::format("it wrote what worker {} has written", other));
    if (const auto byte = common_byte(own.writes(), theirs.reads()))
      return describe(*byte, fmt::format("it wrote what worker {} has read", other));
    if (const auto byte = common_byte(own.reads(), theirs.writes()))
      return describe(*byte, fmt::format("it read what worker {} has written", other));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> RaceCheck::check_worker(std::uint32_t worker) {
  if (auto conflict = conflict_of(worker, logs_)) return conflict;
  if (auto conflict = conflict_of(worker, outer_logs_))
    return *conflict + " (addresses of external memory)";
  return check_transfers(logs_[worker]);
}

void RaceCheck::end_window() {
  for (engine::AccessLog& log : logs_) log.clear();
  for (engine::AccessLog& log : outer_logs_) log.clear();
}

std::optional<std::string> RaceCheck::begin_transfer(Address list, const Ranges& sources,
                                                     const Ranges& destinations) {
  const Transfer transfer{list, merged(sources), merged(destinations)};
  for (const Transfer& other : transfers_) {
    if (const auto byte = common_byte(transfer.destinations, other.sources))
      return describe(*byte, "an exchange delivers what another in flight sends");
    if (const auto byte = common_byte(transfer.destinations, other.destinations))
      return describe(*byte, "an exchange delivers where another in flight does");
    if (const auto byte = common_byte(transfer.sources, other.destinations))
      return describe(*byte, "an exchange sends what another in flight delivers");
  }
  transfers_.push_back(transfer);
  for (std::uint32_t worker = 0; worker < logs_.size(); ++worker)
    if (const auto conflict = check_transfers(logs_[worker]))
      return fmt::format("worker {}, not joined: {}", worker, *conflict);
  return std::nullopt;
}

void RaceCheck::end_transfer(Address list) {
  std::erase_if(transfers_, [list](const Transfer& transfer) { return transfer.list == list; });
}

std::optional<std::string> RaceCheck::check_supervisor() {
  auto conflict = check_transfers(supervisor_);
  supervisor_.clear();
  return conflict;
}

std::optional<std::string> RaceCheck::check_transfers(engine::AccessLog& log) const {
  for (const Transfer& transfer : transfers_) {
    if (const auto byte = common_byte(log.writes(), transfer.sources))
      return describe(*byte, "it wrote what an exchange in flight sends");
    if (const auto byte = common_byte(log.writes(), transfer.destinations))
      return describe(*byte, "it wrote where an exchange in flight delivers");
    if (const auto byte = common_byte(log.reads(), transfer.destinations))
      return describe(*byte, "it read where an exchange in flight delivers");
  }
  return std::nullopt;
}

}  // namespace tessera
