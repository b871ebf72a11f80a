#include "models/energy/power.h"

#include <algorithm>
#include <cmath>

#include "models/energy/area.h"
#include "sim/base/errors.h"

namespace tessera::energy {
namespace {

double volts_at(const std::vector<VoltagePoint>& points, double ghz) {
  const auto above =
      std::ranges::find_if(points, [&](const VoltagePoint& point) { return point.ghz >= ghz; });
  check(above != points.end(), "energy: no voltage at {} GHz", ghz);
  if (above == points.begin()) return above->volts;
  const VoltagePoint& below = *(above - 1);
  const double part = (ghz - below.ghz) / (above->ghz - below.ghz);
  return below.volts + part * (above->volts - below.volts);
}

}  // namespace

Power::Power(const MachineConfig& machine)
    : volts(machine.energy.voltage.empty() ? 0
                                           : volts_at(machine.energy.voltage, machine.clock_ghz)) {
  const EnergyConfig& table = machine.energy;
  const double relative = volts > 0 ? volts / table.nominal_volts : 1;
  const double more = volts > 0 ? volts - table.nominal_volts : 0;
  dynamic = relative * relative;
  for (const ClassSize& size : class_sizes(machine)) {
    classes.push_back(
        {size.count,
         relative * std::exp(table.leakage_exponent_per_volt * more) *
             (size.sram_mib * table.sram_leakage_watts_per_mib +
              size.logic_mm2 * table.logic_leakage_watts_per_mm2),
         dynamic * machine.clock_ghz * size.logic_mm2 * table.clock_watts_per_ghz_mm2});
    leakage_watts += classes.back().leakage_watts;
    clock_watts += classes.back().clock_watts;
  }
}

}  // namespace tessera::energy
