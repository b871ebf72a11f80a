#pragma once

#include <string>

#include "sim/program/image.h"

namespace tessera::program {

/// The code of one image as assembly text, one instruction a line with its address and word; each
/// symbol and each step of the control code is headed by its name.
std::string list_code(const CodeImage& image, const std::vector<StepInfo>& steps);

}  // namespace tessera::program
