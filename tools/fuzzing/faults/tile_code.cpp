#include "tools/fuzzing/faults/tile_code.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "sim/elf/elf.h"
#include "sim/isa/decode.h"
#include "sim/isa/disassemble.h"
#include "sim/isa/encode.h"
#include "sim/isa/table.h"

namespace tessera::faults {
namespace {

namespace fs = std::filesystem;
using isa::Instruction;
using isa::Mnemonic;

constexpr std::uint32_t kWordBytes = 4;

/// The bytes of each function of each codelets.elf.
std::map<std::string, std::string> functions(const fs::path& tile) {
  std::map<std::string, std::string> made;
  for (const auto& entry : fs::recursive_directory_iterator(tile / "kernels")) {
    if (entry.path().filename() != "codelets.elf") continue;
    const elf::Program program = elf::read_file(entry.path());
    for (const elf::Symbol& symbol : program.symbols) {
      for (const elf::Segment& segment : program.segments) {
        const std::uint64_t at = std::uint64_t{symbol.address} - segment.address;
        if (!symbol.function || at + symbol.size > segment.bytes.size()) continue;
        made.emplace(
            symbol.name,
            std::string(reinterpret_cast<const char*>(segment.bytes.data()) + at, symbol.size));
      }
    }
  }
  return made;
}

/// A row of function,address,"instruction",cycles,times,...
struct Row {
  std::string function;
  std::uint32_t address = 0;
  std::uint64_t times = 0;
};
std::optional<Row> parsed(const std::string& line) {
  constexpr int kTimesFromEnd = 7;
  const std::size_t first = line.find(',');
  std::size_t at = line.size();
  for (int i = 0; i < kTimesFromEnd && at != std::string::npos; ++i) at = line.rfind(',', at - 1);
  if (first == std::string::npos || at == std::string::npos || at <= first) return std::nullopt;
  return Row{line.substr(0, first),
             static_cast<std::uint32_t>(std::strtoul(line.c_str() + first + 1, nullptr, 16)),
             std::strtoull(line.c_str() + at + 1, nullptr, 10)};
}

std::uint32_t word_at(const std::string& code, std::uint32_t offset) {
  std::uint32_t word = 0;
  std::memcpy(&word, code.data() + offset, sizeof word);
  return word;
}

bool alike(const isa::Operands& a, const isa::Operands& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const isa::Operand& x, const isa::Operand& y) {
                      return x.shape == y.shape && x.field == y.field && x.writes == y.writes &&
                             x.registers == y.registers;
                    });
}

Mnemonic other_mnemonic(Mnemonic of, fuzz::Choices& choices) {
  const isa::InstructionInfo& info = isa::info(of);
  std::vector<Mnemonic> others;
  for (std::size_t i = 0; i < isa::kMnemonics; ++i) {
    const auto m = static_cast<Mnemonic>(i);
    const isa::InstructionInfo& other = isa::info(m);
    if (m != of && other.format == info.format && other.issue == info.issue &&
        alike(other.operands, info.operands))
      others.push_back(m);
  }
  return others.empty() ? of : choices.of(others);
}

Instruction change(Instruction made, fuzz::Choices& choices) {
  constexpr int kSteps[] = {-16, -8, -4, -2, -1, 1, 2, 4, 8, 16};
  switch (choices.below(8)) {
    case 0:
      return {.mnemonic = Mnemonic::addi};
    case 1:
    case 2:
      made.mnemonic = other_mnemonic(made.mnemonic, choices);
      return made;
    case 3:
      std::swap(made.rs1, made.rs2);
      return made;
    case 4:
      choices.once_in(2) ? std::swap(made.rs2, made.rs3) : std::swap(made.rs1, made.rs3);
      return made;
    case 5:
    case 6:
      made.imm += kSteps[choices.below(std::size(kSteps))];
      return made;
    default: {
      std::uint8_t* const fields[] = {&made.rd, &made.rs1, &made.rs2, &made.rs3, &made.rm};
      *fields[choices.below(std::size(fields))] ^= static_cast<std::uint8_t>(1 << choices.below(2));
      return made;
    }
  }
}

/// True if the instruction can be encoded: unused fields are 0, numbers fit.
bool stands(const Instruction& made) {
  try {
    static_cast<void>(isa::encode(made));
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

std::vector<Site> executed_sites(const Runs& runs, const Case& of, const fs::path& tile) {
  const fs::path folder = runs.work() / "profile";
  if (run(runs.program(), of, {"profile", "a.json", "--out", "p.csv"}, folder).status != 0)
    throw std::runtime_error(of.name + ": " + fuzz::read(folder.string() + ".err"));
  const std::map<std::string, std::string> all = functions(tile);
  std::vector<Site> sites;
  std::istringstream lines(fuzz::read(folder / "p.csv"));
  std::map<std::string, std::uint32_t> begins;
  for (std::string line; std::getline(lines, line);) {
    const std::optional<Row> row = parsed(line);
    if (!row || !all.contains(row->function)) continue;
    const std::uint32_t offset =
        row->address - begins.try_emplace(row->function, row->address).first->second;
    const std::string& code = all.find(row->function)->second;
    if (row->times == 0 || offset + kWordBytes > code.size()) continue;
    if (const auto instruction = isa::decode(word_at(code, offset)))
      sites.push_back({row->function, offset, *instruction, code});
  }
  if (sites.empty()) throw std::runtime_error(of.name + ": no executed codelet is known");
  return sites;
}

Instruction changed(const Instruction& instruction, fuzz::Choices& choices) {
  for (;;) {
    const Instruction made = change(instruction, choices);
    if (!(made == instruction) && stands(made)) return made;
  }
}

std::string described(const Case& of, const Site& site, const Instruction& instruction) {
  const auto text = [&](const Instruction& each) {
    return isa::disassemble(isa::encode(each), site.offset);
  };
  return fmt::format("{}: {}+{:#x}: {} -> {}", of.name, site.codelet, site.offset,
                     text(site.instruction), text(instruction));
}

std::string planted(std::string program, const Site& site, const Instruction& instruction) {
  const std::uint32_t word = isa::encode(instruction);
  for (std::size_t at = program.find(site.code); at != std::string::npos;
       at = program.find(site.code, at + site.code.size()))
    std::memcpy(program.data() + at + site.offset, &word, sizeof word);
  return program;
}

}  // namespace tessera::faults
