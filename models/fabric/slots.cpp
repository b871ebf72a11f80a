#include "models/fabric/slots.h"

#include <algorithm>
#include <array>
#include <bit>

namespace tessera::fabric {
namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};

/// slots &= slots moved `distance` towards zero.
void intersect_later(std::span<std::uint64_t> slots, std::uint32_t distance) {
  const std::size_t words = distance / 64;
  const std::uint32_t bits = distance % 64;
  const std::size_t size = slots.size();
  const std::size_t whole = size > words + 1 ? size - words - 1 : 0;
  for (std::size_t i = 0; i < whole; ++i) {
    if (slots[i] == 0) continue;  // as most are once a schedule is nearly full
    // A shift by 64 is undefined: the upper part is moved in two steps.
    slots[i] &= slots[i + words] >> bits | slots[i + words + 1] << 1 << (63 - bits);
  }
  for (std::size_t i = whole; i < size; ++i) {
    slots[i] &= i + words < size ? slots[i + words] >> bits : 0;
  }
}

/// The first slot at or after `from` that is in the set (`contained`) or not in it.
std::size_t next_slot(std::span<const std::uint64_t> slots, std::size_t from, bool contained) {
  const std::uint64_t flip = contained ? 0 : kAll;
  std::size_t word = from / 64;
  if (word >= slots.size()) return slots.size() * 64;
  std::uint64_t bits = (slots[word] ^ flip) & kAll << from % 64;
  while (bits == 0) {
    if (++word == slots.size()) return word * 64;
    bits = slots[word] ^ flip;
  }
  return word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
}

void remove_slots(std::span<std::uint64_t> slots, std::size_t begin, std::size_t end) {
  while (begin < end) {
    const std::size_t count = std::min(end - begin, 64 - begin % 64);
    slots[begin / 64] &= ~(kAll >> (64 - count) << begin % 64);
    begin += count;
  }
}

constexpr std::size_t kBlock = kSlotBlock / 64;
using Block = std::array<std::uint64_t, kBlock>;

Block load(const std::uint64_t* from) {
  Block block;
  std::copy_n(from, kBlock, block.begin());
  return block;
}

bool any(const Block& block) {
  std::uint64_t bits = 0;
  for (const std::uint64_t word : block) bits |= word;
  return bits != 0;
}

}  // namespace

void BusySlots::occupy(std::uint32_t slot, std::uint32_t length) {
  const std::size_t last = (std::size_t{slot} + length - 1) / 64;
  if (words_.size() <= last) words_.resize(last + 1, 0);
  taken_.resize(words_.size() * planes_, 0);
  std::uint32_t at = slot;
  const std::uint32_t end = slot + length;
  while (at < end) {
    const std::uint32_t count = std::min(end - at, 64 - at % 64);
    const std::uint64_t slots = (count == 64 ? kAll : (std::uint64_t{1} << count) - 1) << (at % 64);
    words_[at / 64] |= take_lane(at / 64, slots);
    at += count;
  }
  drop_starts(slot, length);
}

void BusySlots::drop_starts(std::uint32_t slot, std::uint32_t length) {
  if (start_length_ == 0) return;
  if (lanes_ > 1) {  // another lane may be free
    start_length_ = 0;
    return;
  }
  const std::size_t before = std::min(start_length_ - 1, slot);
  const std::size_t end = std::min<std::size_t>(std::size_t{slot} + length, starts_.size() * 64);
  remove_slots(starts_, slot - before, end);
}

std::span<const std::uint64_t> BusySlots::starts(std::uint32_t length, std::uint64_t count,
                                                 std::size_t words) {
  if (start_length_ != length || start_count_ != count || starts_.size() != words) {
    starts_.resize(words);
    free_slots(starts_, count);
    keep_runs(starts_, length);
    start_length_ = length;
    start_count_ = count;
  }
  return starts_;
}

std::uint64_t BusySlots::take_lane(std::size_t word, std::uint64_t slots) {
  std::uint64_t carry = slots;
  std::uint64_t full = slots;
  for (std::uint32_t i = 0; i < planes_; ++i) {
    std::uint64_t& plane = taken_[word * planes_ + i];
    const std::uint64_t sum = plane ^ carry;
    carry &= plane;
    plane = sum;
    full &= (lanes_ >> i & 1) != 0 ? plane : ~plane;
  }
  return full;
}

bool BusySlots::is_free(std::uint32_t slot, std::uint32_t length) const {
  const std::uint64_t end =
      std::min<std::uint64_t>(std::uint64_t{slot} + length, words_.size() * 64);
  return slot >= end || next_slot(words_, slot, true) >= end;
}

void BusySlots::free_slots(std::span<std::uint64_t> out, std::uint64_t count) const {
  const std::size_t size = std::min({out.size(), words_.size(), std::size_t{count / 64}});
  for (std::size_t i = 0; i < size; ++i) out[i] = ~words_[i];
  fill_slots(out.subspan(size), count - size * 64);
  for (std::size_t i = size; i < std::min(out.size(), words_.size()); ++i) out[i] &= ~words_[i];
}

void fill_slots(std::span<std::uint64_t> slots, std::uint64_t count) {
  const std::size_t whole = std::min<std::size_t>(count / 64, slots.size());
  std::fill_n(slots.begin(), whole, kAll);
  if (whole == slots.size()) return;
  std::fill(slots.begin() + static_cast<std::ptrdiff_t>(whole), slots.end(), 0);
  slots[whole] = (std::uint64_t{1} << count % 64) - 1;
}

void keep_runs(std::span<std::uint64_t> slots, std::uint32_t length) {
  constexpr std::uint32_t kShort = 8;  // up to here the shift-and-AND of all runs takes fewer steps
  if (length <= kShort) {
    for (std::uint32_t have = 1; have < length;) {
      const std::uint32_t step = std::min(have, length - have);
      intersect_later(slots, step);
      have += step;
    }
    return;
  }
  const std::size_t size = slots.size() * 64;
  std::size_t end = 0;
  for (;;) {
    const std::size_t begin = next_slot(slots, end, true);
    if (begin == size) return;
    end = next_slot(slots, begin, false);
    remove_slots(slots, end - std::min<std::size_t>(length - 1, end - begin), end);
  }
}

void move_earlier(std::span<const std::uint64_t> from, std::uint64_t distance,
                  std::span<std::uint64_t> to) {
  const std::size_t words = distance / 64;
  const std::uint32_t bits = distance % 64;
  for (std::size_t i = 0; i < to.size(); ++i) {
    // A shift by 64 is undefined: the upper part is moved in two steps.
    to[i] = from[i + words] >> bits | from[i + words + 1] << 1 << (63 - bits);
  }
}

std::optional<std::uint32_t> first_slot(std::span<const std::uint64_t> slots) {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] != 0) {
      return static_cast<std::uint32_t>(i * 64) +
             static_cast<std::uint32_t>(std::countr_zero(slots[i]));
    }
  }
  return std::nullopt;
}

std::optional<std::uint32_t> first_common_slot(
    std::span<const std::uint64_t> slots, std::span<const std::span<const std::uint64_t>> others) {
  for (std::size_t i = 0; i < slots.size(); i += kBlock) {
    Block common = load(&slots[i]);
    for (std::size_t k = 0; k < others.size() && any(common); ++k)
      for (std::size_t word = 0; word < kBlock; ++word) common[word] &= others[k][i + word];
    if (const auto slot = first_slot(common)) return static_cast<std::uint32_t>(i * 64) + *slot;
  }
  return std::nullopt;
}

void SlotCounter::reset(std::size_t words, std::uint32_t most) {
  words_ = words;
  planes_ = static_cast<std::size_t>(std::bit_width(most));
  bits_.assign(words_ * planes_, 0);
}

void SlotCounter::add(std::span<const std::uint64_t> slots) {
  for (std::size_t i = 0; i < words_; i += kBlock) {
    Block carry = load(&slots[i]);
    for (std::uint64_t* plane = &bits_[i * planes_]; any(carry); plane += kBlock) {
      for (std::size_t k = 0; k < kBlock; ++k) {
        const std::uint64_t sum = plane[k] ^ carry[k];
        carry[k] &= plane[k];
        plane[k] = sum;
      }
    }
  }
}

void SlotCounter::subtract(std::span<const std::uint64_t> slots) {
  for (std::size_t i = 0; i < words_; i += kBlock) {
    Block borrow = load(&slots[i]);
    for (std::uint64_t* plane = &bits_[i * planes_]; any(borrow); plane += kBlock) {
      for (std::size_t k = 0; k < kBlock; ++k) {
        plane[k] ^= borrow[k];
        borrow[k] &= plane[k];
      }
    }
  }
}

std::optional<std::uint32_t> SlotCounter::best(std::span<const std::uint64_t> candidates) {
  best_.assign(candidates.begin(), candidates.end());
  narrowed_.resize(words_);
  bool wanted = false;
  for (std::size_t plane = planes_; plane-- > 0;) {
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < words_; ++i) {
      const std::size_t block = i / kBlock * kBlock;
      narrowed_[i] = best_[i] & bits_[block * planes_ + plane * kBlock + i % kBlock];
      found |= narrowed_[i];
    }
    if (found == 0) continue;
    wanted = true;
    best_.swap(narrowed_);
  }
  return wanted ? first_slot(best_) : std::nullopt;
}

}  // namespace tessera::fabric
