#include "sim/data/read_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "sim/base/errors.h"

namespace tessera::data {

std::string read_file(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) {
    throw UserError(fmt::format("{}: found a directory, expected a file", path.string()));
  }
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  if (!stream) {
    throw UserError(fmt::format("{}: cannot be read: {}", path.string(), std::strerror(errno)));
  }
  std::string text(static_cast<std::size_t>(stream.tellg()), '\0');
  stream.seekg(0);
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!stream) throw UserError(fmt::format("{}: could not be read to its end", path.string()));
  return text;
}

}  // namespace tessera::data
