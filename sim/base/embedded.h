#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

/// The files that tools/cmake/embed.cmake embeds in this program.
namespace tessera::embedded {

struct File {
  std::string_view name;  ///< path in the source tree; tile code: kernels/NAME/codelets.elf
  std::span<const std::byte> bytes;
};

/// Files whose name starts with `prefix`, by name.
std::vector<File> files(std::string_view prefix);

/// The bytes of the file `name`; empty if there is no such file.
std::span<const std::byte> find(std::string_view name);

}  // namespace tessera::embedded
