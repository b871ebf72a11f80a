#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/config/json_text.h"

namespace tessera::sweep {

/// A run whose answer its folder has: `kept.json` there holds the run's id (point_ids.h), the
/// section `report`, which says what files there are, and the SHA-256 of each of them. Left out:
/// what lies in the folder beside them.
class KeptRun {
 public:
  /// `report`: that section of the resolved config.
  KeptRun(std::string folder, std::string id, config::Json report)
      : folder_(std::move(folder)), id_(std::move(id)), section_(std::move(report)) {}

  /// report.json, if the folder has a run of this id and none of its files was changed.
  [[nodiscard]] std::optional<config::Json> find() const;
  /// Records a run of this id, which wrote these files there. Throws UserError or HostLimit.
  void keep(const std::vector<std::string>& files) const;
  /// Forgets any run kept in `folder`.
  static void forget(const std::string& folder);

 private:
  [[nodiscard]] std::string at(const std::string& file) const { return folder_ + "/" + file; }

  std::string folder_;
  std::string id_;
  config::Json section_;
};

}  // namespace tessera::sweep
