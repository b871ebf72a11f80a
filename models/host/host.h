#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>

#include "sim/base/parallel.h"
#include "sim/program/image.h"
#include "sim/program/workload.h"

namespace tessera {

/// The host: loads images into the tiles and reads results, through debug access that takes no
/// simulated time. Its transfers before and after a run take their bytes over the link's rate.
/// Leaves out: latency and set-up of a transfer, transfers during a run.
class Host : public sc_core::sc_module, public MemoryReader {
 public:
  Host(const sc_core::sc_module_name& name, std::uint32_t tiles, std::uint64_t bytes_per_tile);

  /// Bound to the chip's SRAM.
  tlm_utils::simple_initiator_socket<Host> socket;

  /// Writes every tile's code, segments and the inputs of run 0. The socket must be bound.
  void load(const program::Program& program, const program::Images& images, HostThreads& threads);
  /// Writes the inputs of run `run` of the program that was loaded.
  void write_inputs(const program::Program& program, const program::Images& images,
                    std::uint32_t run, HostThreads& threads);

  /// What `bytes` take over the host link, rounded up to chip clocks.
  static Cycle transfer_cycles(Bytes bytes, const MachineConfig& machine);

  /// Throws Defect if the place does not lie within its tile.
  void read(program::Place place, std::span<std::byte> into) const override;

 private:
  struct Location {
    TileId tile;
    Address address;
  };
  std::span<std::byte> direct_memory(TileId tile);
  std::vector<std::span<std::byte>> direct_memories();

  std::uint32_t tiles_;
  std::uint64_t bytes_per_tile_;
  std::vector<Location> buffers_;
};

}  // namespace tessera
