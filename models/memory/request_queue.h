#pragma once

#include <cstddef>
#include <vector>

namespace tessera {

/// A FIFO queue from which an element near the front can be removed. Its memory doubles and is
/// kept.
template <class Element>
class RequestQueue {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  Element& operator[](std::size_t number) { return ring_[(head_ + number) & (ring_.size() - 1)]; }
  const Element& operator[](std::size_t number) const {
    return ring_[(head_ + number) & (ring_.size() - 1)];
  }

  void push(const Element& element) {
    if (size_ == ring_.size()) grow();
    ++size_;
    (*this)[size_ - 1] = element;
  }
  /// Removes element `number`; the others keep their order. Costs `number` moves.
  Element take(std::size_t number) {
    const Element taken = (*this)[number];
    for (std::size_t i = number; i > 0; --i) (*this)[i] = (*this)[i - 1];
    head_ = (head_ + 1) & (ring_.size() - 1);
    --size_;
    return taken;
  }

 private:
  void grow() {
    constexpr std::size_t kFirst = 16;
    std::vector<Element> larger(ring_.empty() ? kFirst : 2 * ring_.size());
    for (std::size_t i = 0; i < size_; ++i) larger[i] = (*this)[i];
    ring_ = std::move(larger);
    head_ = 0;
  }

  std::vector<Element> ring_;  ///< a power of two
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace tessera
