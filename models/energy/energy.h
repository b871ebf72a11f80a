#pragma once

#include "sim/machine/machine_config.h"
#include "sim/report/energy_result.h"
#include "sim/report/run_result.h"

namespace tessera::energy {

/// Joules and mm2 of a run on a machine with a table (machine.energy), from what its tiles did and
/// how long it took. Parts:
///   instructions  decoding, registers and control of each; its fetch is SRAM
///   integer, floating, matrix  arithmetic, whatever time it takes
///   sram          bytes read (loads, weights, fetches, sends) and written (stores, receives)
///   exchange      bytes sent x the way to the farthest receiver, which the others lie on
///   host          bytes of measured transfers
///   leakage, clock  power while nothing runs x time (power.h)
/// All but leakage go with the square of the voltage at the machine's clock.
/// Leaves out: values (every bit costs the same), links and external memory, descriptor lists,
/// temperature. Source: none of its own, the table names them. Counts are integers and are turned
/// into joules once, so host threads change no digit.
/// `transferred`: bytes to and from the host in the measured region.
EnergyResult account(const MachineConfig& machine, const RunResult& result,
                     Bytes transferred = Bytes(0));

}  // namespace tessera::energy
