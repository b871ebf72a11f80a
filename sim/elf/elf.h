#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Reads statically linked RV32 programs. Leaves out dynamic linking and debug information.
namespace tessera::elf {

/// A range of the program's memory; it is zero from `bytes` up to `memory_bytes`.
struct Segment {
  std::uint32_t address;
  std::uint32_t memory_bytes;
  std::vector<std::byte> bytes;
  bool writable;
  bool executable;
  /// Load address if start-up code copies the bytes from elsewhere (ROM).
  std::optional<std::uint32_t> copied_from = std::nullopt;
};

/// A function or label in a segment.
struct Symbol {
  std::string name;
  std::uint32_t address;
  std::uint32_t size;
  bool function;
  bool global;
};

/// Addresses that hold instructions.
struct CodeRange {
  std::uint32_t address;
  std::uint32_t size;
};

struct Program {
  std::string name;  ///< shown in messages, usually the file's path
  std::uint32_t entry;
  std::vector<Segment> segments;     ///< sorted by address, without overlap
  std::vector<Symbol> symbols;       ///< sorted by address, then name
  std::vector<CodeRange> code;       ///< executable sections; without sections, executable segments
  bool relocations;                  ///< some are left: the code is not fully linked
  std::uint32_t global_pointer = 0;  ///< required value of gp (`__global_pointer$`); 0: any
};

/// Reads the bytes of an ELF file. Throws UserError naming the file and the problem: not ELF,
/// 64-bit, not RISC-V, compressed code, not statically linked, parts outside the file.
Program read(std::span<const std::byte> bytes, const std::string& name);

/// Reads a program from disk.
Program read_file(const std::filesystem::path& path);

}  // namespace tessera::elf
