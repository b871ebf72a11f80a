#pragma once

#include <optional>
#include <string>

#include "sim/config/json_text.h"

namespace tessera::sweep {

/// Status of a point:
///   done      the run's report
///   predicted the plan's prediction, without a run; stored under an id of its own
///   wrong     the report of a run whose check failed
///   failed    the user's config or program is impossible; permanent
///   stuck     no progress; permanent
///   defect    a broken invariant of ours
///   starved   the host lacked memory, threads, files or disk space; the next call retries
///   died      its process was killed; the next call retries
struct Result {
  std::string status;
  std::string error;  ///< empty if done
  config::Json seed;
  config::Json report;  ///< null if there is none
};

config::Json to_json(const Result& result);
Result from_json(const config::Json& json);

/// True if a point of this status has a row of numbers.
inline bool has_numbers(const config::Json& status) {
  return status == "done" || status == "predicted";
}

/// The results of points in a folder, one file each with id and checksum, written atomically.
/// Several processes and hosts may share it.
class Store {
 public:
  /// The store of the sweep in folder `out`.
  explicit Store(const std::string& out) : out_(out), folder_(out + "/points") {}

  /// Creates the folder. Throws UserError.
  void open() const;
  /// The point's final result; nullopt if it is missing or damaged. This and the next two throw
  /// UserError if something other than a file has the file's name.
  [[nodiscard]] std::optional<Result> find(const std::string& id) const;
  /// Also returns results that are to be retried.
  [[nodiscard]] std::optional<Result> find_any(const std::string& id) const;
  /// Why the point's file cannot be used, naming it; empty if it is usable or missing.
  [[nodiscard]] std::string damage(const std::string& id) const;
  /// Throws UserError or HostLimit.
  void put(const std::string& id, const Result& result) const;
  /// Removes temporary files of killed processes, including those of tables.
  void remove_leftovers() const;

 private:
  struct Stored {
    std::optional<Result> result;
    std::string damage;
  };

  [[nodiscard]] std::string file_of(const std::string& id) const;
  [[nodiscard]] Stored read(const std::string& id) const;

  std::string out_;
  std::string folder_;
};

}  // namespace tessera::sweep
