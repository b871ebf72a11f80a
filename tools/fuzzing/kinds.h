#pragma once

#include <string>
#include <vector>

#include "sim/data/numpy_file.h"

#include "inputs.h"

/// The kinds of inputs: a function each, listed in inputs.cpp.
namespace tessera::fuzz {

std::string text_of(const Json& json);
/// To plan a.json, or to run it for a while.
std::vector<std::string> simulate(Choices& choices);

/// Matrices of files, most of them spoilt.
Input matrix_input(const Seeds& seeds, Choices& choices);
/// Products with matrices whose rows are alike, which should be right.
Input structure_input(const Seeds& seeds, Choices& choices);
/// Stores of runs and sweeps with a file spoilt, of other types, or no regular file.
Input results_input(const Seeds& seeds, Choices& choices);
/// Output that goes nowhere or to what is no file; texts that terminals obey.
Input host_input(const Seeds& seeds, Choices& choices);
/// Runs that should give right results, at whatever plan they get.
Input small_input(const Seeds& seeds, Choices& choices);
/// Makes a config whose plan is pinned afterwards: the second run takes the same cycles.
Input plan_input(const Seeds& seeds, Choices& choices);
/// Trainings with high rates, few samples, images that are not scaled: right or diverged.
Input training_input(const Seeds& seeds, Choices& choices);
/// Problems and networks beyond 32 bits and beyond every machine.
Input large_input(const Seeds& seeds, Choices& choices);
/// Small problems on machines of up to 10^5 tiles, searched over and moved.
Input machine_input(const Seeds& seeds, Choices& choices);
/// Networks in NIR form: numbers at their extremes, bytes changed.
Input nir_input(const Seeds& seeds, Choices& choices);

}  // namespace tessera::fuzz
