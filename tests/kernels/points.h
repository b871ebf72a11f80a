#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/config/json_text.h"
#include "sim/program/catalogue.h"
#include "tests/folder.h"

/// Every kernel's points for tests, in kernels/NAME/points.json: small configs of itself and their
/// expected results. kernels/README.md describes the file.
namespace tessera::test {

/// A shipped config and what is set over it.
struct Point {
  std::string kernel;
  std::string config;             ///< its name in configs/runs
  std::vector<std::string> sets;  ///< path=value, in the order of the file
  config::Json facts;             ///< all else that is stated, see kFacts

  /// The sets as options of a command, quoted for a shell: " --set 'a=1' ...".
  [[nodiscard]] std::string options() const;
  /// The config's file and the options.
  [[nodiscard]] std::string arguments() const;
  /// The kernel and the workload's own keys as a section of a config.
  [[nodiscard]] config::Json workload() const;
  /// The options that this section comes to.
  [[nodiscard]] std::unique_ptr<KernelOptions> options_read() const;
  /// That workload on so many tiles of a machine.
  [[nodiscard]] std::string config_on(const std::string& machine, unsigned tiles) const;
  /// One line for messages.
  [[nodiscard]] std::string describe() const;
};

/// The points of one list, "runs" for example, of every kernel that has it.
std::vector<Point> points(const std::string& list);

/// A point with keys set over it, or other numbers of `tiles` or `sram_kib`.
Point with(Point point, const config::Json& keys);

/// Writes the `files` of a point: texts, JSON, or numbers of a shape as IDX or .npy (bytes that
/// count up to a modulus, one f32 throughout, or zeros of a type).
void write_files(const Folder& folder, const Point& point);

/// A point in every combination of the values of its `each`: of a key, or objects of several keys.
/// With `pairs` a third of them, in which every two values of two keys meet if each key has three
/// values or more.
std::vector<Point> combinations(const Point& stated);

/// The smallest point of each kernel, without kernels that are bound to one class of machines. Its
/// sets are valid over any config of the kernel.
std::vector<Point> small_points();

}  // namespace tessera::test
