#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera {

/// Host threads that share loops over independent items. Results must not depend on the number of
/// threads: a body may write only data of its own items.
class HostThreads {
 public:
  /// Calls body for the items [begin, end).
  using Body = std::function<void(std::size_t begin, std::size_t end)>;

  /// `threads` includes the caller; 0 counts as 1. Throws HostLimit if the host gives fewer.
  explicit HostThreads(unsigned threads);
  ~HostThreads();
  HostThreads(const HostThreads&) = delete;
  HostThreads& operator=(const HostThreads&) = delete;

  [[nodiscard]] unsigned count() const { return static_cast<unsigned>(helpers_.size()) + 1; }

  /// Runs body over [0, items) in pieces of at most `grain` items and returns when all are done.
  /// If several pieces throw, rethrows the exception of the lowest one. Not reentrant.
  void for_ranges(std::size_t items, std::size_t grain, const Body& body);

 private:
  void end_helpers();
  void help();
  bool run_piece();
  void run_range(std::uint64_t piece);

  // High half: number of the job; low half: pieces not yet taken. Both in one word, so that a
  // helper that wakes late cannot take a piece of a finished job.
  std::atomic<std::uint64_t> job_{0};
  std::atomic<std::uint64_t> unfinished_{0};
  std::atomic<bool> leaving_{false};
  const Body* body_ = nullptr;
  std::size_t items_ = 0;
  std::size_t grain_ = 1;
  std::uint64_t pieces_ = 0;
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
  std::uint64_t failed_piece_ = 0;
  std::vector<std::thread> helpers_;
};

}  // namespace tessera
