#pragma once

#include <string>
#include <string_view>

#include "sim/command/plot.h"

namespace tessera::command {

/// The name of a figure's files, unless the user gives one: the kind and what is drawn, as words;
/// then digits of a digest where words do not say all, so that no two figures have one name.
std::string plot_name(const PlotRequest& request, std::string_view kind);

}  // namespace tessera::command
