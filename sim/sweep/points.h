#pragma once

#include <string>
#include <vector>

#include "sim/config/config.h"
#include "sim/sweep/point_ids.h"
#include "sim/sweep/spec.h"

namespace tessera::sweep {

struct Point {
  std::size_t index;                 ///< among all points of the sweep, from 0
  std::vector<config::Json> values;  ///< one an axis
  std::string id;
};

/// A config and what is varied of it.
class Sweep {
 public:
  /// Reads the file ("-": standard input) with its section `sweep`, `sets` (as of `tessera run`)
  /// and axes of the command line. Throws UserError.
  Sweep(const std::string& file, std::span<const std::string> arguments,
        std::span<const std::string> sets, const Catalogue& catalogue, config::Presets machines);

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Key paths of what varies, in the order of Point::values.
  [[nodiscard]] const std::vector<std::string>& axes() const { return axes_; }
  /// All points, each with a config that can be read. Throws UserError, naming the point, for one
  /// that cannot.
  [[nodiscard]] std::vector<Point> points(PointIds& ids) const;
  [[nodiscard]] config::Config config(const Point& point) const;

 private:
  [[nodiscard]] config::Layers layers(const std::vector<config::Json>& values) const;
  [[nodiscard]] bool wanted(const config::Json& config) const;
  [[nodiscard]] bool excluded_unread(const config::Layers& layers) const;
  [[nodiscard]] std::string described(const std::vector<config::Json>& values) const;

  std::string name_;
  config::Layers base_;
  Spec spec_;
  std::vector<std::string> axes_;
  std::vector<std::string> origins_;  ///< of the axes, for messages
  const Catalogue& catalogue_;
  config::Presets machines_;
};

}  // namespace tessera::sweep
