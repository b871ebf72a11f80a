#include "sim/elf/elf.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "sim/base/errors.h"
#include "sim/data/read_file.h"
#include "sim/elf/format.h"

namespace tessera::elf {
namespace {

constexpr std::string_view kGlobalPointer = "__global_pointer$";

/// Bounds-checked access to the file; all reads go through it.
class Reader {
 public:
  Reader(std::span<const std::byte> bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> problem, Args&&... args) const {
    throw UserError("{}: {}", name_, fmt::format(problem, std::forward<Args>(args)...));
  }

  [[nodiscard]] std::span<const std::byte> range(std::uint64_t offset, std::uint64_t size,
                                                 std::string_view what) const {
    if (offset + size > bytes_.size()) {
      fail("truncated: {} reaches to byte {}, the file has {}", what, offset + size, bytes_.size());
    }
    return bytes_.subspan(offset, size);
  }

  template <class T>
  [[nodiscard]] T value(std::uint64_t offset, std::string_view what) const {
    static_assert(std::is_trivially_copyable_v<T>);
    T made;
    std::memcpy(&made, range(offset, sizeof(T), what).data(), sizeof(T));
    return made;
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& name_;
};

FileHeader read_header(const Reader& reader, std::span<const std::byte> bytes) {
  constexpr std::string_view kMagic =
      "\x7f"
      "ELF";
  if (bytes.size() < kMagic.size() ||
      std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    reader.fail("not an ELF file");
  }
  const auto header = reader.value<FileHeader>(0, "the file header");
  if (header.identity[4] != kClass32) reader.fail("a 64-bit ELF file, needed is 32-bit RISC-V");
  if (header.identity[5] != kLittleEndian) reader.fail("a big-endian ELF file");
  if (header.machine != kMachineRiscv) {
    reader.fail("for ELF machine {}, needed is {} (RISC-V)", header.machine, kMachineRiscv);
  }
  if (header.type == kTypeRelocatable) reader.fail("an object file; link it first");
  if (header.type != kTypeExecutable) reader.fail("not a statically linked program");
  if ((header.flags & kFlagCompressed) != 0) {
    reader.fail("has compressed instructions; compile for rv32imf without c");
  }
  if (header.segment_count > 0 && header.segment_size != sizeof(SegmentHeader)) {
    reader.fail("program headers of {} bytes, needed are {}", header.segment_size,
                sizeof(SegmentHeader));
  }
  if (header.section_count > 0 && header.section_size != sizeof(SectionHeader)) {
    reader.fail("section headers of {} bytes, needed are {}", header.section_size,
                sizeof(SectionHeader));
  }
  return header;
}

Segment read_segment(const Reader& reader, const SegmentHeader& header) {
  if (header.file_size > header.memory_size) {
    reader.fail("the segment at {:#x} has {} bytes in the file, {} in memory", header.address,
                header.file_size, header.memory_size);
  }
  if (std::uint64_t{header.address} + header.memory_size > std::uint64_t{1} << 32) {
    reader.fail("the segment at {:#x} of {} bytes passes the end of memory", header.address,
                header.memory_size);
  }
  const auto bytes = reader.range(header.offset, header.file_size,
                                  fmt::format("the segment at {:#x}", header.address));
  Segment segment{header.address,
                  header.memory_size,
                  {bytes.begin(), bytes.end()},
                  (header.flags & kSegmentWritable) != 0,
                  (header.flags & kSegmentExecutable) != 0};
  const bool copied = header.physical_address != header.address && header.file_size > 0;
  if (copied) segment.copied_from = header.physical_address;
  return segment;
}

std::vector<Segment> read_segments(const Reader& reader, const FileHeader& header) {
  std::vector<Segment> segments;
  for (std::uint32_t i = 0; i < header.segment_count; ++i) {
    const auto one = reader.value<SegmentHeader>(
        header.segments + std::uint64_t{i} * sizeof(SegmentHeader), "the program header table");
    if (one.type == kSegmentDynamic || one.type == kSegmentInterpreter) {
      reader.fail("needs dynamic linking; link it with -static");
    }
    if (one.type == kSegmentLoad && one.memory_size > 0) {
      segments.push_back(read_segment(reader, one));
    }
  }
  std::ranges::stable_sort(segments, {}, &Segment::address);
  for (std::size_t i = 1; i < segments.size(); ++i) {
    const Segment& before = segments[i - 1];
    if (std::uint64_t{before.address} + before.memory_bytes > segments[i].address) {
      reader.fail("the segments at {:#x} and {:#x} overlap", before.address, segments[i].address);
    }
  }
  if (segments.empty()) reader.fail("has nothing to load");
  return segments;
}

std::string read_name(const Reader& reader, std::span<const std::byte> names, std::uint32_t at) {
  if (at >= names.size()) reader.fail("a symbol's name lies outside the string table");
  const auto end = std::find(names.begin() + at, names.end(), std::byte{0});
  if (end == names.end()) reader.fail("the string table does not end");
  std::string name(static_cast<std::size_t>(end - names.begin()) - at, '\0');
  std::memcpy(name.data(), names.data() + at, name.size());
  return name;
}

void read_symbols(const Reader& reader, const SectionHeader& table, const SectionHeader& strings,
                  Program& program) {
  const auto names = reader.range(strings.offset, strings.size, "the string table");
  const auto entries = reader.range(table.offset, table.size, "the symbol table");
  const std::uint32_t count = table.size / std::uint32_t{sizeof(SymbolEntry)};
  for (std::uint32_t i = 0; i < count; ++i) {
    SymbolEntry entry;
    std::memcpy(&entry, entries.data() + std::size_t{i} * sizeof entry, sizeof entry);
    const unsigned type = entry.info & 15U;
    if (entry.section == kSectionUndefined || (type != kSymbolPlain && type != kSymbolFunction))
      continue;
    std::string name = read_name(reader, names, entry.name);
    if (name == kGlobalPointer) program.global_pointer = entry.value;
    if (entry.section >= kSectionFirstReserved) continue;
    if (name.empty() || name.starts_with('.') || name.starts_with('$')) continue;
    program.symbols.push_back({std::move(name), entry.value, entry.size, type == kSymbolFunction,
                               entry.info >> 4 != kBindingLocal});
  }
}

void add_code(const Reader& reader, const SectionHeader& section, Program& program) {
  const bool loaded = std::ranges::any_of(program.segments, [&](const Segment& one) {
    return one.address <= section.address && std::uint64_t{section.address} + section.size <=
                                                 std::uint64_t{one.address} + one.memory_bytes;
  });
  if (!loaded) {
    reader.fail("the section of {} bytes of code at {:#x} lies in no segment", section.size,
                section.address);
  }
  program.code.push_back({section.address, section.size});
}

void read_sections(const Reader& reader, const FileHeader& header, Program& program) {
  const auto section = [&](std::uint32_t i) {
    return reader.value<SectionHeader>(header.sections + std::uint64_t{i} * sizeof(SectionHeader),
                                       "the section header table");
  };
  for (std::uint32_t i = 0; i < header.section_count; ++i) {
    const SectionHeader one = section(i);
    const bool relocations = one.type == kSectionRelocations || one.type == kSectionRelocationsAdd;
    if (relocations && one.size > 0) program.relocations = true;
    const bool code = one.type == kSectionBits && (one.flags & kSectionExecutable) != 0;
    if (code && one.size > 0) add_code(reader, one, program);
    if (one.type != kSectionSymbols) continue;
    if (one.link >= header.section_count) reader.fail("the symbol table has no string table");
    read_symbols(reader, one, section(one.link), program);
  }
  std::ranges::sort(program.symbols, [](const Symbol& a, const Symbol& b) {
    return std::tie(a.address, a.name) < std::tie(b.address, b.name);
  });
}

}  // namespace

Program read(std::span<const std::byte> bytes, const std::string& name) {
  const Reader reader(bytes, name);
  const FileHeader header = read_header(reader, bytes);
  Program program{name, header.entry, read_segments(reader, header), {}, {}, false};
  read_sections(reader, header, program);
  if (header.section_count > 0) return program;
  for (const Segment& segment : program.segments) {
    const auto size = static_cast<std::uint32_t>(segment.bytes.size());
    if (segment.executable) program.code.push_back({segment.address, size});
  }
  return program;
}

Program read_file(const std::filesystem::path& path) {
  const std::string text = data::read_file(path);
  return read(std::as_bytes(std::span(text)), path.string());
}

}  // namespace tessera::elf
