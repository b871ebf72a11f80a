#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/memory/dram_channel.h"

namespace tessera::sample {

/// A channel stepped clock by clock. It records every command, and issues the next one at the first
/// clock that all timing rules allow, each checked against all earlier commands.
class PlainChannel {
 public:
  struct Done {
    std::uint32_t tag;
    std::uint64_t first, last;  ///< clocks of the data burst
  };
  DramChannel::Statistics statistics;

  PlainChannel(const DramConfig& dram, std::uint32_t window) : d_(dram), window_(window) {
    next_refresh_ = d_.refi_clocks;
  }

  void arrive(const DramChannel::Request& request, std::uint64_t clock) {
    waiting_.push_back({request, clock, 0});
  }

  /// Steps one clock; returns the requests chosen in it.
  std::vector<Done> step(std::uint64_t clock) {
    if (d_.refi_clocks > 0 && clock == next_refresh_) refresh(clock);
    std::vector<Done> done;
    while (may_choose(clock)) done.push_back(serve(take(clock), clock));
    return done;
  }

 private:
  enum Kind { activate, precharge, read, write };
  struct Command {
    Kind kind;
    std::uint64_t at, bank, row;
    std::uint64_t data_begin, data_end;
  };
  struct Waiting {
    DramChannel::Request request;
    std::uint64_t clock;
    std::uint32_t overtaken;
  };

  [[nodiscard]] std::uint64_t row(const DramChannel::Request& r) const {
    return r.address / d_.row_bytes / d_.banks;
  }
  [[nodiscard]] std::uint64_t bank(const DramChannel::Request& r) const {
    return r.address / d_.row_bytes % d_.banks;
  }
  [[nodiscard]] std::optional<std::uint64_t> open_row(std::uint64_t bank) const {
    std::optional<std::uint64_t> open;
    for (const Command& c : commands_) {
      if (c.bank != bank) continue;
      if (c.kind == activate) open = c.row;
      if (c.kind == precharge) open = std::nullopt;
    }
    return open;
  }
  [[nodiscard]] bool is_data(const Command& c) const { return c.kind == read || c.kind == write; }

  [[nodiscard]] bool may_precharge(std::uint64_t bank, std::uint64_t at) const {
    return std::ranges::all_of(commands_, [&](const Command& c) {
      if (c.bank != bank) return true;
      if (c.kind == activate) return at >= c.at + d_.ras_clocks;
      if (c.kind == read) return at >= c.at + d_.rtp_clocks;
      if (c.kind == write) return at >= c.data_end + d_.wr_clocks;
      return true;
    });
  }
  [[nodiscard]] bool may_activate(std::uint64_t bank, std::uint64_t at) const {
    return at >= refresh_end_ && std::ranges::all_of(commands_, [&](const Command& c) {
             return c.bank != bank || c.kind != precharge || at >= c.at + d_.rp_clocks;
           });
  }
  [[nodiscard]] bool may_begin(bool writes, std::uint64_t bank, std::uint64_t at) const {
    const std::uint64_t data = at + (writes ? d_.cwl_clocks : d_.cl_clocks);
    return std::ranges::all_of(commands_, [&](const Command& c) {
      if (c.kind == activate && c.bank == bank && at < c.at + d_.rcd_clocks) return false;
      if (is_data(c) && data < c.data_end) return false;
      if (c.kind == write && !writes && at < c.data_end + d_.wtr_clocks) return false;
      return !(c.kind == read && writes && data < c.data_end + d_.rtw_clocks);
    });
  }

  void refresh(std::uint64_t clock) {
    std::uint64_t begin = std::max(clock, refresh_end_);
    for (std::uint64_t b = 0; b < d_.banks; ++b) {
      if (!open_row(b)) continue;
      std::uint64_t at = clock;
      while (!may_precharge(b, at)) ++at;
      commands_.push_back({precharge, at, b, 0, 0, 0});
      begin = std::max(begin, at + d_.rp_clocks);
    }
    refresh_end_ = begin + d_.rfc_clocks;
    next_refresh_ += d_.refi_clocks;
    ++refreshes_;
  }

  [[nodiscard]] bool may_choose(std::uint64_t clock) const {
    if (waiting_.empty() || waiting_.front().clock > clock || clock < refresh_end_) return false;
    const std::uint64_t lead =
        std::uint64_t{d_.rp_clocks} + d_.rcd_clocks + std::max(d_.cl_clocks, d_.cwl_clocks);
    return std::ranges::all_of(
        commands_, [&](const Command& c) { return !is_data(c) || c.data_end <= clock + lead; });
  }

  [[nodiscard]] bool hits(const Waiting& w) const {
    return open_row(bank(w.request)) == row(w.request);
  }

  DramChannel::Request take(std::uint64_t clock) {
    std::size_t chosen = 0;
    int best = 0;  // 2: a hit in the bus's direction, 1: a hit
    for (std::size_t i = 0; i < waiting_.size() && i < window_; ++i) {
      if (waiting_[i].clock > clock || !hits(waiting_[i])) continue;
      const int rank = last_ && *last_ == waiting_[i].request.write ? 2 : 1;
      if (rank > best) chosen = i;
      best = std::max(best, rank);
    }
    if (waiting_[0].overtaken >= window_) chosen = 0;
    for (std::size_t i = 0; i < chosen; ++i) ++waiting_[i].overtaken;
    const DramChannel::Request request = waiting_[chosen].request;
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(chosen));
    return request;
  }

  Done serve(const DramChannel::Request& request, std::uint64_t clock) {
    const std::uint64_t b = bank(request);
    const auto open = open_row(b);
    std::uint64_t at = clock;
    if (open && *open != row(request)) {
      ++statistics.row_conflicts;
      while (!may_precharge(b, at)) ++at;
      commands_.push_back({precharge, at, b, 0, 0, 0});
    } else {
      ++(open ? statistics.row_hits : statistics.row_misses);
    }
    if (!open || *open != row(request)) {
      while (!may_activate(b, at)) ++at;
      commands_.push_back({activate, at, b, row(request), 0, 0});
    }
    while (!may_begin(request.write, b, at)) ++at;
    const std::uint64_t first = at + (request.write ? d_.cwl_clocks : d_.cl_clocks);
    const std::uint64_t per_burst = (d_.burst_bytes + d_.bytes_per_clock - 1) / d_.bytes_per_clock;
    std::uint64_t data = first;
    const std::uint64_t end_address = request.address + request.bytes;
    for (std::uint64_t burst = request.address / d_.burst_bytes * d_.burst_bytes;
         burst < end_address; burst += d_.burst_bytes) {
      commands_.push_back(
          {request.write ? write : read, at, b, row(request), data, data + per_burst});
      at += per_burst;
      data += per_burst;
    }
    statistics.busy_clocks += data - first;
    (request.write ? statistics.bytes_written : statistics.bytes_read) += request.bytes;
    if (last_ && *last_ != request.write) ++statistics.turnarounds;
    last_ = request.write;
    statistics.refreshes = refreshes_;
    return {request.tag, first, data};
  }

  DramConfig d_;
  std::uint32_t window_;
  std::vector<Waiting> waiting_;
  std::vector<Command> commands_;
  std::optional<bool> last_;
  std::uint64_t next_refresh_;
  std::uint64_t refresh_end_ = 0;
  std::uint64_t refreshes_ = 0;
};

}  // namespace tessera::sample
