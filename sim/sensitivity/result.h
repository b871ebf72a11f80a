#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/sensitivity/moves.h"

/// Sensitivity of a run's time, energy and area to the numbers of its machine.
namespace tessera::sensitivity {

enum class Metric : std::uint8_t { time, energy, area };
constexpr std::array<Metric, 3> kMetrics = {Metric::time, Metric::energy, Metric::area};
std::string_view name_of(Metric metric);
/// The answer's value; none if unknown or if there is no answer.
std::optional<double> value_of(const Answer& answer, Metric metric);

struct Result {               // NOLINT(bugprone-exception-escape): json says that its null is safe
  std::string heading;        ///< workload and machine: "gemm on bow: ..."
  nlohmann::ordered_json of;  ///< identity of the config
  double by = 2;
  bool simulated = false;
  Answer base;
  std::vector<Key> keys;  ///< sort() puts the strongest first
};

/// d log metric / d log key: over both ends, or from the config's value to the only end. None for
/// area if the key's area is not modelled.
std::optional<double> slope(const Result& result, const Key& key, Metric metric);
/// True if any metric differs at one of the ends, or that end has no answer.
bool acts(const Result& result, const Key& key);
/// True if the run's plan differs at that end.
bool replanned(const Result& result, const End& end);

/// Sorts keys that act first: by time slope, then energy, then area.
void sort(Result& result);

/// For the terminal: one line per key that acts, then the keys that do not, then the fixed keys.
std::string table(const Result& result);
/// One row per key, in order. Missing values are empty.
std::string csv(const Result& result);
nlohmann::ordered_json to_json(const Result& result);

/// True if the folder holds a file of `tessera sensitivity`.
bool is_stored(const std::string& folder);
/// Reads that file, in the form of to_json(). Throws UserError naming the file for other content.
nlohmann::ordered_json read(const std::string& folder);

}  // namespace tessera::sensitivity
