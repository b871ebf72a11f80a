#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/elf/elf.h"
#include "sim/elf/format.h"
#include "sim/engine/bare_program.h"
#include "sim/isa/encode.h"
#include "sim/isa/table.h"
#include "tests/folder.h"
#include "tests/sim/engine/assembled.h"
#include "tests/sim/engine/qemu_program.h"

namespace tessera::engine::test {
namespace {

constexpr std::uint32_t kText = 0x11000;
constexpr std::uint32_t kTables = 0x200000;  // initial registers, the window, then the dumps
constexpr std::uint32_t kTableWords = 32 * 2 + 32;
constexpr std::uint32_t kWindowBytes = 64;
constexpr int kWindow = 30;
constexpr int kPointer = 31;
constexpr int kSteps = 24;

}  // namespace

void QemuProgram::emit(const Instruction& instruction) {
  code_.push_back(isa::encode(instruction));
}

void QemuProgram::set_address(int reg, std::uint32_t address) {
  const std::uint32_t upper = (address + 0x800) & 0xffff'f000U;
  emit(i_type(lui, reg, 0, static_cast<std::int32_t>(upper)));
  emit(i_type(addi, reg, reg, static_cast<std::int32_t>(address - upper)));
}

std::uint64_t QemuProgram::float_value() {
  static constexpr std::uint32_t kSingles[] = {
      0,           0x8000'0000, 0x3f80'0000, 0xbf80'0000, 0x7f80'0000, 0xff80'0000, 0x7fc0'0000,
      0x7f80'0001, 0xffff'ffff, 1,           0x007f'ffff, 0x0080'0000, 0x7f7f'ffff, 0x3f80'0001,
      0x4f00'0000, 0xcf00'0000, 0x4f80'0000, 0x3f00'0000, 0x3fc0'0000};
  static constexpr std::uint32_t kHalves[] = {0,      0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00,
                                              0x7e00, 0x7c01, 0xffff, 1,      0x3ff,  0x400,
                                              0x7bff, 0x3c01, 0x3800, 0x3e00};
  constexpr std::uint64_t kBox32 = 0xffff'ffff'0000'0000U;
  constexpr std::uint64_t kBox16 = 0xffff'ffff'ffff'0000U;
  const std::uint64_t bits = std::uint64_t{source_()} << 32 | source_();
  const std::uint32_t kind = below(6);
  if (kind == 0) return kBox32 | kSingles[below(std::size(kSingles))];
  if (kind == 1) return kBox32 | (bits & 0xffff'ffffU);
  if (kind == 2) return kBox16 | kHalves[below(std::size(kHalves))];
  if (kind == 3) return kBox16 | (bits & 0xffffU);
  // Near one, so that sums and products are rounded.
  return kind == 4 ? kBox32 | 0x3f00'0000U | (bits & 0x80ff'ffffU) : bits;
}

// Registers x30 and x31 are reserved; all floating-point registers are free.
void QemuProgram::random_operands(Instruction& made) {
  const auto reg = [&](bool floating) {
    return static_cast<std::uint8_t>(below(floating ? 32 : 30));
  };
  for (const isa::Operand& operand : isa::info(made.mnemonic).operands) {
    const bool floating = operand.shape == isa::Shape::f_register;
    if (operand.shape == isa::Shape::rounding) {
      made.rm = static_cast<std::uint8_t>(below(6));
      if (made.rm == 5) made.rm = 7;
    }
    if (operand.field == isa::Field::rd) made.rd = reg(floating);
    if (operand.field == isa::Field::rs1) made.rs1 = reg(floating);
    if (operand.field == isa::Field::rs2) made.rs2 = reg(floating);
    if (operand.field == isa::Field::rs3) made.rs3 = reg(floating);
  }
}

void QemuProgram::random_instruction() {
  // Every base instruction except ecall and ebreak.
  Mnemonic m = ecall;
  while (m == ecall || m == ebreak) m = static_cast<Mnemonic>(below(isa::index(flh_p)));
  ++used_[isa::index(m)];
  const isa::InstructionInfo& info = isa::info(m);
  Instruction made{.mnemonic = m};
  random_operands(made);
  const std::uint32_t bytes = std::max(info.bytes_loaded, info.bytes_stored);
  if (bytes != 0) {
    made.rs1 = kWindow;
    made.imm = static_cast<std::int32_t>(bytes * below(kWindowBytes / bytes));
  } else if (m == fence) {
    made.imm = 0x0ff;
  } else if (m == jalr) {
    emit(nop());  // the previous instruction may branch over it
    emit(i_type(auipc, 5, 0, 0));
    made.rs1 = 5;
    made.imm = 8 + 4 * static_cast<std::int32_t>(below(2));
  } else if (info.issue == isa::IssueClass::branch) {
    made.imm = 4 + 4 * static_cast<std::int32_t>(below(2));
  } else if (m == csrrwi || m == csrrsi || m == csrrci) {
    const bool mode = m == csrrwi && below(2) == 0;  // never an invalid mode
    made.imm = mode ? 2 : 1;
    made.rs1 = static_cast<std::uint8_t>(below(mode ? 5 : 32));
  } else if (m == csrrw || m == csrrs || m == csrrc) {
    made.imm = 1 + 2 * static_cast<std::int32_t>(below(2));
    if (made.imm == 3) made.mnemonic = csrrs, made.rs1 = 0;
  } else if (info.format == isa::Format::u) {
    made.imm = static_cast<std::int32_t>(below(1U << 20) << 12);
  } else if (info.format == isa::Format::shift) {
    made.imm = static_cast<std::int32_t>(below(32));
  } else if (info.format == isa::Format::i) {
    made.imm = static_cast<std::int32_t>(below(4096)) - 2048;
  }
  emit(made);
}

void QemuProgram::program(std::uint32_t number) {
  const std::uint32_t table = kTables + kWindowBytes + number * kTableWords * 4;
  for (int i = 0; i < 32; ++i) {
    const std::uint64_t value = float_value();
    data_.push_back(static_cast<std::uint32_t>(value));
    data_.push_back(static_cast<std::uint32_t>(value >> 32));
  }
  for (int i = 0; i < 32; ++i) {
    static constexpr std::uint32_t kEdges[] = {0, 1, ~0U, 0x8000'0000, 0x7fff'ffff, 31, 32};
    data_.push_back(below(3) == 0 ? kEdges[below(std::size(kEdges))]
                                  : static_cast<std::uint32_t>(source_()));
  }
  set_address(kPointer, table);
  emit(i_type(csrrwi, 0, 0, 3));
  for (int i = 0; i < 32; ++i) emit(i_type(fld, i, kPointer, 8 * i));
  for (int i = 1; i < kWindow; ++i) emit(i_type(lw, i, kPointer, 256 + 4 * i));
  set_address(kWindow, kTables);
  for (int i = 0; i < kSteps; ++i) random_instruction();
  emit(nop());  // target of a branch in the last step
  emit(nop());
}

void QemuProgram::dump(std::uint32_t address) {
  set_address(kPointer, address);
  for (int i = 0; i < 32; ++i) emit(s_type(fsd, i, kPointer, 8 * i));
  for (int i = 1; i < kWindow; ++i) emit(s_type(sw, i, kPointer, 256 + 4 * i));
  emit(i_type(csrrs, 1, 0, 3));
  emit(s_type(sw, 1, kPointer, 256));
  for (int i = 0; i < 16; ++i) {
    emit(i_type(lw, 1, kWindow, 4 * i));
    emit(s_type(sw, 1, kPointer, 384 + 4 * i));
  }
}

std::vector<std::byte> QemuProgram::make(std::uint32_t programs) {
  data_.assign(kWindowBytes / 4, 0);
  const std::uint32_t dumps = kTables + kWindowBytes + programs * kTableWords * 4;
  for (std::uint32_t n = 0; n < programs; ++n) {
    program(n);
    dump(dumps + n * kDumpBytes);
  }
  set_address(11, dumps);
  set_address(12, programs * kDumpBytes);
  for (const Instruction& each :
       {i_type(addi, 10, 0, 1), i_type(addi, 17, 0, 64), r_type(ecall, 0, 0, 0),
        i_type(addi, 10, 0, 0), i_type(addi, 17, 0, 93), r_type(ecall, 0, 0, 0)}) {
    emit(each);
  }
  return file(programs * kDumpBytes);
}

// Two segments: executable code and writable data.
std::vector<std::byte> QemuProgram::file(std::uint32_t dump_bytes) const {
  constexpr std::uint32_t kPage = 4096;
  const auto text_bytes = static_cast<std::uint32_t>(4 * code_.size());
  const auto data_bytes = static_cast<std::uint32_t>(4 * data_.size());
  const std::uint32_t data_offset = kPage + round_up(text_bytes, kPage);
  elf::FileHeader header{};
  header.identity = {0x7f, 'E', 'L', 'F', 1, 1, 1};
  header.type = 2;
  header.machine = 243;
  header.version = 1;
  header.entry = kText;
  header.segments = sizeof(header);
  header.flags = 4;  // double-float ABI
  header.header_size = sizeof(header);
  header.segment_size = sizeof(elf::SegmentHeader);
  header.segment_count = 2;
  header.section_size = sizeof(elf::SectionHeader);
  const elf::SegmentHeader segments[] = {
      {1, kPage, kText, kText, text_bytes, text_bytes, 5, kPage},
      {1, data_offset, kTables, kTables, data_bytes, data_bytes + dump_bytes, 6, kPage}};
  std::vector<std::byte> made(data_offset + data_bytes);
  std::memcpy(made.data(), &header, sizeof(header));
  std::memcpy(made.data() + sizeof(header), segments, sizeof(segments));
  std::memcpy(made.data() + kPage, code_.data(), text_bytes);
  std::memcpy(made.data() + data_offset, data_.data(), data_bytes);
  return made;
}

namespace {

std::string output_of(const std::string& command) {
  std::string output;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return output;
  char buffer[65536];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    output.append(buffer, got);
  }
  pclose(pipe);
  return output;
}

TEST_SUITE("unit") {
  TEST_CASE("ten thousand random programs of the base ISA leave what qemu leaves") {
    if (output_of("command -v qemu-riscv32").empty()) {
      MESSAGE("skipped: qemu-riscv32 (Debian: qemu-user) is not installed");
      return;
    }
    constexpr std::uint32_t kBatches = 10;
    constexpr std::uint32_t kPrograms = 1000;
    std::vector<std::uint32_t> used(isa::kMnemonics);
    const tessera::test::Folder folder;
    for (std::uint32_t batch = 0; batch < kBatches; ++batch) {
      QemuProgram programs(batch + 1);
      const std::vector<std::byte> file = programs.make(kPrograms);
      const std::string path =
          folder.write("a.elf", {reinterpret_cast<const char*>(file.data()), file.size()});
      std::filesystem::permissions(path, std::filesystem::perms::owner_all);
      const std::string wanted = output_of(fmt::format("qemu-riscv32 -cpu rv32,Zfh=true {}", path));
      std::string found;
      ExecOptions options{.memory_bytes = QemuProgram::kMemory};
      options.write = [&](int, std::string_view text) { found += text; };
      CHECK(execute_bare(elf::read(file, "random.elf"), TileConfig{}, options).exit_code == 0);
      REQUIRE(wanted.size() == kPrograms * QemuProgram::kDumpBytes);
      REQUIRE(found.size() == wanted.size());
      for (std::size_t at = 0; at < wanted.size(); at += 4) {
        if (wanted.compare(at, 4, found, at, 4) == 0) continue;
        CAPTURE(batch);
        FAIL_CHECK("program ", at / QemuProgram::kDumpBytes, ", byte ",
                   at % QemuProgram::kDumpBytes, " of its dump differs");
        break;
      }
      for (std::size_t i = 0; i < used.size(); ++i) used[i] += programs.used()[i];
    }
    for (std::size_t i = 0; i < isa::index(flh_p); ++i) {
      const auto mnemonic = static_cast<Mnemonic>(i);
      if (mnemonic == ecall || mnemonic == ebreak) continue;
      CAPTURE(isa::info(mnemonic).mnemonic);
      CHECK(used[i] > 100);
    }
  }
}

}  // namespace
}  // namespace tessera::engine::test
