#pragma once

#include <span>
#include <string_view>
#include <vector>

/// The config files embedded in the program by tools/cmake/embed.cmake.
namespace tessera::config {

struct Preset {
  std::string_view name;  ///< "bow"
  std::string_view text;  ///< JSON with comments
};
using Presets = std::span<const Preset>;

std::vector<Preset> machine_presets();     ///< configs/machines, sorted by name
std::vector<Preset> validation_presets();  ///< configs/validation, sorted by name
std::vector<Preset> paper_presets();       ///< configs/papers, sorted by name
std::vector<Preset> network_presets();     ///< configs/networks, sorted by name

}  // namespace tessera::config
