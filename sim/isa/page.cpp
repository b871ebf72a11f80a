#include "sim/isa/page.h"

#include <string_view>

#include <fmt/format.h>

#include "sim/isa/table.h"

namespace tessera::isa {
namespace {

constexpr std::string_view kIntroduction = R"(# The tile ISA

RV32IMF_Zfh_Zba with 64-bit floating-point registers, and Xtile. Generated from `table.def`, which the
decoder, encoder, disassembler, intrinsics header and cost tables come from too; do not edit.

A worker has x0-x31, f0-f31 of 64 bits, two accumulator banks ACC and EXC of as many f32 as the
machine's matrix unit has outputs, one loop counter, a seeded generator and, where the machine has
it, the registers of the vector unit. A tile has a weight store W, as many words of 64 bits as the
largest block of its matrix unit, that its workers share. A supervisor has neither banks nor a
vector unit: amp.*, xctl 8 and the section "Xtile vector unit" fault there.
`run` sets pc, a0 and ra only: a worker ends by `xctl 0`, or by returning to where ra led.

**Operands.** `rd`, `fd` are written; `rs`, `fs` are read; a letter after the dot is the scalar that the
register holds, NaN-boxed (`fd.s`: f32, `fs1.h`: f16), without one it is 64 raw bits. `(rs1)+` is an
address that advances, `fd2` a second destination in the rs3 field, `rsd` and `fsd` are read from the
rd field, `fd:4` is a group of four registers starting at a multiple of four, `{t3+}` is a fixed
register that the text does not show, `+(rs1)`
advances before the access, `acc+` is added to, `hsd` and `accs` are
read from the rd field.

**Pair rule** (machines with `dual_issue`). An 8-byte-aligned pair of one integer, memory or branch
instruction and one floating instruction, in either order, takes one slot. Read-after-write and
write-after-write inside the pair forbid it, write-after-read does not. Control instructions never
pair. Where the second instruction has to wait for a result or a unit when the first issues, the two
issue one after the other.

**Memory slots.** The larger of ceil(bytes loaded / load width) and ceil(bytes stored / store width).

**Flops.** An add, multiply, divide, root or activation counts 1 a lane, a fused multiply-add 2, those
of an amp.* too (none with no-MAC).
)";

std::string_view name_of(IssueClass issue) {
  switch (issue) {
    case IssueClass::integer:
      return "integer";
    case IssueClass::memory:
      return "memory";
    case IssueClass::branch:
      return "branch";
    case IssueClass::floating:
      return "floating";
    case IssueClass::control:
      return "control";
  }
  return "";
}

/// Operands as the table writes them, with the bar of Markdown's tables escaped.
std::string syntax(const InstructionInfo& line) {
  std::string text;
  for (const Operand& operand : line.operands) {
    if (!text.empty()) text += ", ";
    text += operand.token;
  }
  return text.empty() ? "" : "`" + text + "`";
}

std::string escaped(std::string_view text) {
  std::string made;
  for (const char c : text) {
    if (c == '|' || c == '*') made += '\\';
    made += c;
  }
  return made;
}

std::string count(unsigned number) { return number == 0 ? "" : std::to_string(number); }

std::string row(const InstructionInfo& line) {
  return fmt::format("| `{}` | {} | `{:08x}/{:08x}` | {} | {} | {} | {} | {} |\n", line.mnemonic,
                     syntax(line), line.match, line.mask, name_of(line.issue),
                     count(line.bytes_loaded), count(line.bytes_stored), count(line.flops),
                     escaped(line.semantics));
}

std::string section(std::string_view title, std::string_view text) {
  return fmt::format(
      "\n## {}\n\n{}\n\n"
      "| mnemonic | operands | match/mask | class | loads | stores | flops | meaning |\n"
      "|---|---|---|---|---|---|---|---|\n",
      title, escaped(text));
}

}  // namespace

std::string page() {
  std::string text(kIntroduction);
#define SECTION(title, introduction) text += section(title, introduction);
#define X(id, ...) text += row(info(Mnemonic::id));
#include "sim/isa/table.def"
  return text;
}

}  // namespace tessera::isa
