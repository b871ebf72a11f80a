#pragma once

#include <span>
#include <string>

#include "sim/plot/rows.h"

namespace tessera::plot {

/// Keeps the best run, by `y`, of those that differ only in the axes `over`: the largest or
/// smallest, as `more_is_better` says, the first of equals. Drops runs without `y`. Values at
/// `over` can still be read, but tell runs apart no longer. Throws UserError for a path that is no
/// axis.
Rows best_over(const Rows& rows, std::span<const std::string> over, const std::string& y);

}  // namespace tessera::plot
