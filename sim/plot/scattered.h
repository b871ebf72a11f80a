#pragma once

#include <cstddef>
#include <string>

#include "sim/plot/rows.h"

/// Decides if runs lie on a grid of their axes or were drawn at random.
namespace tessera::plot {

/// True if all values at the path are numbers.
bool is_numeric(const Rows& rows, const std::string& path);

/// How many different values stand at the path.
std::size_t distinct(const Rows& rows, const std::string& path);

/// True if a line along the axis of numbers with most values would jump about: most runs have a
/// place of their own on it, while another axis goes up and down.
bool is_scattered(const Rows& rows);

}  // namespace tessera::plot
