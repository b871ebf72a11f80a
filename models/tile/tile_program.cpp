#include "models/tile/tile_program.h"

#include <cstring>

#include <fmt/format.h>

#include "sim/engine/profile.h"
#include "sim/isa/disassemble.h"

namespace tessera {

TileProgram::TileProgram(std::shared_ptr<const program::CodeImage> image, const TileConfig& tile,
                         engine::CodeCounts counts)
    : image_(std::move(image)),
      supervisor_(engine::predecode(image_->bytes, engine::Role::supervisor, tile, counts)),
      worker_(engine::predecode(image_->bytes, engine::Role::worker, tile, counts)),
      steps_(image_->bytes.size() / kWord) {
  for (std::uint32_t i = 0; i < steps_.size(); ++i) steps_[i] = image_->step_of(i * kWord);
}

std::string TileProgram::name_of(std::uint32_t pc) const {
  const auto& symbols = image_->symbols;
  const bool named = !symbols.empty() && pc >= symbols.front().first.count();
  return named ? std::string(image_->symbol_of(pc)) : fmt::format("{:#x}", pc);
}

std::string TileProgram::where(std::uint32_t pc) const {
  const std::string name = name_of(pc);
  const std::string number = fmt::format("{:#x}", pc);
  return name == number ? number : fmt::format("{} ({})", number, name);
}

std::optional<std::uint32_t> TileProgram::word_at(std::uint32_t pc) const {
  std::uint32_t word = 0;
  if (pc % sizeof word != 0 || std::uint64_t{pc} + sizeof word > image_->bytes.size())
    return std::nullopt;
  std::memcpy(&word, image_->bytes.data() + pc, sizeof word);
  return word;
}

std::string TileProgram::instruction(std::uint32_t pc) const {
  const std::optional<std::uint32_t> word = word_at(pc);
  return word ? isa::disassemble(*word, pc) : "outside the code";
}

std::vector<report::ProfiledFunction> TileProgram::profile() const {
  std::vector<isa::Label> labels;
  for (const auto& [address, name] : image_->symbols) labels.push_back({address.count(), name});
  return report::profiled_functions(engine::profile(*worker_), labels,
                                    [this](std::uint32_t pc) { return word_at(pc); });
}

}  // namespace tessera
