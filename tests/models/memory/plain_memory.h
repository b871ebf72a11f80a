#pragma once

#include <cmath>
#include <cstring>
#include <map>
#include <vector>

#include "sim/program/transfer_list.h"
#include "tests/models/memory/plain_channel.h"
#include "tests/models/memory/tile_script.h"

namespace tessera::sample {

/// External memory with tiles that follow scripts, stepped cycle by cycle: no events, no bounds, no
/// queues but plain lists. Implements the timing stated in models/memory/outer_traffic.h.
class PlainMemory {
 public:
  PlainMemory(const Scene& scene)
      : scene_(scene), e_(scene.machine.external), sram_(scene.sram), tiles_(scene.scripts.size()) {
    const std::size_t spaces = e_.reach == ExternalReach::tile ? tiles_.size() : 1;
    for (std::size_t i = 0; i < spaces; ++i) store.push_back(scene.contents(i));
    for (std::size_t i = 0; i < spaces * e_.channels; ++i)
      channels.emplace_back(e_.dram, e_.window);
  }

  std::vector<std::vector<std::byte>> store;
  std::vector<PlainChannel> channels;
  std::vector<Outcome> outcomes;
  [[nodiscard]] const std::vector<std::vector<std::byte>>& sram() const { return sram_; }

  /// Runs until all scripts have ended.
  void run() {
    for (cycle_ = 0; unfinished(); ++cycle_) {
      end_requests();
      for (std::uint32_t i = 0; i < tiles_.size(); ++i) start_lists(i);
      for (std::uint32_t i = 0; i < tiles_.size(); ++i) issue(i);
      arrive();
      step_channels();
      pass_ports();
    }
  }

 private:
  struct Request {
    std::uint32_t tile;
    std::size_t transfer;
    std::uint64_t outside;
    std::uint32_t local, bytes;
    bool write;
    std::uint64_t arrives = UINT64_MAX, data_first = UINT64_MAX, data_last = 0, done = UINT64_MAX;
    bool arrived = false, passed = false, ended = false;
  };
  struct Transfer {
    std::uint32_t tile, list;
    std::uint64_t start;
    std::uint32_t exchange;
    std::vector<Request> all;
    std::size_t issued = 0, ended = 0;
    std::uint64_t begin = 0, done = UINT64_MAX;
    std::uint64_t read = 0, written = 0;
  };
  struct Tile {
    Follower script;
    std::map<std::uint32_t, std::uint64_t> starts;
    std::vector<std::size_t> order;  ///< transfers in the order of service
    std::uint64_t port_free = 0;
    std::uint32_t under_way = 0;
  };

  [[nodiscard]] bool unfinished() const {
    for (std::uint32_t i = 0; i < tiles_.size(); ++i)
      if (!tiles_[i].script.over(scene_.scripts[i])) return true;
    return false;
  }

  void end_requests() {
    for (Request& request : requests_) {
      if (request.ended || request.done != cycle_) continue;
      request.ended = true;
      --tiles_[request.tile].under_way;
      if (!request.write)
        std::memcpy(sram_[request.tile].data() + request.local, outside(request), request.bytes);
      ++transfers_[request.transfer].ended;
    }
    std::vector<std::size_t> ended;
    for (std::size_t i = 0; i < transfers_.size(); ++i)
      if (transfers_[i].done == UINT64_MAX && transfers_[i].ended == transfers_[i].all.size())
        ended.push_back(i);
    std::ranges::sort(ended, {}, [&](std::size_t i) {
      return std::pair(transfers_[i].tile, transfers_[i].list);
    });
    for (const std::size_t i : ended) end(transfers_[i]);
  }
  void end(Transfer& transfer) {
    transfer.done = cycle_;
    for (const Request& request : transfer.all)
      if (request.write)
        std::memcpy(outside(request), sram_[request.tile].data() + request.local, request.bytes);
    tiles_[transfer.tile].script.done(transfer.list, cycle_);
    outcomes.push_back({transfer.tile, transfer.list, transfer.exchange, transfer.start,
                        transfer.begin, cycle_, transfer.read, transfer.written});
  }
  std::byte* outside(const Request& request) {
    return store[e_.reach == ExternalReach::tile ? request.tile : 0].data() + request.outside;
  }

  void start_lists(std::uint32_t number) {
    Tile& tile = tiles_[number];
    for (;;) {
      const auto start = tile.script.next_start(scene_.scripts[number]);
      if (!start || *start != cycle_) return;
      start_list(number, tile.script.take(scene_.scripts[number], cycle_));
    }
  }
  void start_list(std::uint32_t number, std::uint32_t list) {
    Tile& tile = tiles_[number];
    program::TransferHeader header;
    std::memcpy(&header, sram_[number].data() + list, sizeof header);
    Transfer transfer{number, list, cycle_, header.exchange, {}, 0, 0, cycle_, UINT64_MAX, 0, 0};
    std::uint64_t start = tile.starts[list]++;
    while (header.turns.period > 0 && start >= header.turns.period) start -= header.turns.period;
    if (start >= header.turns.skipped) {
      const std::uint64_t turn =
          header.turns.first + header.turns.every * (start - header.turns.skipped);
      if (turn < header.turns.count) add_requests(transfer, header, turn);
    }
    const std::size_t index = transfers_.size();
    for (Request& request : transfer.all) request.transfer = index;
    transfers_.push_back(transfer);
    if (transfer.all.empty()) return end(transfers_.back());
    tile.order.push_back(index);
    std::ranges::sort(tile.order, {}, [&](std::size_t i) {
      return std::pair(transfers_[i].start, transfers_[i].list);
    });
  }
  void add_requests(Transfer& transfer, const program::TransferHeader& header, std::uint64_t turn) {
    const std::uint64_t digits[3] = {turn % header.turns.radices[0],
                                     turn / header.turns.radices[0] % header.turns.radices[1],
                                     turn / header.turns.radices[0] / header.turns.radices[1]};
    for (std::uint32_t i = 0; i < header.entries; ++i) {
      program::OuterEntry entry;
      std::memcpy(&entry,
                  sram_[transfer.tile].data() + transfer.list + sizeof header + i * sizeof entry,
                  sizeof entry);
      std::uint64_t address = entry.address;
      for (int d = 0; d < 3; ++d) address += digits[d] * entry.steps[d];
      std::uint32_t local = entry.local;
      for (std::uint32_t row = 0; row < entry.rows; ++row, address += entry.pitch) {
        for (std::uint32_t byte = 0; byte < entry.row_bytes; ++byte, ++local) {
          const bool write = entry.outward != 0;
          ++(write ? transfer.written : transfer.read);
          if (byte == 0 || (address + byte) % e_.request_bytes == 0) {
            Request request{};
            request = {transfer.tile, 0, address + byte, local, 0, write};
            transfer.all.push_back(request);
          }
          ++transfer.all.back().bytes;
        }
      }
    }
  }

  void issue(std::uint32_t number) {
    Tile& tile = tiles_[number];
    for (const std::size_t i : tile.order) {
      Transfer& transfer = transfers_[i];
      if (transfer.issued == transfer.all.size()) continue;
      if (tile.under_way == e_.outstanding || cycle_ < transfer.start + e_.setup_cycles) return;
      Request request = transfer.all[transfer.issued];
      if (transfer.issued++ == 0) transfer.begin = cycle_;
      request.arrives = cycle_ + e_.way_cycles;
      if (request.write) {
        tile.port_free = std::max(tile.port_free, cycle_) + pass_cycles(request);
        request.arrives = tile.port_free + e_.way_cycles;
      }
      ++tile.under_way;
      requests_.push_back(request);
      return;
    }
  }
  [[nodiscard]] std::uint64_t pass_cycles(const Request& request) const {
    return (request.bytes + e_.dma_bytes_per_cycle - 1) / e_.dma_bytes_per_cycle;
  }

  void arrive() {
    for (std::uint32_t tile = 0; tile < tiles_.size(); ++tile)
      for (std::uint32_t i = 0; i < requests_.size(); ++i) {
        Request& request = requests_[i];
        if (request.tile != tile || request.arrived || request.arrives != cycle_) continue;
        request.arrived = true;
        const std::uint64_t piece = e_.interleave_bytes > 0
                                        ? e_.interleave_bytes
                                        : std::uint64_t{e_.mib_per_channel} << 20U;
        const std::uint64_t channel = request.outside / piece % e_.channels;
        const std::uint64_t inside =
            request.outside / (piece * e_.channels) * piece + request.outside % piece;
        const std::uint64_t space = e_.reach == ExternalReach::tile ? tile : 0;
        std::uint64_t clock = 0;
        while (clock * chip() < cycle_ * dram()) ++clock;
        channels[space * e_.channels + channel].arrive(
            {inside, request.bytes, request.write, i, Cycle(cycle_)}, clock);
      }
  }
  [[nodiscard]] std::uint64_t chip() const {
    return static_cast<std::uint64_t>(std::llround(scene_.machine.clock_ghz * 1e6));
  }
  [[nodiscard]] std::uint64_t dram() const {
    return static_cast<std::uint64_t>(std::llround(e_.dram.clock_ghz * 1e6));
  }
  [[nodiscard]] std::uint64_t cycle_at(std::uint64_t clock) const {
    return (clock * chip() + dram() - 1) / dram();
  }

  void step_channels() {
    for (; clock_ * chip() < (cycle_ + 1) * dram(); ++clock_) {
      for (PlainChannel& channel : channels)
        for (const PlainChannel::Done& done : channel.step(clock_)) {
          Request& request = requests_[done.tag];
          request.data_first = cycle_at(done.first) + e_.way_cycles;
          request.data_last = cycle_at(done.last) + e_.way_cycles;
          if (request.write) request.done = request.data_last;
        }
    }
  }
  void pass_ports() {
    for (Request& request : requests_) {
      if (request.write || request.passed || request.data_first != cycle_) continue;
      request.passed = true;
      Tile& tile = tiles_[request.tile];
      tile.port_free = std::max(tile.port_free, cycle_) + pass_cycles(request);
      request.done = std::max(tile.port_free, request.data_last);
    }
  }

  const Scene& scene_;
  ExternalConfig e_;
  std::vector<std::vector<std::byte>> sram_;
  std::vector<Tile> tiles_;
  std::vector<Transfer> transfers_;
  std::vector<Request> requests_;  ///< in order of issue
  std::uint64_t cycle_ = 0;
  std::uint64_t clock_ = 0;
};

}  // namespace tessera::sample
