#pragma once

#include <optional>
#include <string>

#include "sim/config/json_text.h"

namespace tessera::sweep {

/// What became of a point.
///   done    the run's report
///   wrong   the report of a run whose check failed
///   failed  what the user's config or program made impossible; it would fail again
///   stuck   no progress; it would be again
///   defect  a broken invariant of ours
///   died    its process was killed; the next call tries again
struct Result {
  std::string status;
  std::string error;  ///< empty if done
  config::Json seed;
  config::Json report;  ///< null if there is none
};

config::Json to_json(const Result& result);

/// The results of points in a folder, a file each, which appear whole. Several processes and hosts
/// may share it.
class Store {
 public:
  /// In a sweep's folder `out`.
  explicit Store(const std::string& out) : out_(out), folder_(out + "/points") {}

  /// Creates the folder. Throws UserError.
  void open() const;
  /// Nothing if there is none that is whole and final.
  [[nodiscard]] std::optional<Result> find(const std::string& id) const;
  /// Also one that died.
  [[nodiscard]] std::optional<Result> find_any(const std::string& id) const;
  void put(const std::string& id, const Result& result) const;
  /// Removes temporary files that killed processes left, of tables too; only when no other process
  /// writes.
  void remove_leftovers() const;

 private:
  std::string out_;
  std::string folder_;
};

}  // namespace tessera::sweep
