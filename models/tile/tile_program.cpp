#include "models/tile/tile_program.h"

#include <cstring>

#include <fmt/format.h>

namespace tessera {

TileProgram::TileProgram(std::shared_ptr<const program::CodeImage> image, const TileConfig& tile)
    : image_(std::move(image)),
      supervisor_(engine::predecode(image_->bytes, engine::Role::supervisor, tile)),
      worker_(engine::predecode(image_->bytes, engine::Role::worker, tile)) {}

std::string TileProgram::where(std::uint32_t pc) const {
  const std::string& symbol = image_->symbol_of(pc);
  return symbol.empty() ? fmt::format("{:#x}", pc) : fmt::format("{:#x} ({})", pc, symbol);
}

}  // namespace tessera
