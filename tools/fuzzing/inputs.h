#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "call.h"
#include "mutations.h"

namespace tessera::fuzz {

/// The material that inputs are made from.
struct Seeds {
  std::vector<Json> configs;                 ///< complete configs of small runs
  Json small;                                ///< a config that runs in a moment
  std::map<std::string, Json> kernels;       ///< "fuzz" of kernels/NAME/points.json, by kernel
  std::vector<std::string> programs;         ///< ELF files
  std::map<std::string, std::string> run;    ///< files of a run's folder, by name
  std::map<std::string, std::string> sweep;  ///< files of a sweep's folder
};

/// Values that kernels declare for one kind of input, by kernel.
std::map<std::string, Json> stated(const Seeds& seeds, const std::string& kind);

/// Makes an input; equal choices make equal inputs. `only`: a kind listed in inputs.cpp, such as
/// config, matrix or run; empty: any kind. Throws std::runtime_error for an unknown kind.
Input make_input(const Seeds& seeds, Choices& choices, std::string_view only);

}  // namespace tessera::fuzz
