#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace tessera {

/// Child processes, one per item of work (SystemC allows one machine per process), or kept and
/// given one item after another. They end with this process, however it ends.
class Children {
 public:
  /// `yes`: a child that finished an item takes further ones. It runs the `work` of its first
  /// start() for all of them, so `work` may cache results.
  enum class Kept : std::uint8_t { no, yes };

  struct Finished {
    std::size_t item;
    std::string text;   ///< what `work` returned
    std::string death;  ///< how the process died, for messages; empty if it did not
    bool starved;       ///< killed by SIGKILL: the host ran out of memory
  };
  using Work = std::function<std::string(std::size_t)>;

  explicit Children(Kept kept = Kept::no) : kept_(kept) {}
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  /// Ends the running children; they remove their unfinished files.
  ~Children();

  /// Throws HostLimit if no process can be created.
  void start(std::size_t item, const Work& work);
  /// The last item answered by the idle child that start() would reuse; nullopt if start() would
  /// create a new child.
  [[nodiscard]] std::optional<std::size_t> last_of_next() const {
    return idle_.empty() ? std::nullopt : std::optional(idle_.back().item);
  }
  /// Ends idle kept children.
  void dismiss();
  [[nodiscard]] std::size_t running() const { return running_.size(); }
  /// Waits until a child finishes, `input` (unless negative) is readable, a signal that `signals`
  /// (unless null) lets through arrives, or `milliseconds` (unless negative) pass. Returns the
  /// finished children.
  std::vector<Finished> wait(int milliseconds = -1, int input = -1,
                             const sigset_t* signals = nullptr);

 private:
  struct Child {
    std::size_t item;
    pid_t process;
    int socket;
    std::string text;  ///< received so far; a kept child sends the length first
  };
  bool give_to_kept(std::size_t item);
  [[nodiscard]] std::optional<std::string> answer(const Child& child) const;
  static void end(const std::vector<Child>& children);

  Kept kept_;
  std::vector<Child> running_;
  std::vector<Child> idle_;  ///< kept children without work
};

/// Calls `work` for each of `count` items in a process of its own, `jobs` at a time, and passes the
/// outcomes to `done` in item order. `watch`, if given, is called ten times a second with the
/// number of finished items.
void run_in_children(std::size_t count, unsigned jobs, const Children::Work& work,
                     const std::function<void(const Children::Finished&)>& done,
                     const std::function<void(std::size_t)>& watch = {});

}  // namespace tessera
