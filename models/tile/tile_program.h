#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/engine/engine.h"
#include "sim/program/image.h"
#include "sim/report/profile.h"

namespace tessera {

/// One code image, decoded for both roles, with names and steps of its addresses. Shared by all
/// tiles of a class that hold it.
class TileProgram {
 public:
  /// `kind`: the class's name, for messages; empty: compute tiles.
  TileProgram(std::shared_ptr<const program::CodeImage> image, const TileConfig& tile,
              engine::CodeCounts counts = {}, std::string kind = {});

  [[nodiscard]] const engine::Code& supervisor() const { return *supervisor_; }
  [[nodiscard]] const engine::Code& worker() const { return *worker_; }
  /// The workers' code for the matrix block shape `number` of run.block (0: the unit's own); null
  /// if the unit does not support it.
  [[nodiscard]] const engine::Code* worker(std::uint32_t number) const;
  [[nodiscard]] const program::CodeImage& image() const { return *image_; }
  [[nodiscard]] std::uint32_t code_bytes() const {
    return static_cast<std::uint32_t>(image_->bytes.size());
  }
  /// The step of a supervisor pc, or kNoStep: a lookup table of the image's steps.
  [[nodiscard]] std::uint32_t step_of(std::uint32_t pc) const {
    return pc / kWord < steps_.size() ? steps_[pc / kWord] : program::kNoStep;
  }
  /// "tile 3", or "tile 70 (memory)" of a class.
  [[nodiscard]] std::string name_of(TileId tile) const;
  [[nodiscard]] const std::string& kind() const { return kind_; }
  /// The codelet that holds `pc`; the pc where there is no symbol.
  [[nodiscard]] std::string name_of(std::uint32_t pc) const;
  /// "0x11c (matmul_f16)", or "0x11c" outside any symbol.
  [[nodiscard]] std::string where(std::uint32_t pc) const;
  /// Profile of the code that workers have executed; needs CodeCounts::profile.
  [[nodiscard]] std::vector<report::ProfiledFunction> profile() const;
  /// The instruction at `pc` as text; "outside the code" where there is none.
  [[nodiscard]] std::string instruction(std::uint32_t pc) const;

 private:
  static constexpr std::uint32_t kWord = 4;

  void decode_blocks(const TileConfig& tile, engine::CodeCounts counts);
  [[nodiscard]] std::optional<std::uint32_t> word_at(std::uint32_t pc) const;

  std::shared_ptr<const program::CodeImage> image_;
  std::string kind_;
  std::shared_ptr<const engine::Code> supervisor_;
  std::shared_ptr<const engine::Code> worker_;
  std::map<std::uint32_t, std::shared_ptr<const engine::Code>> in_blocks_;  ///< by number
  std::vector<std::uint32_t> steps_;                                        ///< by pc / kWord
};

}  // namespace tessera
