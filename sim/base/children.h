#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace tessera {

/// Processes of our own, one an item of work (SystemC has one machine at a time), or kept for one
/// item after another. They end with this process, however it ends.
class Children {
 public:
  /// Kept: a child that has finished an item takes further ones. All are done by the `work` of its
  /// first start, which may remember results.
  enum class Kept : std::uint8_t { no, yes };

  struct Finished {
    std::size_t item;
    std::string text;   ///< returned by its work
    std::string death;  ///< how it died instead, for people; empty: it did not
    bool starved;       ///< the host had not enough (its kernel sends SIGKILL then)
  };
  using Work = std::function<std::string(std::size_t)>;

  explicit Children(Kept kept = Kept::no) : kept_(kept) {}
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  /// Ends those that still run; they leave nothing unfinished.
  ~Children();

  /// Throws HostLimit if there is no process to be had.
  void start(std::size_t item, const Work& work);
  /// The item that the child that start() would use answered last; nothing: start() would make a
  /// new child.
  [[nodiscard]] std::optional<std::size_t> last_of_next() const {
    return idle_.empty() ? std::nullopt : std::optional(idle_.back().item);
  }
  /// Ends kept children that have nothing to do.
  void dismiss();
  [[nodiscard]] std::size_t running() const { return running_.size(); }
  /// Waits until a child has finished, `input` (unless negative) can be read, a signal that
  /// `signals` (unless null) lets through has come, or so many milliseconds (unless negative) have
  /// gone by. Returns the children that have finished.
  std::vector<Finished> wait(int milliseconds = -1, int input = -1,
                             const sigset_t* signals = nullptr);

 private:
  struct Child {
    std::size_t item;
    pid_t process;
    int socket;
    std::string text;  ///< that has come: of a kept child behind its length
  };
  bool give_to_kept(std::size_t item);
  [[nodiscard]] std::optional<std::string> answer(const Child& child) const;
  static void end(const std::vector<Child>& children);

  Kept kept_;
  std::vector<Child> running_;
  std::vector<Child> idle_;  ///< kept
};

/// Calls `work` for each of `count` items in a process of its own, `jobs` at a time, and hands the
/// outcomes to `done` in the items' order. `watch`, if given, hears ten times a second how many
/// have ended.
void run_in_children(std::size_t count, unsigned jobs, const Children::Work& work,
                     const std::function<void(const Children::Finished&)>& done,
                     const std::function<void(std::size_t)>& watch = {});

}  // namespace tessera
