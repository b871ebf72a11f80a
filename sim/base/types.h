#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace tessera {

/// A number with a unit: quantities of different units do not mix.
template <class Unit, class Rep>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(Rep value) : value_(value) {}
  [[nodiscard]] constexpr Rep count() const { return value_; }
  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity& operator+=(Quantity other) {
    value_ = static_cast<Rep>(value_ + other.value_);
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value_ = static_cast<Rep>(value_ - other.value_);
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend constexpr Quantity operator*(Quantity a, Rep factor) {
    return Quantity(static_cast<Rep>(a.value_ * factor));
  }

 private:
  Rep value_{};
};

using Cycle = Quantity<struct CycleUnit, std::uint64_t>;  ///< a time or a duration in chip clocks
using Bytes = Quantity<struct ByteUnit, std::uint64_t>;   ///< an amount of memory or traffic
using Address = Quantity<struct AddressUnit, std::uint32_t>;  ///< a byte address in one tile's SRAM

/// The index of a tile within its machine.
enum class TileId : std::uint32_t {};
constexpr std::uint32_t index(TileId tile) { return static_cast<std::uint32_t>(tile); }

template <class Integer>
constexpr Integer ceil_div(Integer a, Integer b) {
  return static_cast<Integer>((a + b - 1) / b);
}
template <class Integer>
constexpr Integer round_up(Integer a, Integer multiple) {
  return static_cast<Integer>(ceil_div(a, multiple) * multiple);
}

}  // namespace tessera
