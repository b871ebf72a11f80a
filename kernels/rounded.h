#pragma once

#include <initializer_list>
#include <utility>

#include <nlohmann/json.hpp>

namespace tessera::kernels {

/// Adds `rounded` to a workload's facts: of each file, by the key that names it, how many values
/// were not exact in the workload's type. Files without such values are left out.
inline void add_rounded(nlohmann::ordered_json& facts,
                        std::initializer_list<std::pair<const char*, std::uint64_t>> counts) {
  for (const auto& [key, count] : counts) {
    if (count > 0) facts["rounded"][key] = count;
  }
}

}  // namespace tessera::kernels
