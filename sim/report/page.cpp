#include "sim/report/page.h"

#include <cmath>
#include <string_view>
#include <vector>
#include <zlib.h>

#include <fmt/format.h>

#include "sim/base/embedded.h"
#include "sim/base/errors.h"
#include "sim/config/json_text.h"
#include "sim/isa/table.h"
#include "sim/report/analysis.h"
#include "sim/report/tile_steps.h"

namespace tessera::report {

using Json = nlohmann::ordered_json;

namespace {

std::string_view viewer_file(std::string_view name) {
  const auto bytes = embedded::find(fmt::format("tools/viewer/{}", name));
  check(!bytes.empty(), "report: tools/viewer/{} is not part of the program", name);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Json run_json(const RunFolder& run, std::size_t most_tile_bytes) {
  return {{"folder", run.folder},
          {"report", run.report},
          {"analysis", to_json(run, analyse(run))},
          {"steps", pack_table(run.steps)},
          {"tiles", pack_table(run.tiles)},
          {"traffic", pack_table(run.traffic)},
          {"buffers", pack_table(run.buffers)},
          {"raster", pack_table(run.raster)},
          {"vector_flops", vector_flops()},
          {"tile_steps", pack_tile_steps(run, most_tile_bytes)},
          {"sensitivity", run.sensitivity}};
}

// Limit on the bytes of tile steps, for a page of at most 12 MB.
constexpr std::size_t kMostTileBytes = 8'000'000;

/// JSON in which no HTML parser sees the end of the script, whatever names a run holds.
std::string data_script(std::string_view id, const Json& data) {
  const std::string text = config::one_line(data);
  std::string script = fmt::format("<script id=\"{}\" type=\"application/json\">", id);
  for (const char c : text) {
    if (c == '<') {
      script += "\\u003c";
    } else {
      script += c;
    }
  }
  return script + "</script>";
}

/// The page's content for `<!-- NAME -->`.
std::string part(std::string_view name, const Json& data, const Json& words) {
  if (name == "runs") return data_script(name, data);
  if (name == "words") return data_script(name, words);
  const char* tag = name.ends_with(".css") ? "style" : "script";
  return fmt::format("<{0}>\n{1}</{0}>", tag, viewer_file(name));
}

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

Json vector_flops() {
  return {{"f16", isa::info(isa::Mnemonic::fma_4h).flops},
          {"f32", isa::info(isa::Mnemonic::fma_2s).flops}};
}

std::string page(std::span<const RunFolder> runs, const Json& words) {
  Json all = Json::array();
  for (const RunFolder& run : runs) {
    all.push_back(run_json(run, kMostTileBytes / runs.size()));
  }
  return page(all, words);
}

std::string page(const Json& data, const Json& words) {
  constexpr std::string_view kOpen = "<!-- ";
  constexpr std::string_view kClose = " -->";
  const std::string_view frame = viewer_file("page.html");
  std::string text;
  std::size_t at = 0;
  while (true) {
    const std::size_t open = frame.find(kOpen, at);
    if (open == std::string_view::npos) break;
    const std::size_t close = frame.find(kClose, open);
    check(close != std::string_view::npos, "report: tools/viewer/page.html: an open comment");
    const std::size_t name = open + kOpen.size();
    text += frame.substr(at, open - at);
    text += part(frame.substr(name, close - name), data, words);
    at = close + kClose.size();
  }
  return text += frame.substr(at);
}

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
