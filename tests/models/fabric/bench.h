#pragma once

#include <cstring>
#include <random>
#include <vector>

#include "models/fabric/fabric.h"
#include "models/fabric/verify.h"
#include "tests/models/fabric/patterns.h"

namespace tessera::fabric {

/// Tiles without a machine: SRAM with random bytes, followed by the compiled lists.
class Bench {
 public:
  Bench(const FabricConfig& config, std::uint32_t tiles, std::uint32_t data_bytes,
        const Floorplan& floorplan = {})
      : compiler_(make_exchange_compiler(config)),
        config_(config),
        floorplan_(floorplan),
        data_bytes_(round_up(data_bytes, 4U)),
        sram_(tiles, std::vector<std::byte>(data_bytes_)) {
    std::mt19937_64 random(1);
    for (auto& tile : sram_) {
      for (std::byte& byte : tile) byte = static_cast<std::byte>(random());
    }
  }

  program::CompiledExchange load(const patterns::Copies& copies) {
    return load(copies, *compiler_);
  }
  program::CompiledExchange load(const patterns::Copies& copies,
                                 const program::ExchangeCompiler& compiler) {
    program::CompiledExchange exchange = compiler.compile(7, copies);
    participants_.clear();
    for (const program::DescriptorList& list : exchange.lists) {
      std::vector<std::byte>& tile = sram_[index(list.tile)];
      tile.resize(data_bytes_);
      tile.insert(tile.end(), list.bytes.begin(), list.bytes.end());
      participants_.push_back({list.tile, Cycle(0), tile, Address(data_bytes_)});
    }
    return exchange;
  }

  /// All participants start the exchange, on a new fabric.
  Moved run(unsigned threads = 1) {
    HostThreads host(threads);
    const std::unique_ptr<Fabric> fabric = make_fabric(config_, floorplan_);
    for (const Participant& side : participants_) fabric->submit(side);
    return fabric->advance(fabric->next_event().value(), host).at(0);
  }

  /// The expected SRAM afterwards: all sources are read before any destination is written.
  [[nodiscard]] std::vector<std::vector<std::byte>> expected(const patterns::Copies& copies) const {
    std::vector<std::vector<std::byte>> after = sram_;
    for (const program::PlacedCopy& copy : copies) {
      for (const program::Port& to : copy.destinations) {
        std::memcpy(after[index(to.tile)].data() + to.address.count(),
                    sram_[index(copy.source.tile)].data() + copy.source.address.count(),
                    copy.bytes);
      }
    }
    return after;
  }

  std::vector<Participant>& participants() { return participants_; }
  std::vector<std::vector<std::byte>>& sram() { return sram_; }
  [[nodiscard]] std::uint32_t list_address() const { return data_bytes_; }

 private:
  std::unique_ptr<program::ExchangeCompiler> compiler_;
  FabricConfig config_;
  Floorplan floorplan_;
  std::uint32_t data_bytes_;
  std::vector<std::vector<std::byte>> sram_;
  std::vector<Participant> participants_;
};

}  // namespace tessera::fabric
