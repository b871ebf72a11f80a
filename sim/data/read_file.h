#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace tessera::data {

/// A path's last part, for headings: "/data/x.mtx" as "x.mtx".
inline std::string file_name(const std::filesystem::path& path) { return path.filename().string(); }

/// The whole file. One that is missing or unreadable, or no file (a folder, a pipe, a device), is a
/// UserError that names it and the reason.
std::string read_file(const std::filesystem::path& path);

/// Reads also from a pipe that somebody writes into, such as a shell's <(...), up to 64 MiB.
std::string read_file_or_pipe(const std::filesystem::path& path);

constexpr std::uint64_t kMostUnzippedBytes = std::uint64_t{4} << 30;

/// A whole file as read_file() has it; of one that gzip has compressed, what it holds, up to 4 GiB.
/// One that is cut off or broken is a UserError.
std::string read_unzipped(const std::filesystem::path& path);

}  // namespace tessera::data
