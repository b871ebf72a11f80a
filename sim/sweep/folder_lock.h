#pragma once

#include <optional>
#include <string>

#include "sim/base/unfinished.h"

namespace tessera::sweep {

/// The right to write a sweep or a run into a folder, for as long as this lives or its process
/// does: by OUT/sweep.lock or OUT/run.lock, which says who has it, and a lock of the operating
/// system on it (fcntl). Shards of one sweep share it. On a file system without locks everybody has
/// it.
class FolderLock {
 public:
  /// Content of the lock: "sweep" or "run", and its name, for people.
  struct Work {
    std::string kind;
    std::string name;
  };

  /// `points`: what only the same sweep has. Throws UserError saying who has it and since when;
  /// HostLimit if the file cannot be written, of which nothing remains.
  FolderLock(const std::string& folder, Work work, const std::string& points = "",
             bool is_shard = false);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  void open();
  void close();
  bool acquire(const std::string& owner, const std::string& points);
  /// Takes the lock, or changes its kind: F_WRLCK or F_RDLCK. False if another process has it.
  [[nodiscard]] bool lock(short kind) const;
  [[nodiscard]] bool is_in_place() const;
  void write(const std::string& owner);
  [[noreturn]] void refuse(const std::string& folder) const;

  Work work_;
  std::string file_;
  bool is_shard_;
  int descriptor_ = -1;
  std::optional<Unfinished> unfinished_;  ///< set for the sole owner: a signal removes the file too
};

}  // namespace tessera::sweep
