#pragma once

#include <span>
#include <string>

#include "sim/plot/rows.h"

/// How numbers of a report stand on an axis: those at a key path, or arithmetic over key paths.
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

/// How a part of a whole is drawn: of time, of energy, of what contexts did.
struct PartLook {
  std::string name;    ///< "waiting for loads"
  std::string colour;  ///< that of the HTML page (tools/viewer); empty: any
};

/// Look of the number at a key path, "time.sync_cycles" or "stalls.load".
PartLook look_of_part(const std::string& path);

// Quantities that are arithmetic over key paths, such as "time.cycles / workload.n".
/// True if a text is arithmetic rather than a key path.
bool is_derived(const std::string& text);

/// Gives each row, under the text as a path, the number that it is there; rows that lack one of
/// its paths get none. Throws UserError for a wrong text and for paths that no row has.
void derive(Rows& rows, const std::string& text, const std::string& option);

/// "time / n": each path by its label.
std::string label_of_derived(const std::string& text);
/// Unit of a derived number: cycles / n has cycles, bytes / seconds B/s, a sum that of its parts.
Unit unit_of_derived(const std::string& text);
/// True if more is better, as of a rate above or a time below the line.
bool derived_more_is_better(const std::string& text);

}  // namespace tessera::plot
