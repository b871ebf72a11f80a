#include "models/tile/tile_program.h"

#include <cstring>

#include <fmt/format.h>

#include "sim/engine/profile.h"
#include "sim/isa/decode.h"
#include "sim/isa/disassemble.h"
#include "sim/isa/table.h"

namespace tessera {

TileProgram::TileProgram(std::shared_ptr<const program::CodeImage> image, const TileConfig& tile,
                         engine::CodeCounts counts, std::string kind)
    : image_(std::move(image)),
      kind_(std::move(kind)),
      supervisor_(engine::predecode(image_->bytes, engine::Role::supervisor, tile, counts)),
      worker_(engine::predecode(image_->bytes, engine::Role::worker, tile, counts)),
      steps_(image_->bytes.size() / kWord) {
  for (std::uint32_t i = 0; i < steps_.size(); ++i) steps_[i] = image_->step_of(i * kWord);
  decode_blocks(tile, counts);
}

/// Decodes the code for every block shape that a run.block in the image may use.
void TileProgram::decode_blocks(const TileConfig& tile, engine::CodeCounts counts) {
  constexpr const isa::InstructionInfo& kRun = isa::info(isa::Mnemonic::run_block);
  for (std::uint32_t pc = 0; pc < steps_.size() * kWord; pc += kWord) {
    const std::uint32_t word = word_at(pc).value_or(0);
    if ((word & kRun.mask) != kRun.match) continue;
    const auto number = static_cast<std::uint32_t>(isa::decode(word)->imm);
    if (in_blocks_.contains(number)) continue;
    TileConfig with_blocks = tile;
    MatrixUnitConfig& unit = with_blocks.matrix_unit;
    unit = unit.with_blocks(number);
    if (unit.f16.exists() || unit.f16_f32.exists() || unit.f32.exists())
      in_blocks_.emplace(
          number, engine::predecode(image_->bytes, engine::Role::worker, with_blocks, counts));
  }
}

const engine::Code* TileProgram::worker(std::uint32_t number) const {
  if (number == 0) return worker_.get();
  const auto found = in_blocks_.find(number);
  return found == in_blocks_.end() ? nullptr : found->second.get();
}

std::string TileProgram::name_of(TileId tile) const {
  return kind_.empty() ? fmt::format("tile {}", index(tile))
                       : fmt::format("tile {} ({})", index(tile), kind_);
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
  engine::Profile all = engine::profile(*worker_);
  for (const auto& [number, code] : in_blocks_)
    for (const auto& [pc, its] : engine::profile(*code)) all[pc] += its;
  return report::profiled_functions(all, labels, [this](std::uint32_t pc) { return word_at(pc); });
}

}  // namespace tessera
