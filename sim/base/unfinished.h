#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>

namespace tessera {

/// A file being written, or a folder made for such files. A signal that ends the process during
/// this object's lifetime removes it, a folder only if it is empty.
class Unfinished {
 public:
  explicit Unfinished(const std::string& path);
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  ~Unfinished();

  [[nodiscard]] const std::string& path() const { return *path_; }

 private:
  std::unique_ptr<const std::string> path_;
  std::size_t place_;  ///< index among all unfinished paths
};

/// Creates a folder and its missing parents. The destructor removes those it created, if empty.
class NewFolder {
 public:
  /// Throws UserError.
  explicit NewFolder(const std::string& folder);
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder();

 private:
  std::deque<Unfinished> made_;  ///< outermost first
};

/// After this, SIGINT, SIGTERM and SIGHUP (unless ignored) remove unfinished files and end the
/// process as interrupted; SIGXCPU does so as a host limit. Writing a file past its size limit
/// fails. A forked child that calls this leaves its parent's files alone. Prints `message`, a
/// literal, first unless it is null or the signal is SIGXCPU.
void clean_up_on_signals(const char* message = nullptr);

}  // namespace tessera
