#pragma once

#include <array>
#include <cstdint>

/// The ELF32 structures and constants that elf.cpp reads. Source: System V ABI, chapters 4 and 5,
/// and the RISC-V ELF psABI. The host is little-endian like the files.
namespace tessera::elf {

struct FileHeader {
  std::array<std::uint8_t, 16> identity;
  std::uint16_t type;
  std::uint16_t machine;
  std::uint32_t version;
  std::uint32_t entry;
  std::uint32_t segments;
  std::uint32_t sections;
  std::uint32_t flags;
  std::uint16_t header_size;
  std::uint16_t segment_size;
  std::uint16_t segment_count;
  std::uint16_t section_size;
  std::uint16_t section_count;
  std::uint16_t section_names;
};

struct SegmentHeader {
  std::uint32_t type;
  std::uint32_t offset;
  std::uint32_t address;
  std::uint32_t physical_address;
  std::uint32_t file_size;
  std::uint32_t memory_size;
  std::uint32_t flags;
  std::uint32_t align;
};

struct SectionHeader {
  std::uint32_t name;
  std::uint32_t type;
  std::uint32_t flags;
  std::uint32_t address;
  std::uint32_t offset;
  std::uint32_t size;
  std::uint32_t link;
  std::uint32_t info;
  std::uint32_t align;
  std::uint32_t entry_size;
};

struct SymbolEntry {
  std::uint32_t name;
  std::uint32_t value;
  std::uint32_t size;
  std::uint8_t info;
  std::uint8_t other;
  std::uint16_t section;
};

static_assert(sizeof(FileHeader) == 52 && sizeof(SegmentHeader) == 32);
static_assert(sizeof(SectionHeader) == 40 && sizeof(SymbolEntry) == 16);

inline constexpr std::uint8_t kClass32 = 1;
inline constexpr std::uint8_t kLittleEndian = 1;
inline constexpr std::uint16_t kTypeRelocatable = 1;
inline constexpr std::uint16_t kTypeExecutable = 2;
inline constexpr std::uint16_t kMachineRiscv = 243;
inline constexpr std::uint32_t kFlagCompressed = 1;

inline constexpr std::uint32_t kSegmentLoad = 1;
inline constexpr std::uint32_t kSegmentDynamic = 2;
inline constexpr std::uint32_t kSegmentInterpreter = 3;
inline constexpr std::uint32_t kSegmentExecutable = 1;
inline constexpr std::uint32_t kSegmentWritable = 2;

inline constexpr std::uint32_t kSectionBits = 1;
inline constexpr std::uint32_t kSectionExecutable = 4;  // in flags
inline constexpr std::uint32_t kSectionSymbols = 2;
inline constexpr std::uint32_t kSectionRelocationsAdd = 4;
inline constexpr std::uint32_t kSectionRelocations = 9;
inline constexpr std::uint16_t kSectionUndefined = 0;
inline constexpr std::uint16_t kSectionFirstReserved = 0xff00;

inline constexpr unsigned kSymbolPlain = 0;
inline constexpr unsigned kSymbolFunction = 2;
inline constexpr unsigned kBindingLocal = 0;

}  // namespace tessera::elf
