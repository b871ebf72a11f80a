#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/config/json_text.h"
#include "sim/sweep/expression.h"

namespace tessera::sweep {

/// Key paths that vary together; one row a combination of their values.
struct Group {
  std::vector<std::string> paths;
  std::vector<std::vector<config::Json>> rows;
  std::string origin;  ///< where it was written, for messages
};

/// A part of a sweep: every combination of the groups' rows, the last group fastest, of which the
/// conditions hold.
struct Spec {
  std::vector<Group> groups;
  std::vector<Expression> where;

  /// All groups' paths, and of each where it was written.
  [[nodiscard]] std::vector<std::string> paths() const;
  [[nodiscard]] std::vector<std::string> origins() const;
};

/// Reads the section `sweep` of a config (an object, or a list of them, a part each; null: none),
/// which came from `origin`, and the axes of the command line ("path=values"): such an axis
/// replaces one of grid with its path in each part that has it; all parts get one that none has.
/// Throws UserError.
std::vector<Spec> read_specs(const config::Json& section, const std::string& origin,
                             std::span<const std::string> arguments);

/// How many combinations of rows there are. Throws UserError above a million.
std::size_t combinations(const Spec& spec);

}  // namespace tessera::sweep
