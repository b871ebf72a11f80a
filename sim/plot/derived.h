#pragma once

#include <string>

#include "sim/plot/quantity.h"
#include "sim/plot/rows.h"

/// Quantities that are arithmetic over key paths, such as "time.cycles / workload.n".
namespace tessera::plot {

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
