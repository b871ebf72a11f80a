#include "sim/elf/elf.h"

#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/base/embedded.h"
#include "sim/base/errors.h"
#include "sim/elf/format.h"
#include "tests/refusal.h"

using namespace tessera;

namespace {

using FileBytes = std::vector<std::byte>;

FileBytes sample_bytes() {
  const auto bytes = embedded::find("tests/sim/elf/sample/codelets.elf");
  return {bytes.begin(), bytes.end()};
}

template <class T>
T get(const FileBytes& bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}
template <class T>
void put(FileBytes& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

std::string error_of(const FileBytes& bytes) {
  return test::refusal([&] { return elf::read(bytes, "a.elf"); });
}

/// The error message after `change` of the sample's file header.
std::string header_error(const std::function<void(elf::FileHeader&)>& change) {
  FileBytes bytes = sample_bytes();
  auto header = get<elf::FileHeader>(bytes, 0);
  change(header);
  put(bytes, 0, header);
  return error_of(bytes);
}

/// The error message after `change` of the first loaded segment's header.
std::string segment_error(const std::function<void(elf::SegmentHeader&)>& change) {
  FileBytes bytes = sample_bytes();
  const auto header = get<elf::FileHeader>(bytes, 0);
  for (std::uint32_t i = 0; i < header.segment_count; ++i) {
    const std::size_t at = header.segments + i * sizeof(elf::SegmentHeader);
    auto segment = get<elf::SegmentHeader>(bytes, at);
    if (segment.type != elf::kSegmentLoad) continue;
    change(segment);
    put(bytes, at, segment);
    break;
  }
  return error_of(bytes);
}

/// The error message after `change` of the section headers that `wanted` selects.
std::string sections_error(const std::function<bool(const elf::SectionHeader&)>& wanted,
                           const std::function<void(elf::SectionHeader&)>& change) {
  FileBytes bytes = sample_bytes();
  const auto header = get<elf::FileHeader>(bytes, 0);
  for (std::uint32_t i = 0; i < header.section_count; ++i) {
    const std::size_t at = header.sections + i * sizeof(elf::SectionHeader);
    auto section = get<elf::SectionHeader>(bytes, at);
    if (!wanted(section)) continue;
    change(section);
    put(bytes, at, section);
  }
  return error_of(bytes);
}
std::string symbols_error(const std::function<void(elf::SectionHeader&)>& change) {
  return sections_error(
      [](const elf::SectionHeader& one) { return one.type == elf::kSectionSymbols; }, change);
}
std::string code_error(const std::function<void(elf::SectionHeader&)>& change) {
  return sections_error(
      [](const elf::SectionHeader& one) { return (one.flags & elf::kSectionExecutable) != 0; },
      change);
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a program's segments, code and symbols are read") {
    const elf::Program program = elf::read(sample_bytes(), "a.elf");
    CHECK(program.name == "a.elf");
    REQUIRE(!program.segments.empty());
    CHECK(program.segments[0].executable);
    REQUIRE(program.code.size() == 1);
    CHECK(program.code[0].address == 0x10000);
    CHECK(program.code[0].size > 14 * 4);
    CHECK(!program.relocations);
    bool found = false;
    for (const elf::Symbol& symbol : program.symbols) {
      if (symbol.name != "sample_loop") continue;
      found = true;
      CHECK(symbol.function);
      CHECK(symbol.global);
      CHECK(symbol.size == 14 * 4);
      CHECK(symbol.address % 8 == 0);
    }
    CHECK(found);
  }

  TEST_CASE("a file without sections has the code of its executable segments") {
    FileBytes bytes = sample_bytes();
    auto header = get<elf::FileHeader>(bytes, 0);
    header.section_count = 0;
    put(bytes, 0, header);
    const elf::Program program = elf::read(bytes, "a.elf");
    CHECK(program.symbols.empty());
    REQUIRE(program.code.size() == 1);
    CHECK(program.code[0].size == program.segments[0].bytes.size());
  }

  TEST_CASE("a file cut off anywhere is an error or the same program") {
    const FileBytes whole = sample_bytes();
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const FileBytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      CHECK(!error_of(part).empty());
    }
    const std::pair<std::size_t, const char*> kept[] = {
        {3, "a.elf: not an ELF file"},
        {30, "a.elf: truncated: the file header"},
        {60, "a.elf: truncated: the program header table"},
        {whole.size() - 1, "a.elf: truncated: the section header table"}};
    for (const auto& [size, message] : kept)
      CHECK(error_of({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)})
                .starts_with(message));
    CHECK(error_of(FileBytes(whole.size())) == "a.elf: not an ELF file");
  }

  TEST_CASE("headers that point outside the file are errors") {
    CHECK(test::holds(header_error([](auto& h) { h.segments = 0xfffffff0; }), "truncated"));
    CHECK(test::holds(header_error([](auto& h) { h.sections = 0xfffffff0; }), "truncated"));
    CHECK(test::holds(header_error([](auto& h) { h.segment_size = 56; }), "56 bytes"));
    CHECK(test::holds(header_error([](auto& h) { h.section_size = 64; }), "64 bytes"));
    CHECK(test::holds(header_error([](auto& h) { h.segment_count = 0; }), "nothing to load"));
    CHECK(test::holds(symbols_error([](auto& s) { s.link = 1000; }), "no string table"));
    CHECK(test::holds(symbols_error([](auto& s) { s.link = 0; }), "string table"));
    CHECK(test::holds(symbols_error([](auto& s) { s.size = 0x7ffffff0; }), "symbol table"));
    CHECK(test::holds(code_error([](auto& s) { s.size = 0x7ffffff0; }), "in no segment"));
    CHECK(test::holds(code_error([](auto& s) { s.address = 0x8000; }), "in no segment"));
  }

  TEST_CASE("files for other machines, and what is no linked program, are errors") {
    CHECK(header_error([](auto& h) { h.identity[4] = 2; }) ==
          "a.elf: a 64-bit ELF file, needed is 32-bit RISC-V");
    CHECK(header_error([](auto& h) { h.identity[5] = 2; }) == "a.elf: a big-endian ELF file");
    CHECK(header_error([](auto& h) { h.machine = 62; }) ==
          "a.elf: for ELF machine 62, needed is 243 (RISC-V)");
    CHECK(header_error([](auto& h) { h.type = 1; }) == "a.elf: an object file; link it first");
    CHECK(header_error([](auto& h) { h.type = 3; }) == "a.elf: not a statically linked program");
    CHECK(test::holds(header_error([](auto& h) { h.flags = 1; }), "has compressed instructions"));
  }

  TEST_CASE("segments that cannot be loaded are errors") {
    CHECK(test::holds(segment_error([](auto& s) { s.offset = 0xffffff00; }), "truncated"));
    CHECK(
        test::holds(segment_error([](auto& s) { s.memory_size = s.file_size - 1; }), "in memory"));
    CHECK(test::holds(segment_error([](auto& s) { s.address = 0xfffffff0; }), "end of memory"));
    CHECK(
        test::holds(segment_error([](auto& s) { s.type = elf::kSegmentInterpreter; }), "-static"));
    CHECK(test::holds(segment_error([](auto& s) { s.type = elf::kSegmentDynamic; }), "-static"));
  }

  TEST_CASE("changing any byte never does worse than a user error") {
    const FileBytes whole = sample_bytes();
    for (std::size_t at = 0; at < whole.size(); ++at) {
      FileBytes bytes = whole;
      bytes[at] = ~bytes[at];
      CHECK_NOTHROW(error_of(bytes));
    }
  }

  TEST_CASE("a file that is not there is named") {
    CHECK_THROWS_WITH_AS(elf::read_file("/nowhere/a.elf"),
                         "/nowhere/a.elf: cannot be read: No such file or directory", UserError);
    const auto folder = std::filesystem::temp_directory_path();
    CHECK_THROWS_AS(elf::read_file(folder), UserError);
  }
}
