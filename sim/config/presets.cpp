#include "sim/config/presets.h"

#include "sim/base/embedded.h"

namespace tessera::config {
namespace {

std::vector<Preset> presets_below(std::string_view folder) {
  constexpr std::string_view kEnding = ".json";
  std::vector<Preset> presets;
  for (const auto& [path, bytes] : embedded::files(folder)) {
    const std::string_view file = path.substr(folder.size());
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    presets.push_back({file.substr(0, file.size() - kEnding.size()), text});
  }
  return presets;
}

}  // namespace

std::vector<Preset> machine_presets() { return presets_below("configs/machines/"); }

std::vector<Preset> validation_presets() { return presets_below("configs/validation/"); }

std::vector<Preset> paper_presets() { return presets_below("configs/papers/"); }

std::vector<Preset> network_presets() { return presets_below("configs/networks/"); }

}  // namespace tessera::config
