#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>

#include "models/chip/modules.h"
#include "models/timing/timing_proof.h"
#include "sim/base/parallel.h"
#include "sim/program/image.h"
#include "sim/program/workload.h"

namespace tessera {

/// The host: loads images into the tiles and reads results, through debug access. An access from
/// the platform around the machine takes the link's latency and its bytes over the link's rate.
/// Transfers of programs go over HostLink. Leaves out: the path from the link's port to the tiles.
class Host : public sc_core::sc_module, public MemoryReader {
 public:
  Host(const sc_core::sc_module_name& name, const MachineConfig& machine);

  /// Bound to the chip's SRAM.
  tlm_utils::simple_initiator_socket<Host> socket;

  /// Writes every tile's code, segments and the inputs of run 0. The socket must be bound. With
  /// `poison`, buffers without contents are filled with 0xff bytes (NaN as a float, -1 as an
  /// integer), so that reads before writes show in results.
  /// With a proof no values are computed: only the inputs that the proof read are written.
  void load(const program::Program& program, const program::Images& images, HostThreads& threads,
            bool poison, const TimingProof* proof);
  /// Writes the inputs of run `run` of the program that was loaded.
  void write_inputs(const program::Program& program, const program::Images& images,
                    std::uint32_t run, HostThreads& threads, const TimingProof* proof);

  /// External memory, if the machine has any.
  sc_core::sc_port<OutsidePort, 1, sc_core::SC_ZERO_OR_MORE_BOUND> outside;

  /// Source of the bytes that came over the link.
  sc_core::sc_port<HostLinkPort> link;

  /// Accesses from the surrounding platform to SRAM, addressed as at the chip's socket. The
  /// blocking access adds access_time() to `delay`.
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& payload);
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
  /// The link's latency and `bytes` over its rate, rounded up to whole cycles.
  [[nodiscard]] sc_core::sc_time access_time(Bytes bytes) const;

  /// Throws Defect if the place does not lie within its tile.
  void read(program::Place place, std::span<std::byte> into) const override;
  void read(program::OuterPlace place, std::span<std::byte> into) const override;
  [[nodiscard]] std::span<const std::byte> written(std::string_view transfer) const override;

 private:
  struct Location {
    TileId tile;
    Address address;
  };
  void access(tlm::tlm_command command, program::Place place, std::span<std::byte> bytes) const;
  void load_outside(const program::Program& program, HostThreads& threads);
  void poison(const program::Program& program, std::span<const std::span<std::byte>> srams) const;
  std::span<std::byte> direct_memory(TileId tile);
  std::vector<std::span<std::byte>> direct_memories();

  MachineConfig machine_;
  std::uint32_t tiles_;
  std::vector<Location> buffers_;
  struct Outside {
    TileId tile;
    std::uint64_t address;
  };
  std::vector<Outside> outers_;
};

}  // namespace tessera
