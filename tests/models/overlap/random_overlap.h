#pragma once

#include <algorithm>
#include <cstring>
#include <iterator>
#include <random>
#include <set>
#include <vector>

#include "sim/machine/nodes.h"
#include "tests/models/sample_machine.h"

/// Random programs whose exchanges overlap, over several zones and classes of nodes, for tests of
/// invariants.
namespace tessera::sample {

/// Sets word i of `bytes` to word_of(i).
template <class WordOf>
void fill_words(std::span<std::byte> bytes, const WordOf& word_of) {
  for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    const auto word = static_cast<std::uint32_t>(word_of(at / 4));
    std::memcpy(bytes.data() + at, &word, sizeof word);
  }
}

/// Draws one sequence of loops, calls and exchanges. Every zone executes its part of it, so only
/// the end of the program, where two zones may wait for each other, can deadlock. Buffers hold
/// small words only, since their sums set how long calls take.
class OverlapMaker {
 public:
  OverlapMaker(std::uint32_t seed, const MachineConfig& machine)
      : random_(seed), machine_(machine), ports_(machine) {}

  Program make() {
    // The program may omit nodes after the compute tiles.
    const std::uint32_t others = node_count(machine_) - machine_.tiles;
    const std::uint32_t tiles = machine_.tiles + (below(3) == 0 ? below(others + 1) : others);
    zones_ = 1 + below(std::min(tiles, 3U));
    Program program(tiles);
    std::vector<std::uint32_t> zone_of(tiles);
    for (std::uint32_t i = 0; i < tiles; ++i) zone_of[i] = i < zones_ ? i : below(zones_);
    program.part(zone_of);
    program_ = &program;
    codelet_ = program.add_codelet(spin_and_store());
    own_codelet_ = program.add_codelet(spin_and_return());
    for (std::uint32_t i = 0; i < tiles * kBuffersATile; ++i) add_buffer(i % tiles);
    by_workers_ = workers_start_transfers(machine_);
    if (by_workers_) add_regions();
    const std::uint32_t exchanges = below(6);
    for (std::uint32_t i = 0; i < exchanges; ++i) add_exchange();
    const std::uint32_t transfers = machine_.has_external && !by_workers_ ? below(5) : 0;
    for (std::uint32_t i = 0; i < transfers; ++i) add_transfer();
    const std::uint32_t hosted = below(4);
    for (std::uint32_t i = 0; i < hosted; ++i) add_hosted();
    std::vector<program::Sequence> steps(zones_);
    add_steps(steps, 0);
    for (std::size_t i = 0; i < known_.size(); ++i)  // none is left out
      for (int turns = 0; turns < 2; ++turns) turn(i, steps);
    crosses_ = below(6) == 0 && cross(steps);
    for (std::uint32_t zone = 0; zone < zones_; ++zone) program.steps(zone) = steps[zone];
    return program;
  }
  /// True if two zones of the last program end in opposite orders of two exchanges; it deadlocks if
  /// nodes of both zones take part in both exchanges.
  [[nodiscard]] bool crosses() const { return crosses_; }

 private:
  static constexpr std::uint32_t kBuffersATile = 6;
  static constexpr std::uint32_t kWords = 12;       ///< of a buffer
  static constexpr std::uint32_t kMostWorkers = 6;  ///< two words each

  using Buffers = std::set<BufferId>;
  struct Known {
    Buffers read, written;
    std::set<std::uint32_t> zones;
    bool in_flight = false;
  };

  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }
  /// A number of bytes below `words` words, in whole words.
  std::uint64_t bytes_below(std::uint32_t words) { return std::uint64_t{4} * below(words); }
  BufferId any_buffer() {
    return BufferId{below(static_cast<std::uint32_t>(program_->buffers().size()))};
  }
  BufferId buffer_on(std::uint32_t tile) {
    return BufferId{tile + program_->tiles() * below(kBuffersATile)};
  }
  [[nodiscard]] std::uint32_t zone_of(BufferId id) const {
    return program_->zone_of(program_->buffer(id).tile);
  }

  void add_buffer(std::uint32_t tile) {
    const auto contents = [value = 1 + below(60)](std::span<std::byte> bytes) {
      fill_words(bytes, [value](std::size_t i) { return value + i; });
    };
    add_kept(*program_, tile, std::uint64_t{4} * kWords, contents);
  }

  /// Adds the external memory that the workers of each tile access.
  void add_regions() {
    bring_codelet_ = program_->add_codelet(bring_and_store());
    for (std::uint32_t tile = 0; tile < program_->tiles(); ++tile)
      program_->add_outer(
          {"region", std::uint64_t{16} * kMostWorkers, TileId{tile}, true,
           [tile](std::uint64_t offset, std::span<std::byte> bytes) {
             fill_words(bytes, [=](std::size_t i) { return (tile + offset / 4 + i) % 60; });
           }});
  }

  /// Copies between buffers for which `allowed` is true, with distinct destination buffers.
  template <class Allowed>
  program::Exchange exchange(Allowed allowed, Known& known) {
    program::Exchange made{"pass", {}};
    const std::uint32_t copies = 1 + below(4);
    for (std::uint32_t i = 0; i < copies; ++i) {
      const std::uint32_t words = 1 + below(kWords - 1);
      program::Copy copy{{any_buffer(), 4 * below(kWords - words)}, 4 * words, {}};
      const std::uint32_t receivers = 1 + below(3);
      for (std::uint32_t k = 0; k < receivers; ++k) {
        const BufferId to = any_buffer();
        if (allowed(to) && receives(to) && known.written.insert(to).second)
          copy.destinations.push_back({to, 4 * below(kWords - words)});
      }
      if (!allowed(copy.source.buffer) || !sends(copy.source.buffer) || copy.destinations.empty())
        continue;
      known.read.insert(copy.source.buffer);
      made.copies.push_back(copy);
    }
    for (const Buffers& buffers : {known.read, known.written})
      for (const BufferId id : buffers) known.zones.insert(zone_of(id));
    return made;
  }

  [[nodiscard]] bool sends(BufferId id) const {
    return ports_.of(index(program_->buffer(id).tile)).out > 0;
  }
  [[nodiscard]] bool receives(BufferId id) const {
    return ports_.of(index(program_->buffer(id).tile)).in > 0;
  }

  void add_exchange() {
    Known known;
    program::Exchange made = exchange([](BufferId) { return true; }, known);
    if (made.copies.empty()) return;
    program_->add_exchange(std::move(made));
    known_.push_back(std::move(known));
  }

  /// Transfers with external memory, each between a buffer and its own range there.
  void add_transfer() {
    constexpr std::uint64_t kRegion = 1024;
    program::Exchange made{"transfer", {}};
    made.turns = {1 + below(8), below(2), 1 + below(2), below(3), {1 + below(3), 1 + below(2)},
                  below(4)};
    Known known;
    const std::uint32_t copies = 1 + below(5);
    for (std::uint32_t i = 0; i < copies; ++i) {
      const BufferId id = any_buffer();
      if (known.read.contains(id) || known.written.contains(id)) continue;
      const bool outward = below(2) == 0;
      const std::uint32_t words = 1 + below(kWords / 2);
      const std::uint32_t rows = 1 + below(kWords / words);
      const program::OuterId outer = program_->add_outer(
          {"outside", kRegion, program_->buffer(id).tile, true,
           [value = 1 + below(60)](std::uint64_t /*offset*/, std::span<std::byte> bytes) {
             fill_words(bytes, [value](std::size_t word) { return value + word % 7; });
           }});
      program::OuterCopy copy{{id, 4 * below(kWords - words * rows + 1)},
                              {outer, bytes_below(8)},
                              4 * words,
                              rows,
                              4 * words + 4 * below(3),
                              {bytes_below(8), bytes_below(8), bytes_below(8)},
                              outward};
      (outward ? known.read : known.written).insert(id);
      known.zones.insert(zone_of(id));
      made.outside.push_back(copy);
    }
    program_->add_exchange(std::move(made));
    known_.push_back(std::move(known));
  }

  /// A transfer with the host, with pieces on any tiles.
  void add_hosted() {
    using Direction = program::HostTransfer::Direction;
    Known known;
    const bool outward = below(2) == 0;
    program::HostTransfer made{outward ? Direction::write : Direction::read, {}};
    const std::uint32_t pieces = 1 + below(5);
    for (std::uint32_t i = 0; i < pieces; ++i) {
      const BufferId id = any_buffer();
      const std::uint32_t words = 1 + below(kWords - 1);
      if (!(outward ? known.read : known.written).insert(id).second) continue;
      known.zones.insert(zone_of(id));
      made.pieces.push_back({{id, 4 * below(kWords - words)}, 4 * words});
      if (outward) continue;
      made.pieces.back().contents = [value = 1 + below(60)](std::span<std::byte> bytes,
                                                            std::uint64_t number) {
        fill_words(bytes, [=](std::size_t word) { return value + word + number % 50; });
      };
    }
    program::Turns turns = program::kEveryStart;
    if (below(2) == 0) turns = {1 + below(8), below(2), 1 + below(2), below(3), {1, 1}};
    program_->add_exchange({fmt::format("host {}", known_.size()), {}, {}, turns, made});
    known_.push_back(std::move(known));
  }

  [[nodiscard]] bool may_read(BufferId id) const {
    return std::ranges::none_of(
        known_, [&](const Known& each) { return each.in_flight && each.written.contains(id); });
  }
  [[nodiscard]] bool may_write(BufferId id) const {
    return may_read(id) && std::ranges::none_of(known_, [&](const Known& each) {
             return each.in_flight && each.read.contains(id);
           });
  }

  void add_steps(std::vector<program::Sequence>& steps, std::uint32_t depth) {
    std::vector<bool> before;
    for (const Known& each : known_) before.push_back(each.in_flight);
    const std::uint32_t count = 2 + below(6);
    for (std::uint32_t i = 0; i < count; ++i) add_step(steps, depth);
    for (std::size_t i = 0; i < known_.size(); ++i)
      if (known_[i].in_flight && !before[i]) turn(i, steps);
    for (std::size_t i = 0; i < known_.size(); ++i)
      if (!known_[i].in_flight && before[i]) turn(i, steps);
  }

  void add_step(std::vector<program::Sequence>& steps, std::uint32_t depth) {
    const std::uint32_t kind = below(depth < 2 ? 6 : 5);
    if (kind == 0) return add_own_exchange(steps);
    if (kind == 1 || kind == 2) {
      if (!known_.empty()) turn(below(static_cast<std::uint32_t>(known_.size())), steps);
      return;
    }
    if (kind != 5) return add_calls(steps);
    std::vector<program::Sequence> body(zones_);
    add_steps(body, depth + 1);
    const std::uint32_t times = below(4);
    for (std::uint32_t zone = 0; zone < zones_; ++zone)
      steps[zone].steps.push_back({program::Repeat{times, body[zone]}});
  }

  /// Starts the exchange, if the exchanges in flight allow it, or waits for it.
  void turn(std::size_t number, std::vector<program::Sequence>& steps) {
    Known& known = known_[number];
    const program::ExchangeId id{static_cast<std::uint32_t>(number)};
    if (!known.in_flight) {
      const bool free =
          std::ranges::all_of(known.written, [&](BufferId b) { return may_write(b); }) &&
          std::ranges::all_of(known.read, [&](BufferId b) { return may_read(b); });
      if (!free) return;
    }
    for (const std::uint32_t zone : known.zones) {
      if (known.in_flight)
        steps[zone].steps.push_back({program::Wait{id}});
      else
        steps[zone].steps.push_back({program::Start{id}});
    }
    known.in_flight = !known.in_flight;
  }

  /// Lets two zones that both take part in two exchanges start and wait for these in opposite
  /// orders; false if no such zones exist.
  bool cross(std::vector<program::Sequence>& steps) {
    for (std::size_t first = 0; first < known_.size(); ++first)
      for (std::size_t second = first + 1; second < known_.size(); ++second) {
        std::vector<std::uint32_t> both;
        std::ranges::set_intersection(known_[first].zones, known_[second].zones,
                                      std::back_inserter(both));
        if (both.size() < 2 || known_[first].in_flight || known_[second].in_flight) continue;
        for (std::uint32_t zone = 0; zone < zones_; ++zone) {
          const bool turned = zone == both.back();
          for (const std::size_t number : {turned ? second : first, turned ? first : second}) {
            if (!known_[number].zones.contains(zone)) continue;
            const program::ExchangeId id{static_cast<std::uint32_t>(number)};
            steps[zone].steps.push_back({program::Start{id}});
            steps[zone].steps.push_back({program::Wait{id}});
          }
        }
        return true;
      }
    return false;
  }

  void add_own_exchange(std::vector<program::Sequence>& steps) {
    const std::uint32_t zone = below(zones_);
    Known known;
    program::Exchange made =
        exchange([&](BufferId id) { return zone_of(id) == zone && may_write(id); }, known);
    steps[zone].steps.push_back({std::move(made)});
  }

  void add_calls(std::vector<program::Sequence>& steps) {
    const std::uint32_t zone = below(zones_);
    program::ComputeSet set{"work", {}};
    for (std::uint32_t tile = 0; tile < program_->tiles(); ++tile) {
      if (program_->zone_of(TileId{tile}) != zone || below(3) == 0) continue;
      const BufferId from = buffer_on(tile);
      const BufferId to = buffer_on(tile);
      if (!may_read(from) || !may_write(to) || from == to) continue;
      if (by_workers_ && tile_of(machine_, tile).contexts > 0 && below(2) == 0) {
        set.vertices.push_back({TileId{tile},
                                bring_codelet_,
                                program::Executor::all_workers,
                                0,
                                {program::OuterPlace{program::OuterId{tile}}, program::Place{to}}});
        continue;
      }
      const bool alone = tile_of(machine_, tile).contexts == 0 || below(8) == 0;
      program::Vertex vertex{TileId{tile},
                             alone ? own_codelet_ : codelet_,
                             alone ? program::Executor::supervisor : program::Executor::all_workers,
                             0,
                             {}};
      vertex.arguments = {program::Place{from}, program::Place{to, 4 * below(kWords)}};
      set.vertices.push_back(vertex);
    }
    steps[zone].steps.push_back({std::move(set)});
  }

  std::mt19937 random_;
  const MachineConfig& machine_;
  const fabric::NodePorts ports_;
  Program* program_ = nullptr;
  std::uint32_t zones_ = 1;
  std::uint32_t codelet_ = 0;
  std::uint32_t own_codelet_ = 0;  ///< for supervisors
  std::uint32_t bring_codelet_ = 0;
  bool by_workers_ = false;  ///< workers access external memory
  bool crosses_ = false;
  std::vector<Known> known_;  ///< by ExchangeId
};

}  // namespace tessera::sample
