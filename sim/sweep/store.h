#pragma once

#include <optional>
#include <string>

#include "sim/config/json_text.h"

namespace tessera::sweep {

/// Status of a point.
///   done    the run's report
///   predicted  what the plan predicts of a run that there was not; under an id of its own
///   wrong   the report of a run whose check failed
///   failed  what the user's config or program made impossible; it would fail again
///   stuck   no progress; it would be again
///   defect  a broken invariant of ours
///   starved the host had not enough memory, threads, files or room; the next call tries again
///   died    its process was killed; the next call tries again
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

/// The results of points in a folder, a file each with its id and a checksum, which appear whole.
/// Several processes and hosts may share it.
class Store {
 public:
  /// In a sweep's folder `out`.
  explicit Store(const std::string& out) : out_(out), folder_(out + "/points") {}

  /// Creates the folder. Throws UserError.
  void open() const;
  /// Nothing if there is none that is whole, of this point, and final. This and the next two throw
  /// UserError where something else than a file has its name.
  [[nodiscard]] std::optional<Result> find(const std::string& id) const;
  /// Also one that is to be tried again.
  [[nodiscard]] std::optional<Result> find_any(const std::string& id) const;
  /// Why the point's file cannot be used, naming it; empty if it can be, or there is none.
  [[nodiscard]] std::string damage(const std::string& id) const;
  /// Throws UserError or HostLimit.
  void put(const std::string& id, const Result& result) const;
  /// Removes temporary files that killed processes left, of tables too.
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
