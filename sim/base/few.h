#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace tessera {

/// A list of small values that rarely holds more than one: a single value is stored inline, more go
/// to the heap. Implements part of std::vector's interface.
template <class Value>
class Few {
  static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) <= sizeof(Value*));

 public:
  Few() = default;
  Few(std::initializer_list<Value> values) : Few(values.begin(), values.size()) {}
  Few(const Few& other) : Few(other.begin(), other.size()) {}
  Few(Few&& other) noexcept { swap(other); }
  Few& operator=(Few other) noexcept {
    swap(other);
    return *this;
  }
  ~Few() {
    if (room_ > 1) delete[] values_.many;
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] const Value* begin() const { return room_ > 1 ? values_.many : &values_.one; }
  [[nodiscard]] const Value* end() const { return begin() + size_; }
  [[nodiscard]] Value* begin() { return room_ > 1 ? values_.many : &values_.one; }
  [[nodiscard]] Value* end() { return begin() + size_; }
  const Value& operator[](std::size_t i) const { return begin()[i]; }
  Value& operator[](std::size_t i) { return begin()[i]; }

  void reserve(std::size_t room) {
    if (room <= room_) return;
    auto* const more = new Value[room];
    std::copy(begin(), end(), more);
    if (room_ > 1) delete[] values_.many;
    values_.many = more;
    room_ = static_cast<std::uint32_t>(room);
  }
  void push_back(const Value& value) {
    const Value kept = value;  // `value` may be an element of this list
    if (size_ == room_) reserve(std::size_t{2} * room_);
    begin()[size_++] = kept;
  }
  void pop_back() { --size_; }

 private:
  union Values {
    Value one{};
    Value* many;
  };

  Few(const Value* values, std::size_t count) {
    reserve(count);
    std::copy_n(values, count, begin());
    size_ = static_cast<std::uint32_t>(count);
  }
  void swap(Few& other) noexcept {
    std::swap(values_, other.values_);
    std::swap(size_, other.size_);
    std::swap(room_, other.room_);
  }

  Values values_;
  std::uint32_t size_ = 0;
  std::uint32_t room_ = 1;
};

}  // namespace tessera
