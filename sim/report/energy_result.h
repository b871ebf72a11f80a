#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

/// Joules and mm2 of a run, made by models/energy from a machine that has a table of them.
struct EnergyResult {
  using Parts = std::vector<std::pair<std::string, double>>;  ///< in the order of the report

  std::string node;
  double volts = 0;  ///< at the machine's clock; 0: the machine's table does not say
  Parts joules;      ///< by part of the machine
  std::vector<std::pair<std::string, std::uint64_t>> work;  ///< counts of the work
  std::vector<double> tile_joules;  ///< each with its share of host, leakage and clock
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
