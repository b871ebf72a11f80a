#pragma once

#include <cstddef>
#include <utility>

namespace tessera {

/// Zeroed memory that the host allocates on first touch.
class DemandZero {
 public:
  DemandZero() = default;
  /// If the host cannot map the memory, data() is null and errno gives the reason.
  explicit DemandZero(std::size_t bytes);
  DemandZero(DemandZero&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  DemandZero& operator=(DemandZero&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~DemandZero();

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }
  /// One huge page costs a tenth of the time of its small pages, but touching a single word then
  /// commits 2 MiB.
  void use_huge_pages(bool use);

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace tessera
