#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace tessera::data {

/// The last part of a path, for headings: "/data/x.mtx" gives "x.mtx".
inline std::string file_name(const std::filesystem::path& path) { return path.filename().string(); }

/// Reads the whole file. Throws UserError naming path and reason if it is missing, unreadable, or
/// not a file (a folder, a pipe, a device).
std::string read_file(const std::filesystem::path& path);

/// Also reads from a pipe, such as a shell's <(...), up to 64 MiB.
std::string read_file_or_pipe(const std::filesystem::path& path);

constexpr std::uint64_t kMostUnzippedBytes = std::uint64_t{4} << 30;

/// Reads a whole file like read_file() and decompresses it, up to 4 GiB, if it is gzip. Truncated
/// or corrupt data is a UserError.
std::string read_unzipped(const std::filesystem::path& path);

}  // namespace tessera::data
