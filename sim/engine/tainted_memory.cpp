#include "sim/engine/tainted_memory.h"

#include <algorithm>
#include <cstring>

#include "sim/base/host_limit.h"

namespace tessera::engine {
namespace {

// A byte's state: who knows it, in the low bits, and flags for permitted accesses.
enum Known : std::uint8_t {
  nothing = 0,
  all = 1,
  to_worker = 2,  ///< the running worker
  to_supervisor = 3,
  offered = 4,
  left = 5,  ///< by an ended worker while others may run
  to_workers = 6
};
constexpr std::uint8_t kKnownBits = 7;
constexpr std::uint8_t kKept = 8;
constexpr std::uint8_t kPinned = 16;
constexpr std::uint8_t kByWorker = 32;
constexpr std::uint8_t kBySupervisor = 64;
constexpr std::uint8_t kReadKnown = 128;  // read while known

/// Bitwise OR of the states.
std::uint8_t any_of(const std::uint8_t* states, std::uint32_t count) {
  std::uint8_t bits = 0;
  for (std::uint32_t i = 0; i < count; ++i) bits |= states[i];
  return bits;
}

bool is_all(const std::uint8_t* states, std::uint32_t count, std::uint8_t state) {
  return states[0] == state && std::memcmp(states, states + 1, count - 1) == 0;
}

}  // namespace

Taint TaintSets::number(std::vector<std::uint32_t> buffers) {
  constexpr std::size_t kMostSets = 1000;  // beyond this, taints become kUnknown
  const auto found = std::ranges::find(sets_, buffers);
  if (found == sets_.end() && sets_.size() == kMostSets) return kUnknown;
  const auto at = static_cast<std::size_t>(found - sets_.begin());
  if (found == sets_.end()) sets_.push_back(std::move(buffers));
  return static_cast<Taint>(kUnknown + 1 + at);
}

Taint TaintSets::of(std::uint32_t buffer) { return number({buffer}); }

Taint TaintSets::join(Taint a, Taint b) {
  if (a == b || b == kKnown) return a;
  if (a == kKnown) return b;
  if (a == kUnknown || b == kUnknown) return kUnknown;
  std::vector<std::uint32_t> both;
  std::ranges::set_union(buffers(a), buffers(b), std::back_inserter(both));
  return number(std::move(both));
}

std::span<const std::uint32_t> TaintSets::buffers(Taint taint) const {
  if (taint <= kUnknown) return {};
  return sets_[taint - kUnknown - 1];
}

TaintedMemory::TaintedMemory(std::uint32_t size)
    : size_(size), zeros_(std::max<std::size_t>(2 * std::size_t{size}, 1)) {
  if (zeros_.data() == nullptr) throw HostLimit("the host has no memory for a timing run");
  zeros_.use_huge_pages(false);
  bytes_ = zeros_.data();
  states_ = reinterpret_cast<std::uint8_t*>(zeros_.data() + size);
}

void TaintedMemory::know(std::uint32_t address, std::span<const std::byte> bytes) {
  std::ranges::copy(bytes, bytes_ + address);
  std::memset(states_ + address, all, bytes.size());
}

void TaintedMemory::receive(std::uint32_t address, std::uint32_t bytes) {
  std::uint8_t* const states = states_ + address;
  overwritten_ |= (any_of(states, bytes) & kReadKnown) != 0;
  for (std::uint32_t i = 0; i < bytes; ++i)
    states[i] = static_cast<std::uint8_t>((states[i] & ~(kKnownBits | kReadKnown)) | kPinned);
}

void TaintedMemory::land(std::uint32_t address, std::uint32_t bytes) {
  std::uint8_t* const states = states_ + address;
  for (std::uint32_t i = 0; i < bytes; ++i) states[i] &= static_cast<std::uint8_t>(~kPinned);
}

void TaintedMemory::offer(std::uint32_t address, std::uint32_t bytes, std::uint32_t buffer) {
  std::memset(states_ + address, offered, bytes);
  offers_.push_back({address, address + bytes, buffer, kKnown});
}

void TaintedMemory::keep(std::uint32_t address, std::uint32_t bytes) {
  for (std::uint32_t i = 0; i < bytes; ++i) states_[address + i] |= kKept;
}

void TaintedMemory::bring(std::uint32_t address, std::span<const std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::uint8_t& state = states_[address + i];
    if ((state & (kPinned | kByWorker | kBySupervisor)) != 0) continue;
    state = static_cast<std::uint8_t>((state & ~kKnownBits) | all);
    bytes_[address + i] = bytes[i];
  }
}

void TaintedMemory::offer_brought(std::uint32_t address, std::uint32_t bytes,
                                  std::uint32_t buffer) {
  withdraw(address, address + bytes);
  for (std::uint32_t i = 0; i < bytes; ++i) {
    std::uint8_t& state = states_[address + i];
    if ((state & (kKnownBits | kPinned | kByWorker | kBySupervisor)) == nothing) state |= offered;
  }
  offers_.push_back({address, address + bytes, buffer, kKnown});
}

/// Withdraws all offers that overlap these bytes.
void TaintedMemory::withdraw(std::uint32_t begin, std::uint32_t end) {
  std::erase_if(offers_, [&](const Offer& offer) {
    if (offer.begin >= end || offer.end <= begin) return false;
    for (std::uint32_t i = offer.begin; i < offer.end; ++i) {
      std::uint8_t& state = states_[i];
      if ((state & kKnownBits) == offered) state &= static_cast<std::uint8_t>(~kKnownBits);
    }
    return true;
  });
}

/// Uses the last lookup: adjacent bytes are read in sequence.
Taint TaintedMemory::taint_of_offer(std::uint32_t address, TaintSets& sets) {
  const auto holds = [address](const Offer& each) {
    return address >= each.begin && address < each.end;
  };
  if (last_ >= offers_.size() || !holds(offers_[last_]))
    last_ = static_cast<std::size_t>(std::ranges::find_if(offers_, holds) - offers_.begin());
  Offer& offer = offers_[last_];
  if (offer.taint == kKnown) offer.taint = sets.of(offer.buffer);
  return offer.taint;
}

void TaintedMemory::clear_unknown() {
  for (std::uint32_t i = 0; i < size_; ++i)
    if ((states_[i] & (kKnownBits | kKept | kPinned)) == nothing) bytes_[i] = std::byte{};
}

Taint TaintedMemory::read(std::uint32_t address, std::uint32_t count, Who who, TaintSets& sets) {
  const std::uint8_t own = who == Who::worker ? to_worker : to_supervisor;
  Taint taint = kKnown;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint8_t& state = states_[address + i];
    const std::uint8_t known = state & kKnownBits;
    if (known == all || (known == to_workers && who == Who::worker))
      state |= kReadKnown;
    else if (known == offered)
      taint = sets.join(taint, taint_of_offer(address + i, sets));
    else if (known != own)
      return kUnknown;
  }
  return taint;
}

bool TaintedMemory::write(std::uint32_t address, std::uint32_t count, Who who, const void* known) {
  std::uint8_t* const states = states_ + address;
  const bool worker = who == Who::worker;
  if (worker && known == nullptr && is_all(states, count, kByWorker)) return true;  // once more
  const std::uint8_t by = worker ? kByWorker : kBySupervisor;
  const std::uint8_t refused = kKept | (worker ? kBySupervisor : kByWorker);
  const std::uint8_t now = known == nullptr ? nothing : worker ? to_worker : to_supervisor;
  const std::uint8_t before = any_of(states, count);
  if ((before & refused) != 0) return false;
  if (worker && known != nullptr && holds(address, count, known)) {
    leaves_ = true;
    return true;
  }
  if ((before & kReadKnown) != 0) {
    overwritten_ = true;
    if (worker)
      for (std::uint32_t i = 0; i < count; ++i)
        replaced_.emplace_back(address + i, bytes_[address + i]);
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    // Two calls wrote it, possibly by two workers in unknown order.
    const bool twice = (states[i] & kKnownBits) == left;
    const auto state = static_cast<std::uint8_t>((states[i] & ~(kKnownBits | kReadKnown)) | by);
    states[i] = (state & kPinned) == 0 && !twice ? static_cast<std::uint8_t>(state | now) : state;
  }
  if (worker && known != nullptr) own_.emplace_back(address, count);
  return true;
}

/// True if all workers know these bytes and they equal `bytes`.
bool TaintedMemory::holds(std::uint32_t address, std::uint32_t count, const void* bytes) const {
  for (std::uint32_t i = 0; i < count; ++i)
    if ((states_[address + i] & kKnownBits) != to_workers) return false;
  return std::memcmp(bytes_ + address, bytes, count) == 0;
}

bool TaintedMemory::leave_own(std::uint32_t begin, std::uint32_t end) {
  bool leaves = std::exchange(leaves_, false);
  for (const auto& [address, count] : own_) {
    const bool its_own = address >= begin && address + count <= end;
    leaves |= !its_own;
    if (!its_own) left_.emplace_back(address, count);
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint8_t& state = states_[address + i];
      if ((state & kKnownBits) != to_worker) continue;
      state &= static_cast<std::uint8_t>(~kKnownBits);
      if (!its_own) state |= left;
    }
  }
  own_.clear();
  return leaves;
}

void TaintedMemory::join(bool alone) {
  for (const auto& [address, count] : left_)
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint8_t& state = states_[address + i];
      if ((state & kKnownBits) != left) continue;
      state = static_cast<std::uint8_t>((state & ~kKnownBits) | (alone ? to_workers : nothing));
    }
  left_.clear();
}

/// Restores in reverse order, so that the oldest byte wins.
void TaintedMemory::restore_replaced() {
  for (std::size_t i = replaced_.size(); i-- > 0;) bytes_[replaced_[i].first] = replaced_[i].second;
}

void TaintedMemory::forget_own() {
  leaves_ = false;
  replaced_.clear();
  for (const auto& [address, count] : own_)
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint8_t& state = states_[address + i];
      if ((state & kKnownBits) == to_worker) state &= static_cast<std::uint8_t>(~kKnownBits);
    }
  own_.clear();
}

}  // namespace tessera::engine
