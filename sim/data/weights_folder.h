#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "sim/program/program.h"

namespace tessera::data {

/// A folder of .npy files with a network's initial weights.
class WeightsFolder {
 public:
  /// Errors name the folder by `key`; names of weight files begin with `prefix`.
  WeightsFolder(std::filesystem::path folder, std::string prefix, std::string key)
      : folder_(std::move(folder)), prefix_(std::move(prefix)), key_(std::move(key)) {}

  /// The real numbers of `name`.npy as f32. Throws KeyError for another shape or complex numbers,
  /// UserError for a missing file and values that are not finite in `type`.
  std::vector<float> read(const std::string& name, const std::vector<std::uint64_t>& shape,
                          program::Type type);
  /// Call after all reads: throws KeyError if the folder holds weight files that nothing read.
  void require_all_read() const;

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / (name + ".npy")).string();
  }

 private:
  std::filesystem::path folder_;
  std::string prefix_, key_;
  std::set<std::string> read_;
};

}  // namespace tessera::data
