#pragma once

#include <string>

/// Temporary files whose names hold host and process, to tell files left by killed processes from
/// files still being written.
namespace tessera {

/// The suffix of every temporary name.
inline constexpr const char* kTemporaryEnding = ".tmp";

/// Returns `path`.HOST.PROCESS.tmp, unique to this process among all hosts that share the folder.
/// Shortens a file name that would become too long.
std::string temporary_name(const std::string& path);

/// Removes temporary files from the folder, if it exists: those whose process on this host has
/// ended, and those of other hosts not written to for an hour.
void remove_leftovers(const std::string& folder);

}  // namespace tessera
