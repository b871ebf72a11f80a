#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

/// Joules and mm2 of a run; computed by models/energy if the machine has an energy table.
struct EnergyResult {
  using Parts = std::vector<std::pair<std::string, double>>;  ///< in report order

  std::string node;
  double volts = 0;  ///< at the machine's clock; 0: the table has no voltages
  Parts joules;      ///< by part of the machine
  std::vector<std::pair<std::string, std::uint64_t>> work;  ///< counted events
  std::vector<double> tile_joules;  ///< per tile, including its share of host, leakage and clock
  Parts mm2;

  [[nodiscard]] double total_joules() const { return total(joules); }
  [[nodiscard]] double total_mm2() const { return total(mm2); }

 private:
  static double total(const Parts& parts) {
    double sum = 0;
    for (const auto& [name, value] : parts) sum += value;
    return sum;
  }
};

}  // namespace tessera
