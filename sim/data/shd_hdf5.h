#pragma once

#include <cstdint>
#include <string>

namespace tessera::data {

/// The first `count` recordings of an SHD file that lies in memory, as bytes that read_shd() takes
/// apart: 64 bits of how many the file has; of each one 64 bits of its label and of its number of
/// events, then times (f32, seconds) and channels (32 bits). Called as parse_nir() is.
std::string parse_shd(const std::string& name, std::string bytes, std::uint64_t count);

}  // namespace tessera::data
