#include "sim/report/page.h"

#include <string_view>

#include <fmt/format.h>

#include "sim/base/embedded.h"
#include "sim/base/errors.h"
#include "sim/isa/table.h"
#include "sim/report/analysis.h"
#include "sim/report/pack.h"
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

// Bytes of a page of at most 12 MB that the tiles' supersteps may take.
constexpr std::size_t kMostTileBytes = 8'000'000;

/// JSON that no HTML parser takes for the end of a script, whatever names a run holds.
std::string data_script(std::string_view id, const Json& data) {
  const std::string text = data.dump(-1, ' ', false, Json::error_handler_t::replace);
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

/// Content of the page for `<!-- NAME -->`.
std::string part(std::string_view name, const Json& data, const Json& words) {
  if (name == "runs") return data_script(name, data);
  if (name == "words") return data_script(name, words);
  const char* tag = name.ends_with(".css") ? "style" : "script";
  return fmt::format("<{0}>\n{1}</{0}>", tag, viewer_file(name));
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

}  // namespace tessera::report
