#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/sensitivity/moves.h"

/// How time, energy and area of a run answer to its machine.
namespace tessera::sensitivity {

enum class Metric : std::uint8_t { time, energy, area };
constexpr std::array<Metric, 3> kMetrics = {Metric::time, Metric::energy, Metric::area};
std::string_view name_of(Metric metric);
/// The answer's number; none: not known, or there is no answer.
std::optional<double> value_of(const Answer& answer, Metric metric);

struct Result {               // NOLINT(bugprone-exception-escape): json says that its null is safe
  std::string heading;        ///< workload and machine: "gemm on bow: ..."
  nlohmann::ordered_json of;  ///< identity of the config
  double by = 2;
  bool simulated = false;
  Answer base;
  std::vector<Key> keys;  ///< sort() puts the strongest first
};

/// d log metric / d log key: over both ends, or from the config's value to the only one. None of
/// area where no model has the key's.
std::optional<double> slope(const Result& result, const Key& key, Metric metric);
/// True if any metric, or the presence of an answer, differs at one of the ends.
bool acts(const Result& result, const Key& key);
/// True if the run has another plan at that end.
bool replanned(const Result& result, const End& end);

/// The keys that act first, those that time answers to most before others, then energy, then area.
void sort(Result& result);

/// For the terminal: a line a key that acts, then those that do not, those that cannot be moved.
std::string table(const Result& result);
/// A row a key, in their order. What there is not is empty.
std::string csv(const Result& result);
nlohmann::ordered_json to_json(const Result& result);

/// True if `tessera sensitivity` wrote into the folder.
bool is_stored(const std::string& folder);
/// Reads its file there, as to_json() gives it. Throws UserError naming the file for any other
/// content.
nlohmann::ordered_json read(const std::string& folder);

}  // namespace tessera::sensitivity
