#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "call.h"
#include "mutations.h"

namespace tessera::fuzz {

/// Sources from which inputs are made.
struct Seeds {
  std::vector<Json> configs;                 ///< complete ones, of small runs
  Json small;                                ///< one that runs in a moment
  std::map<std::string, Json> kernels;       ///< "fuzz" of kernels/NAME/points.json by kernel
  std::vector<std::string> programs;         ///< ELF files
  std::map<std::string, std::string> run;    ///< files of a folder of results, by name
  std::map<std::string, std::string> sweep;  ///< files of a sweep's folder
};

/// Values that kernels state for one kind of inputs, by kernel.
std::map<std::string, Json> stated(const Seeds& seeds, const std::string& kind);

/// Makes an input; equal choices make equal inputs. `only`: config, matrix, program, sweep, eval,
/// results or run; empty: of any kind. Throws std::runtime_error if there is none of that name.
Input make_input(const Seeds& seeds, Choices& choices, std::string_view only);

}  // namespace tessera::fuzz
