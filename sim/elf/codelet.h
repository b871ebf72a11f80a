#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/elf/elf.h"
#include "sim/program/program.h"

/// Tile functions from a linked ELF file, each a blob that runs at any 8-byte-aligned address.
namespace tessera::elf {

/// Every global function of `file`. Throws UserError naming file, function, address and instruction
/// for code that a tile cannot run or that cannot be moved: unknown words, double precision,
/// references outside the function, remaining relocations, a start that is not 8-byte aligned.
std::vector<program::Codelet> codelets(const Program& file);

/// The functions of kernels/`kernel`/codelets.elf, embedded in this program.
class KernelCode {
 public:
  /// Throws a Defect if the file is not embedded, UserError as codelets() does.
  explicit KernelCode(std::string_view kernel);
  /// The codelet `name`; a Defect if there is none.
  [[nodiscard]] const program::Codelet& operator[](std::string_view name) const;
  /// The codelet's index in `program`; adds it if `program` has no codelet of this name.
  [[nodiscard]] std::uint32_t in(program::Program& program, std::string_view name) const;
  /// Code size in bytes.
  [[nodiscard]] std::uint32_t bytes(std::string_view name) const {
    return static_cast<std::uint32_t>((*this)[name].code.size());
  }

 private:
  std::string file_;
  const std::vector<program::Codelet>& codelets_;  ///< valid for the whole process
};

/// One codelet of KernelCode(kernel).
program::Codelet embedded_codelet(std::string_view kernel, std::string_view name);

}  // namespace tessera::elf
