#pragma once

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "sim/program/tensor_reader.h"

namespace tessera::test {

/// The memory after a run with some bytes changed: those of a buffer from one place on, or those of
/// one transfer to the host.
class ChangedMemory : public MemoryReader {
 public:
  using Change = std::function<void(std::span<std::byte>)>;

  ChangedMemory(const MemoryReader& from, program::Place place, Change change)
      : from_(from), place_(place), change_(std::move(change)) {}
  ChangedMemory(const MemoryReader& from, std::string_view transfer, const Change& change)
      : from_(from), transfer_(transfer) {
    const std::span<const std::byte> told = from.written(transfer);
    told_.assign(told.begin(), told.end());
    change(told_);
  }

  void read(program::Place place, std::span<std::byte> into) const override {
    from_.read(place, into);
    if (change_ && place.buffer == place_.buffer && place.offset <= place_.offset &&
        place_.offset < place.offset + into.size())
      change_(into.subspan(place_.offset - place.offset));
  }
  [[nodiscard]] std::span<const std::byte> written(std::string_view transfer) const override {
    return transfer == transfer_ ? std::span<const std::byte>(told_) : from_.written(transfer);
  }

  /// Inverts the lowest bit of the first byte.
  static void flip(std::span<std::byte> bytes) { bytes.front() ^= std::byte{1}; }
  /// Adds `change` to the f32 with index `at`.
  static Change add(float change, std::size_t at = 0) {
    return [=](std::span<std::byte> bytes) {
      float value = 0;
      std::memcpy(&value, &bytes[at * sizeof value], sizeof value);
      value += change;
      std::memcpy(&bytes[at * sizeof value], &value, sizeof value);
    };
  }

 private:
  const MemoryReader& from_;
  program::Place place_{};
  std::string transfer_;
  Change change_;
  std::vector<std::byte> told_;
};

}  // namespace tessera::test
