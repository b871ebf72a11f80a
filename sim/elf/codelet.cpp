#include "sim/elf/codelet.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include "sim/base/embedded.h"
#include "sim/base/errors.h"
#include "sim/elf/double_arithmetic.h"
#include "sim/isa/decode.h"
#include "sim/isa/disassemble.h"
#include "sim/isa/registers.h"
#include "sim/isa/table.h"

namespace tessera::elf {
namespace {

using isa::Instruction;
using isa::Mnemonic;

constexpr std::uint32_t kAlign = 8;

/// Examines one function of a program.
class Function {
 public:
  Function(const Program& file, const Symbol& symbol) : file_(file), symbol_(symbol) {
    if (symbol.size == 0) fail("has no size (assembly: close it with end_codelet)");
    if (symbol.address % kAlign != 0 || symbol.size % 4 != 0) {
      fail(fmt::format("must start at a multiple of {} and hold whole words", kAlign));
    }
    for (const Segment& segment : file.segments) {
      const std::uint64_t offset = std::uint64_t{symbol.address} - segment.address;
      const bool inside = symbol.address >= segment.address &&
                          offset + symbol.size <= segment.bytes.size() && segment.executable;
      if (inside) bytes_ = std::span(segment.bytes).subspan(offset, symbol.size);
    }
    if (bytes_.empty()) fail("lies outside the executable segments");
  }

  [[nodiscard]] program::Codelet codelet() const {
    for (std::uint32_t at = 0; at < symbol_.size; at += 4) examine(at);
    return {symbol_.name, {bytes_.begin(), bytes_.end()}};
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw UserError("{}: codelet {}: {}", file_.name, symbol_.name, problem);
  }
  [[noreturn]] void fail_at(std::uint32_t at, const std::string& problem) const {
    const std::uint32_t address = symbol_.address + at;
    fail(fmt::format("{:#x}: {}: {}", address, isa::disassemble(word(at), address), problem));
  }

  [[nodiscard]] std::uint32_t word(std::uint32_t at) const {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }

  void examine(std::uint32_t at) const {
    const std::optional<Instruction> instruction = isa::decode(word(at));
    if (!instruction) {
      fail_at(at, std::string(is_double_arithmetic(word(at)) ? kDoubleArithmetic
                                                             : "no instruction of the tile"));
    }
    const std::optional<std::uint32_t> target = reference(at, *instruction);
    // A hardware loop may end at the function's end.
    const std::uint32_t end = symbol_.size + (instruction->mnemonic == Mnemonic::rpt ? 1U : 0U);
    if (target && *target >= end) {
      fail_at(at, "refers to something outside the codelet; inline functions and constants");
    }
  }

  /// The offset in the function that a PC-relative instruction at `at` refers to.
  [[nodiscard]] std::optional<std::uint32_t> reference(std::uint32_t at,
                                                       const Instruction& instruction) const {
    const isa::Format format = isa::info(instruction.mnemonic).format;
    const auto imm = static_cast<std::uint32_t>(instruction.imm);
    if (format == isa::Format::b || format == isa::Format::j) return at + imm;
    if (instruction.mnemonic == Mnemonic::auipc) return at + imm + low_part(at, instruction.rd);
    return std::nullopt;
  }

  /// The low part of the address whose high part auipc at `at` left in register `base`: the
  /// immediate of the first instruction that reads `base`.
  [[nodiscard]] std::uint32_t low_part(std::uint32_t at, std::uint32_t base) const {
    for (std::uint32_t next = at + 4; next < symbol_.size; next += 4) {
      const std::optional<Instruction> user = isa::decode(word(next));
      if (!user) break;
      const isa::RegisterSets sets = isa::registers(*user);
      if ((sets.reads_x >> base & 1U) != 0) return static_cast<std::uint32_t>(user->imm);
      if ((sets.writes_x >> base & 1U) != 0) break;
    }
    return 0;
  }

  const Program& file_;
  const Symbol& symbol_;
  std::span<const std::byte> bytes_;
};

void require_linked(const Program& file) {
  if (file.relocations) throw UserError(file.name + ": has relocations left; link it fully");
}

bool is_codelet(const Symbol& symbol) { return symbol.function && symbol.global; }

std::string file_of(std::string_view kernel) {
  return fmt::format("kernels/{}/codelets.elf", kernel);
}

/// Reads and examines each embedded file once per process: planning needs it thousands of times.
const std::vector<program::Codelet>& embedded_codelets(const std::string& file) {
  static std::mutex mutex;
  static std::map<std::string, std::vector<program::Codelet>> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(file);
  if (found != known.end()) return found->second;
  const std::span<const std::byte> bytes = embedded::find(file);
  check(!bytes.empty(), "elf: {} is not embedded", file);
  return known.emplace(file, codelets(read(bytes, file))).first->second;
}

}  // namespace

std::vector<program::Codelet> codelets(const Program& file) {
  require_linked(file);
  std::vector<program::Codelet> made;
  for (const Symbol& symbol : file.symbols) {
    if (is_codelet(symbol)) made.push_back(Function(file, symbol).codelet());
  }
  return made;
}

KernelCode::KernelCode(std::string_view kernel)
    : file_(file_of(kernel)), codelets_(embedded_codelets(file_)) {}

const program::Codelet& KernelCode::operator[](std::string_view name) const {
  const auto found = std::ranges::find(codelets_, name, &program::Codelet::name);
  check(found != codelets_.end(), "elf: {} has no codelet {}", file_, name);
  return *found;
}

std::uint32_t KernelCode::in(program::Program& program, std::string_view name) const {
  const auto found = std::ranges::find(program.codelets(), name, &program::Codelet::name);
  if (found == program.codelets().end()) return program.add_codelet((*this)[name]);
  return static_cast<std::uint32_t>(found - program.codelets().begin());
}

program::Codelet embedded_codelet(std::string_view kernel, std::string_view name) {
  return KernelCode(kernel)[name];
}

}  // namespace tessera::elf
