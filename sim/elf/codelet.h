#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/elf/elf.h"
#include "sim/program/program.h"

/// Tile functions taken out of a linked ELF file, each a blob that runs at any 8-byte-aligned
/// address.
namespace tessera::elf {

/// Every global function of `file`. UserError naming file, function, address and instruction for
/// code that a tile cannot run or that cannot be moved: unknown words, double-precision arithmetic,
/// calls and references outside the function, relocations left, a start that is not 8-byte aligned.
std::vector<program::Codelet> codelets(const Program& file);

/// The functions of kernels/`kernel`/codelets.elf, embedded in this program.
class KernelCode {
 public:
  /// A Defect if the file is not there, UserError as of codelets().
  explicit KernelCode(std::string_view kernel);
  /// A Defect if it is not there.
  [[nodiscard]] const program::Codelet& operator[](std::string_view name) const;
  /// Its index in `program`, to which it is added if there is no codelet of its name.
  [[nodiscard]] std::uint32_t in(program::Program& program, std::string_view name) const;
  /// Bytes of its code.
  [[nodiscard]] std::uint32_t bytes(std::string_view name) const {
    return static_cast<std::uint32_t>((*this)[name].code.size());
  }

 private:
  std::string file_;
  const std::vector<program::Codelet>& codelets_;  ///< kept for the whole process
};

/// One of them.
program::Codelet embedded_codelet(std::string_view kernel, std::string_view name);

}  // namespace tessera::elf
