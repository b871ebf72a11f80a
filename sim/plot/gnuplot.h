#pragma once

#include <span>
#include <string>

#include "sim/plot/figure.h"

namespace tessera::plot {

/// Throws UserError, with the command that installs it, if gnuplot is missing.
void require_gnuplot();

/// The whole script of a figure: run alone in its folder it draws NAME.svg, or another format.
std::string script_of(const Figure& figure, const std::string& name);

/// Writes NAME.csv and NAME.gp into the folder and draws NAME.FORMAT for each of svg, pdf, png.
/// Throws UserError with gnuplot's message.
void draw(const Figure& figure, const std::string& folder, const std::string& name,
          std::span<const std::string> formats);

}  // namespace tessera::plot
