#include "sim/report/pack.h"

#include <cmath>
#include <string_view>
#include <vector>
#include <zlib.h>

#include "sim/base/errors.h"

namespace tessera::report {
namespace {

std::vector<std::uint8_t> deflated(std::span<const std::uint8_t> bytes) {
  uLongf size = ::compressBound(bytes.size());
  std::vector<std::uint8_t> packed(size);
  const int failed =
      ::compress2(packed.data(), &size, bytes.data(), bytes.size(), Z_DEFAULT_COMPRESSION);
  check(failed == Z_OK, "report: zlib ends with {}", failed);
  packed.resize(size);
  return packed;
}

std::string base64(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? bytes[i + k] : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      const bool padding = i + k > bytes.size();
      text += padding ? '=' : kLetters[group >> (18 - 6 * k) & 63];
    }
  }
  return text;
}

}  // namespace

std::string pack_bytes(std::span<const std::uint8_t> bytes) { return base64(deflated(bytes)); }

std::string pack_numbers(std::span<const double> values, unsigned decimals) {
  const double unit = std::pow(10.0, decimals);
  std::vector<std::uint8_t> bytes;
  std::int64_t before = 0;
  for (const double value : values) {
    const std::int64_t now = std::llround(value * unit);
    const std::int64_t difference = now - before;
    std::uint64_t code = difference < 0 ? (static_cast<std::uint64_t>(-(difference + 1)) << 1 | 1)
                                        : static_cast<std::uint64_t>(difference) << 1;
    for (; code >= 128; code >>= 7) bytes.push_back(static_cast<std::uint8_t>(code | 128));
    bytes.push_back(static_cast<std::uint8_t>(code));
    before = now;
  }
  return pack_bytes(bytes);
}

nlohmann::ordered_json pack_table(const Table& table) {
  nlohmann::ordered_json columns = nlohmann::ordered_json::array();
  for (const Column& column : table.columns) {
    nlohmann::ordered_json packed = {{"name", column.name}, {"decimals", column.decimals}};
    if (!column.words.empty()) packed["words"] = column.words;
    packed["data"] = pack_numbers(column.values, column.decimals);
    columns.push_back(std::move(packed));
  }
  return {{"rows", table.rows}, {"columns", std::move(columns)}};
}

}  // namespace tessera::report
