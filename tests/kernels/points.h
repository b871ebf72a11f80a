#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/config/json_text.h"
#include "sim/program/catalogue.h"
#include "tests/folder.h"

/// Test points of every kernel, read from kernels/NAME/points.json: small configs with their
/// expected results. kernels/README.md describes the file.
namespace tessera::test {

/// A shipped config and the keys set over it.
struct Point {
  std::string kernel;
  std::string config;             ///< its name in configs/runs
  std::vector<std::string> sets;  ///< path=value, in the order of the file
  config::Json facts;             ///< all other keys of the point, see kFacts

  /// The sets as command-line options, quoted for a shell: " --set 'a=1' ...".
  [[nodiscard]] std::string options() const;
  /// The path of the config, followed by options().
  [[nodiscard]] std::string arguments() const;
  /// The `workload` section of a config: the kernel and the keys set for it.
  [[nodiscard]] config::Json workload() const;
  /// The kernel options read from workload().
  [[nodiscard]] std::unique_ptr<KernelOptions> options_read() const;
  /// A config of this workload on `tiles` tiles of a machine.
  [[nodiscard]] std::string config_on(const std::string& machine, unsigned tiles) const;
  /// A one-line description for messages.
  [[nodiscard]] std::string describe() const;
};

/// The points of one list, for example "runs", of all kernels that have it.
std::vector<Point> points(const std::string& list);

/// A copy of a point with other keys set, or other facts such as `tiles` or `sram_kib`.
Point with(Point point, const config::Json& keys);

/// Writes the `files` of a point: texts, JSON, or IDX and .npy files of a given shape (bytes that
/// count up to a modulus, a constant f32, or zeros of a type).
void write_files(const Folder& folder, const Point& point);

/// All combinations of the values of a point's `each`: values of a key, or objects of several keys.
/// With `pairs` only a third of them, which contains every pair of values of two keys if each key
/// has at least three values.
std::vector<Point> combinations(const Point& stated);

/// The smallest point of each kernel, except for kernels that need one class of machines. Its sets
/// are valid on top of any config of the kernel.
std::vector<Point> small_points();

}  // namespace tessera::test
