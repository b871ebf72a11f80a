#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "sim/report/table.h"

/// Tables as small texts, for the page: tools/viewer/columns.js reads them.
namespace tessera::report {

/// Bytes deflated (zlib) and in base64.
std::string pack_bytes(std::span<const std::uint8_t> bytes);

/// The differences of neighbouring numbers, each times 10^decimals and rounded, zigzag (0, -1, 1,
/// -2, ...), seven bits a byte, the lowest first; then as pack_bytes(). Exact below 2^53.
std::string pack_numbers(std::span<const double> values, unsigned decimals);

/// {rows, columns: [{name, decimals, words, data}]}; words only for a column of words.
nlohmann::ordered_json pack_table(const Table& table);

}  // namespace tessera::report
