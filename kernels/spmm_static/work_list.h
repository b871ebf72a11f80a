#pragma once

#include <cstdint>
#include <vector>

#include "kernels/spmm_static/partition.h"
#include "kernels/spmm_static/reduction.h"

/// The lists that codelets read.
namespace tessera::spmm_static {

/// For each row of a share its blocks (blocks > 1: less one), then the place in the tile's X of
/// each one's inputs, in 64-bit words.
std::vector<std::uint16_t> row_list(const Partition& partition, const Part& part,
                                    const Share& share);

/// 64-bit words between the inputs of neighbouring block columns in the tile's X.
std::uint64_t place_step(const Partition& partition, const Part& part);

/// Whether the lists can name every place.
bool places_fit(const Partition& partition);

/// A worker's segments as the reduce codelets read them.
std::vector<std::byte> segment_list(const std::vector<SegmentPart>& parts);
constexpr std::uint32_t kSegmentBytes = 16;

}  // namespace tessera::spmm_static
