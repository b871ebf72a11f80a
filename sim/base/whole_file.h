#pragma once

#include <fstream>
#include <optional>
#include <string>

#include "sim/base/unfinished.h"

namespace tessera {

/// A file that appears whole or not at all: written under a temporary name in the same folder,
/// renamed by commit(). Without commit() nothing remains, even if a signal ends the process. A
/// symbolic link is kept and its target replaced. Devices and pipes, which cannot be replaced, are
/// written directly.
class WholeFile {
 public:
  /// Throws UserError or HostLimit, naming the file and the reason, as finish() and commit() do.
  explicit WholeFile(std::string path);
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;
  ~WholeFile();

  [[nodiscard]] std::ostream& out() { return out_; }
  /// Flushes and closes the temporary file; a lack of disk space throws here.
  void finish();
  void commit();

 private:
  std::string path_;                     ///< as given
  std::string target_;                   ///< the file that commit() replaces
  std::optional<Unfinished> temporary_;  ///< empty after commit(), and for a device or pipe
  std::ofstream out_;
};

/// Writes the whole text as a WholeFile. Throws as WholeFile does.
void write_whole(const std::string& path, const std::string& text);

/// Creates the folder and its parents. Throws UserError or HostLimit.
void create_folder(const std::string& folder);

}  // namespace tessera
