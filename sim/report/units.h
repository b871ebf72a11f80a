#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Formats numbers for people.
namespace tessera::report {

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t value);

/// 3.2e12 with unit "FLOP/s" as "3.20 TFLOP/s"; decimal prefixes.
std::string scaled(double value, std::string_view unit);

/// 0.0032 with unit "J" as "3.20 mJ"; decimal prefixes down to pico.
std::string scaled_down(double value, std::string_view unit);

/// 0.000123 as "123.0 us".
std::string seconds(double value);

/// A bar of 40 columns of which `share` (0 to 1) are filled.
std::string bar(double share);

}  // namespace tessera::report
