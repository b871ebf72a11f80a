#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/config/json_text.h"

namespace tessera::sweep {

/// A run whose results are still in its folder: `kept.json` there holds the run's id (point_ids.h),
/// the section `report`, which determines the files, and the SHA-256 of each file. Ignores other
/// files in the folder.
class KeptRun {
 public:
  /// `report`: that section of the resolved config.
  KeptRun(std::string folder, std::string id, config::Json report)
      : folder_(std::move(folder)), id_(std::move(id)), section_(std::move(report)) {}

  /// report.json, if the folder holds a run of this id with unchanged files.
  [[nodiscard]] std::optional<config::Json> find() const;
  /// Records a run of this id with the files it wrote. Throws UserError or HostLimit.
  void keep(const std::vector<std::string>& files) const;
  /// Removes the record of a run in `folder`.
  static void forget(const std::string& folder);

 private:
  [[nodiscard]] std::string at(const std::string& file) const { return folder_ + "/" + file; }

  std::string folder_;
  std::string id_;
  config::Json section_;
};

}  // namespace tessera::sweep
