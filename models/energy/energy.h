#pragma once

#include "sim/machine/machine_config.h"
#include "sim/report/energy_result.h"
#include "sim/report/run_result.h"

namespace tessera::energy {

/// Energy (J) and area (mm2) of a run on a machine with an energy table (machine.energy), from the
/// tiles' activity counts and the run's time. Parts:
///   instructions  decoding, registers and control; fetches count as SRAM
///   integer, floating, matrix  arithmetic, independent of its time
///   sram          bytes read (loads, weights, fetches, sends) and written (stores, receives)
///   exchange      bytes sent x distance to the farthest receiver, with the others on its path
///   host          bytes of measured host transfers
///   external      bytes of external memory, row activations
///   leakage, clock  idle power x time (power.h)
/// All except leakage and external memory scale with the square of the voltage at the machine's
/// clock. Leaves out: values (every bit costs the same), links, descriptor lists, temperature.
/// Source: the table names its sources. Counts are integers, converted to joules once, so the
/// number of host threads changes no digit. `transferred`: bytes to and from the host in the
/// measured region.
EnergyResult account(const MachineConfig& machine, const RunResult& result,
                     Bytes transferred = Bytes(0));

}  // namespace tessera::energy
