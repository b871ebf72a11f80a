#pragma once

#include <span>
#include <string_view>
#include <vector>

/// The config files inside the program (tools/cmake/embed.cmake puts them there).
namespace tessera::config {

struct Preset {
  std::string_view name;  ///< "bow"
  std::string_view text;  ///< JSON with comments
};
using Presets = std::span<const Preset>;

std::vector<Preset> machine_presets();     ///< configs/machines, by name
std::vector<Preset> validation_presets();  ///< configs/validation, by name
std::vector<Preset> paper_presets();       ///< configs/papers, by name

}  // namespace tessera::config
