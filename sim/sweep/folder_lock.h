#pragma once

#include <optional>
#include <string>

#include "sim/base/unfinished.h"

namespace tessera::sweep {

/// The right to write a sweep or a run into a folder, for this object's or its process's lifetime:
/// an fcntl lock on OUT/sweep.lock or OUT/run.lock, which names its owner. Shards of one sweep
/// share it. On a file system without locks it is always granted.
class FolderLock {
 public:
  /// The work that the lock file names: "sweep" or "run", and its name, for people.
  struct Work {
    std::string kind;
    std::string name;
  };

  /// `points` identifies the sweep. Throws UserError that names the owner and its start; HostLimit
  /// if the file cannot be written, which then does not remain.
  FolderLock(const std::string& folder, Work work, const std::string& points = "",
             bool is_shard = false);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  void open();
  void close();
  bool acquire(const std::string& owner, const std::string& points);
  /// Takes the lock, or changes its kind: F_WRLCK or F_RDLCK. False if another process holds it.
  [[nodiscard]] bool lock(short kind) const;
  [[nodiscard]] bool is_in_place() const;
  void write(const std::string& owner);
  [[noreturn]] void refuse(const std::string& folder) const;

  Work work_;
  std::string file_;
  bool is_shard_;
  int descriptor_ = -1;
  std::optional<Unfinished> unfinished_;  ///< without shards: a signal removes the file too
};

}  // namespace tessera::sweep
