#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sim/base/errors.h"
#include "sim/config/config.h"
#include "sim/sweep/point_ids.h"
#include "sim/sweep/spec.h"

namespace tessera::sweep {

struct Point {
  std::size_t index;                 ///< among all points of the sweep, from 0
  std::size_t part;                  ///< index of its part in the section `sweep`
  std::vector<config::Json> values;  ///< one per path of the part
  std::string id;
  std::string config;  ///< config::config_hash, independent of the program
};

/// Identity of these points: the SHA-256 of their ids, 64 hexadecimal digits.
std::string identity_of(std::span<const Point> points);

/// A config and its axes.
class Sweep {
 public:
  /// Reads the file ("-": standard input) with its section `sweep`, `sets` (as in `tessera run`)
  /// and the axes of the command line. Throws UserError.
  Sweep(const std::string& file, std::span<const std::string> arguments,
        std::span<const std::string> sets, const Catalogue& catalogue, config::Presets machines);

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Key paths that vary in any part.
  [[nodiscard]] const std::vector<std::string>& axes() const { return axes_; }
  /// True if `path` is an axis of every part, so that no other value of it applies.
  [[nodiscard]] bool always_varies(const std::string& path) const;
  /// The axes of the point's part with the point's values.
  [[nodiscard]] config::Json axes_of(const Point& point) const;
  /// The point's name for people: "machine.tiles=64 workload.n=16".
  [[nodiscard]] std::string name_of(const Point& point) const;
  /// Receives the number of combinations done, and of all.
  using Looked = std::function<void(std::size_t done, std::size_t all)>;
  /// Receives the reason why a point's config cannot be read; the message names the point.
  using Refused = std::function<void(const UserError& why)>;
  /// All points with readable configs. Passes the errors of others to `refused`, or throws them
  /// without it. Throws UserError if no point meets the conditions.
  [[nodiscard]] std::vector<Point> points(PointIds& ids, const Looked& looked = {},
                                          const Refused& refused = {}) const;
  [[nodiscard]] config::Config config(const Point& point) const;

 private:
  struct Part {
    Spec spec;
    std::vector<std::string> paths, origins;
  };
  using Values = std::vector<config::Json>;

  void extend_base();
  [[nodiscard]] config::Layers layers(const Part& part, const Values& values) const;
  [[nodiscard]] bool is_point(const Part& part, const Values& values, PointIds& ids,
                              Point& point) const;

  std::string name_;
  config::Layers base_;
  std::vector<Part> parts_;
  std::vector<std::string> axes_;
  const Catalogue& catalogue_;
  config::Presets machines_;
};

}  // namespace tessera::sweep
