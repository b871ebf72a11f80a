#pragma once

#include <span>
#include <string>

/// How numbers of a report stand on an axis: those at a key path, or arithmetic over key paths
/// (`derived.h`).
namespace tessera::plot {

struct Quantity {
  std::string label;  ///< "useful rate"
  std::string unit;   ///< "TFLOP/s", with its prefix; may be empty
  double scale = 1;   ///< factor from the value to the drawn number

  [[nodiscard]] std::string title() const;  ///< "useful rate (TFLOP/s)"
};

/// Unit of a number; `prefixed`: k, M, G, T stand before it.
struct Unit {
  std::string text;
  bool prefixed = false;
};

/// Unit of the value at a key path; empty if it has none.
Unit unit_of(const std::string& path);

/// Name, unit and decimal prefix of a quantity that is drawn up to `largest`.
Quantity quantity_of(const std::string& path, double largest);

/// True if more of it is better, as of rates; of time and bytes it is not.
bool more_is_better(const std::string& path);

/// True if a key of a machine counts what work can be spread over, so that twice as much could
/// halve the time: tiles, clocks, contexts, bytes a cycle; not latencies and capacities.
bool is_resource(const std::string& path);

/// True if values step by about equal factors rather than by equal differences.
bool is_geometric(std::span<const double> values);

}  // namespace tessera::plot
