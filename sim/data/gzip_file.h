#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace tessera::data {

constexpr std::uint64_t kMostUnzippedBytes = std::uint64_t{4} << 30;

/// A whole file as read_file() has it; of one that gzip has compressed, what it holds, up to 4 GiB.
/// One that is cut off or broken is a UserError.
std::string read_unzipped(const std::filesystem::path& path);

}  // namespace tessera::data
