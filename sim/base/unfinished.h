#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>

namespace tessera {

/// A file that is being written, or a folder made for such files: while this lives, a signal that
/// ends the process removes it too, a folder if it is empty.
class Unfinished {
 public:
  explicit Unfinished(const std::string& path);
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  ~Unfinished();

  [[nodiscard]] const std::string& path() const { return *path_; }

 private:
  std::unique_ptr<const std::string> path_;
  std::size_t place_;  ///< among all
};

/// A folder and those above it, created. What was not there before goes again with this, unless
/// something lies in it.
class NewFolder {
 public:
  /// Throws UserError.
  explicit NewFolder(const std::string& folder);
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder();

 private:
  std::deque<Unfinished> made_;  ///< from the outermost on
};

/// From now on SIGINT, SIGTERM and SIGHUP (unless that is ignored) remove what is unfinished and
/// end the process as interrupted; SIGXCPU does so for want of time of the host. Files that grow
/// past their limit fail to be written. A forked child that calls it leaves its parent's things
/// alone. `message`, a literal, is said before; null: nothing.
void clean_up_on_signals(const char* message = nullptr);

}  // namespace tessera
