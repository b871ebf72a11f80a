#pragma once

#include <filesystem>
#include <string>

namespace tessera::data {

/// The whole file. A missing or unreadable file is a UserError that names it and the reason.
std::string read_file(const std::filesystem::path& path);

}  // namespace tessera::data
