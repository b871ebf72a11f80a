#pragma once

#include <string>

/// Temporary files: their names say who writes them, so that what a killed process left can be told
/// from what another one is writing.
namespace tessera {

/// The ending of every temporary name.
inline constexpr const char* kTemporaryEnding = ".tmp";

/// `path`.HOST.PROCESS.tmp: of this process alone, also among hosts that share the folder. A file
/// name that would become too long is shortened.
std::string temporary_name(const std::string& path);

/// Removes from the folder, if there is one, the temporary files of processes of this host that are
/// no more, and of other hosts those that nobody has written to for an hour.
void remove_leftovers(const std::string& folder);

}  // namespace tessera
