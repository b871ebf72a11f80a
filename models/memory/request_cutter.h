#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "sim/base/types.h"
#include "sim/program/transfer_list.h"

namespace tessera {

/// Cuts the entries of a transfer into requests: entry by entry, row by row, at external addresses
/// that are multiples of request_bytes. The entries are one turn's: with its addresses; their steps
/// are not read.
class RequestCutter {
 public:
  struct Piece {
    std::uint64_t address;
    std::uint32_t local;
    std::uint32_t bytes;
    bool outward;
  };
  /// Totals over the entries.
  struct Sum {
    std::uint64_t requests = 0;
    std::uint64_t read_bytes = 0;
    std::uint64_t written_bytes = 0;
  };

  static Sum sum(std::span<const program::OuterEntry> entries, std::uint32_t request_bytes) {
    Sum sum;
    for (const program::OuterEntry& entry : entries) {
      if (entry.row_bytes == 0) continue;
      (entry.outward != 0 ? sum.written_bytes : sum.read_bytes) +=
          std::uint64_t{entry.rows} * entry.row_bytes;
      for (std::uint64_t row = 0; row < entry.rows; ++row) {
        const std::uint64_t first = entry.address + row * entry.pitch;
        sum.requests += (first + entry.row_bytes - 1) / request_bytes - first / request_bytes + 1;
      }
    }
    return sum;
  }

  /// Returns the next request of `entries`, which must be the same in each call; call it at most
  /// sum().requests times.
  Piece next(std::span<const program::OuterEntry> entries, std::uint32_t request_bytes) {
    while (row_ == entries[entry_].rows || entries[entry_].row_bytes == 0) {
      ++entry_;
      row_ = 0;
    }
    const program::OuterEntry& entry = entries[entry_];
    const std::uint64_t address = entry.address + row_ * entry.pitch + done_;
    const std::uint32_t to_cut =
        request_bytes - static_cast<std::uint32_t>(address % request_bytes);
    const Piece piece{address,
                      static_cast<std::uint32_t>(entry.local + row_ * entry.row_bytes + done_),
                      std::min(to_cut, entry.row_bytes - done_), entry.outward != 0};
    done_ += piece.bytes;
    if (done_ == entry.row_bytes) {
      done_ = 0;
      ++row_;
    }
    return piece;
  }

 private:
  std::size_t entry_ = 0;
  std::uint64_t row_ = 0;
  std::uint32_t done_ = 0;  ///< bytes of the row
};

}  // namespace tessera
