#pragma once

#include <string>

#include "sim/program/image.h"
#include "sim/program/program.h"

namespace tessera::program {

/// The code of one image as assembly text, one instruction per line with its address and word; each
/// symbol and each step of the control code begins with a line of its name.
std::string list_code(const CodeImage& image, const std::vector<StepInfo>& steps);

/// The contents and steps of one tile, as JSON Lines: the tile, its arrays, then its steps in
/// order. Steps of a loop follow the loop's line, numbered below it (2, 2.1, 2.2); those of a
/// While's test are 2.test.1, .... An argument of a call is a number, or array and offset as
/// "x+64".
std::string tile_listing(const Program& program, TileId tile);

}  // namespace tessera::program
