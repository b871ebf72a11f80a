#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Reads statically linked RV32 programs. Knows nothing of dynamic linking and debug information.
namespace tessera::elf {

/// Bytes that the program wants in memory; beyond `bytes` up to `memory_bytes` they are zero.
struct Segment {
  std::uint32_t address;
  std::uint32_t memory_bytes;
  std::vector<std::byte> bytes;
  bool writable;
  bool executable;
  /// Where start-up code copies its bytes from, if that lies elsewhere (ROM).
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
  std::string name;  ///< name in messages, mostly the file's path
  std::uint32_t entry;
  std::vector<Segment> segments;     ///< by address, without overlap
  std::vector<Symbol> symbols;       ///< by address, then name
  std::vector<CodeRange> code;       ///< executable sections; without sections, executable segments
  bool relocations;                  ///< some are left: the code is not finished
  std::uint32_t global_pointer = 0;  ///< required value of gp (`__global_pointer$`); 0: none
};

/// Reads the bytes of an ELF file. UserError naming the file and what is wrong: not ELF, 64-bit,
/// not RISC-V, compressed code, not statically linked, parts that lie outside the file.
Program read(std::span<const std::byte> bytes, const std::string& name);

/// Reads a program from disk.
Program read_file(const std::filesystem::path& path);

}  // namespace tessera::elf
