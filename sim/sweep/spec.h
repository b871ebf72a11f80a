#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/config/json_text.h"
#include "sim/sweep/expression.h"

namespace tessera::sweep {

/// Key paths that vary together; each row is one combination of their values.
struct Group {
  std::vector<std::string> paths;
  std::vector<std::vector<config::Json>> rows;
  std::string origin;  ///< where it was given, for messages
};

/// A part of a sweep: all combinations of the groups' rows, the last group fastest, that meet the
/// conditions.
struct Spec {
  std::vector<Group> groups;
  std::vector<Expression> where;

  /// All groups' paths, and the origin of each.
  [[nodiscard]] std::vector<std::string> paths() const;
  [[nodiscard]] std::vector<std::string> origins() const;
};

/// Reads the section `sweep` of a config, which came from `origin` (an object, or a list with an
/// object per part; null: none), and axes of the command line ("path=values"). Such an axis
/// replaces the grid axis of its path in each part that has one; if none has, all parts get it.
/// Throws UserError.
std::vector<Spec> read_specs(const config::Json& section, const std::string& origin,
                             std::span<const std::string> arguments);

/// Number of combinations of rows. Throws UserError above a million.
std::size_t combinations(const Spec& spec);

}  // namespace tessera::sweep
