#pragma once

#include <string>
#include <vector>

#include "sim/data/numpy_file.h"

#include "inputs.h"

/// The kinds of inputs: one function each, listed in inputs.cpp.
namespace tessera::fuzz {

std::string text_of(const Json& json);
/// Arguments that plan a.json, or run it for a while.
std::vector<std::string> simulate(Choices& choices);

/// Matrix files, most of them damaged.
Input matrix_input(const Seeds& seeds, Choices& choices);
/// Products of matrices with equal rows; results should be right.
Input structure_input(const Seeds& seeds, Choices& choices);
/// Stores of runs and sweeps with one damaged file: bytes, types, or not a regular file.
Input results_input(const Seeds& seeds, Choices& choices);
/// Output to nowhere or to special files; texts with terminal escapes.
Input host_input(const Seeds& seeds, Choices& choices);
/// Runs that should give right results with whatever plan they get.
Input small_input(const Seeds& seeds, Choices& choices);
/// A config whose printed plan is pinned in a second run, which must take the same cycles.
Input plan_input(const Seeds& seeds, Choices& choices);
/// Trainings with high rates, few samples, unscaled images: right or diverged.
Input training_input(const Seeds& seeds, Choices& choices);
/// Problems and networks beyond 32 bits and beyond every machine.
Input large_input(const Seeds& seeds, Choices& choices);
/// Small problems on machines of up to 10^5 tiles, for --fit and sensitivity.
Input machine_input(const Seeds& seeds, Choices& choices);
/// Networks in NIR form: extreme numbers, changed bytes.
Input nir_input(const Seeds& seeds, Choices& choices);

}  // namespace tessera::fuzz
