#pragma once

#include <span>
#include <string_view>

/// The config files inside the program (cmake/presets.cmake writes them).
namespace tessera::config {

struct Preset {
  std::string_view name;  ///< "bow"
  std::string_view text;  ///< JSON with comments
};
using Presets = std::span<const Preset>;

Presets machine_presets();     ///< configs/machines
Presets validation_presets();  ///< configs/validation

}  // namespace tessera::config
