#pragma once

#include <fstream>
#include <optional>
#include <string>

#include "sim/base/unfinished.h"

namespace tessera {

/// A file that appears whole or not at all: written under a temporary name beside its own, renamed
/// by commit(). What is not committed leaves nothing, also if a signal ends the process. A symbolic
/// link stays one: the file that it names is replaced. Devices and pipes, which cannot be replaced,
/// are written as they are.
class WholeFile {
 public:
  /// Throws UserError or HostLimit, naming the file and the reason, as finish() and commit() do.
  explicit WholeFile(std::string path);
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;
  ~WholeFile();

  [[nodiscard]] std::ostream& out() { return out_; }
  /// Ends the writing under the temporary name: what can fail for want of room has not failed.
  void finish();
  void commit();

 private:
  std::string path_;                     ///< as given
  std::string target_;                   ///< the file that commit() replaces
  std::optional<Unfinished> temporary_;  ///< nothing once it is committed, and for a device or pipe
  std::ofstream out_;
};

/// The whole text as such a file. Throws as it does.
void write_whole(const std::string& path, const std::string& text);

/// Creates the folder and those above it. Throws UserError or HostLimit.
void create_folder(const std::string& folder);

}  // namespace tessera
