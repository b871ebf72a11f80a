#pragma once

#include <cstddef>
#include <string>

namespace tessera::command {

/// So many points are simulated without a question.
inline constexpr std::size_t kMostUnasked = 1000;

/// Where more points than that are to be simulated: asks the terminal whether to. Throws UserError
/// if the answer is not yes or there is no terminal.
void require_yes(const std::string& name, std::size_t points);

}  // namespace tessera::command
