#include "sim/base/parallel.h"

#include <algorithm>
#include <system_error>

#include "sim/base/host_limit.h"

namespace tessera {
namespace {

constexpr std::uint64_t kPieceMask = 0xffffffff;
// Polls for about 20 microseconds before a helper sleeps; the next superstep usually comes sooner.
constexpr int kPolls = 4000;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

HostThreads::HostThreads(unsigned threads) {
  try {
    for (unsigned i = 1; i < threads; ++i) helpers_.emplace_back([this] { help(); });
  } catch (const std::system_error& error) {
    const unsigned got = count();
    end_helpers();
    throw HostLimit(fmt::format("the host gives {} of {} threads (run.threads): {}", got, threads,
                                error.code().message()));
  } catch (...) {
    end_helpers();
    throw;
  }
}

HostThreads::~HostThreads() { end_helpers(); }

void HostThreads::end_helpers() {
  leaving_.store(true);
  job_.fetch_add(kPieceMask + 1);
  job_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void HostThreads::for_ranges(std::size_t items, std::size_t grain, const Body& body) {
  if (items == 0) return;
  grain = std::max<std::size_t>({grain, 1, items / kPieceMask + 1});
  if (helpers_.empty() && items <= grain) return body(0, items);
  body_ = &body;
  items_ = items;
  grain_ = grain;
  pieces_ = (items + grain - 1) / grain;
  failure_ = nullptr;
  unfinished_.store(pieces_, std::memory_order_relaxed);
  const std::uint64_t number = (job_.load(std::memory_order_relaxed) >> 32) + 1;
  job_.store(number << 32 | pieces_, std::memory_order_release);
  if (pieces_ > 1 && !helpers_.empty()) job_.notify_all();
  while (run_piece()) {
  }
  for (int polls = 0; unfinished_.load(std::memory_order_acquire) != 0; ++polls) {
    relax();
    if (polls > kPolls) std::this_thread::yield();
  }
  if (failure_) std::rethrow_exception(failure_);
}

bool HostThreads::run_piece() {
  std::uint64_t word = job_.load(std::memory_order_acquire);
  while ((word & kPieceMask) != 0) {
    if (!job_.compare_exchange_weak(word, word - 1, std::memory_order_acq_rel)) continue;
    run_range(pieces_ - (word & kPieceMask));
    unfinished_.fetch_sub(1, std::memory_order_acq_rel);
    return true;
  }
  return false;
}

void HostThreads::run_range(std::uint64_t piece) {
  const std::size_t begin = piece * grain_;
  try {
    (*body_)(begin, std::min(begin + grain_, items_));
  } catch (...) {
    const std::scoped_lock lock(failure_mutex_);
    if (failure_ && failed_piece_ < piece) return;
    failure_ = std::current_exception();
    failed_piece_ = piece;
  }
}

void HostThreads::help() {
  while (!leaving_.load(std::memory_order_relaxed)) {
    int polls = 0;
    while (run_piece()) {
    }
    std::uint64_t word = job_.load(std::memory_order_acquire);
    while ((word & kPieceMask) == 0 && ++polls < kPolls) {
      relax();
      word = job_.load(std::memory_order_acquire);
    }
    if ((word & kPieceMask) == 0 && !leaving_.load()) job_.wait(word);
  }
}

}  // namespace tessera
