#pragma once

#include <cstdint>

#include "sim/machine/external_config.h"

namespace tessera {

/// Maps an external address to a channel: pieces of interleave_bytes are distributed round-robin,
/// or each channel holds one piece of its whole capacity.
class ChannelMap {
 public:
  struct Place {
    std::uint32_t channel;
    std::uint64_t address;  ///< in the channel
  };

  explicit ChannelMap(const ExternalConfig& config)
      : channels_(config.channels),
        piece_(config.interleave_bytes > 0 ? config.interleave_bytes : config.channel_bytes()) {}

  [[nodiscard]] Place place(std::uint64_t address) const {
    const std::uint64_t piece = address / piece_;
    return {static_cast<std::uint32_t>(piece % channels_),
            piece / channels_ * piece_ + address % piece_};
  }
  [[nodiscard]] std::uint32_t channels() const { return channels_; }
  /// Bytes of one piece.
  [[nodiscard]] std::uint64_t piece() const { return piece_; }

 private:
  std::uint32_t channels_;
  std::uint64_t piece_;
};

}  // namespace tessera
