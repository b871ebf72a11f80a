#pragma once

#include <span>
#include <string>

#include "sim/plot/rows.h"

namespace tessera::plot {

/// Of runs that differ only in the axes `over`, the one of which `y` is best: largest or smallest,
/// as `more_is_better` says, the first of equals. Runs without `y` are none. What stands at `over`
/// can still be read, but tells runs apart no longer. Throws UserError for what is no axis.
Rows best_over(const Rows& rows, std::span<const std::string> over, const std::string& y);

}  // namespace tessera::plot
