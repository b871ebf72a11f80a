#pragma once

#include <span>
#include <string>

#include "sim/plot/rows.h"

/// Labels and units of a report's numbers on an axis: at a key path, or arithmetic over key paths.
namespace tessera::plot {

struct Quantity {
  std::string label;  ///< "useful rate"
  std::string unit;   ///< "TFLOP/s", with the prefix; may be empty
  double scale = 1;   ///< factor from the value to the drawn number

  [[nodiscard]] std::string title() const;  ///< "useful rate (TFLOP/s)"
};

/// Unit of a number; `prefixed`: takes the prefixes k, M, G, T.
struct Unit {
  std::string text;
  bool prefixed = false;
};

/// Unit of the value at a key path; empty if it has none.
Unit unit_of(const std::string& path);

/// Label, unit and decimal prefix of a quantity with values up to `largest`.
Quantity quantity_of(const std::string& path, double largest);

/// True if more is better, as for rates; false for time and bytes.
bool more_is_better(const std::string& path);

/// True if a machine's key is a resource that work is spread over, so that doubling it could halve
/// the time: tiles, clocks, contexts, bytes per cycle; not latencies and capacities.
bool is_resource(const std::string& path);

/// True if the values' steps are nearer to equal factors than to equal differences.
bool is_geometric(std::span<const double> values);

/// How a part of a whole (time, energy, context cycles) is drawn.
struct PartLook {
  std::string name;    ///< "waiting for loads"
  std::string colour;  ///< as on the HTML page (tools/viewer); empty: any
};

/// The look of the number at a key path, "time.sync_cycles" or "stalls.load".
PartLook look_of_part(const std::string& path);

// Derived quantities: arithmetic over key paths, such as "time.cycles / workload.n".
/// True if a text is arithmetic rather than a key path.
bool is_derived(const std::string& text);

/// Stores the expression's value in each row, with the text as its path; rows that lack one of its
/// paths get none. Throws UserError for a malformed text and for paths that no row has.
void derive(Rows& rows, const std::string& text, const std::string& option);

/// "time / n": each path by its label.
std::string label_of_derived(const std::string& text);
/// Unit of a derived number: cycles / n has cycles, bytes / seconds B/s, a sum that of its terms.
Unit unit_of_derived(const std::string& text);
/// True if more is better: a rate in the numerator or a time in the denominator.
bool derived_more_is_better(const std::string& text);

}  // namespace tessera::plot
