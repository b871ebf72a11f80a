#pragma once

#include <cstddef>
#include <utility>

namespace tessera {

/// Zeros that the host does not hold until they are touched.
class DemandZero {
 public:
  DemandZero() = default;
  /// data() is null if the host cannot map them: errno says why.
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
  /// A huge page takes a tenth of the time of its small ones, but makes one word that is touched
  /// cost 2 MiB.
  void use_huge_pages(bool use);

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace tessera
