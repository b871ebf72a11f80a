#include "sim/report/external.h"

#include <fmt/format.h>

#include "sim/base/counted.h"
#include "sim/report/units.h"

namespace tessera::report {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kMostListed = 64;  ///< most channels that get an entry each

Json channel_json(const ChannelRecord& channel) {
  return {{"read_bytes", channel.bytes_read},       {"written_bytes", channel.bytes_written},
          {"row_hits", channel.row_hits},           {"row_misses", channel.row_misses},
          {"row_conflicts", channel.row_conflicts}, {"refreshes", channel.refreshes},
          {"turnarounds", channel.turnarounds},     {"busy_clocks", channel.busy_clocks}};
}

}  // namespace

Json external_section(const MachineConfig& machine, const program::Images& images,
                      const RunResult& result) {
  const ExternalConfig& external = machine.external;
  const double seconds =
      static_cast<double>(result.time.total().count()) / (machine.clock_ghz * 1e9);
  const auto moved = static_cast<double>((result.external_read + result.external_written).count());
  Json section = {{"capacity_bytes", external.bytes()},
                  {"used_bytes", images.outer_bytes},
                  {"read_bytes", result.external_read.count()},
                  {"written_bytes", result.external_written.count()},
                  {"bytes_per_second", seconds > 0 ? moved / seconds : 0.0}};
  if (!external.has_channels()) return section;
  const double peak = static_cast<double>(result.channels.size()) * external.dram.bytes_per_clock *
                      external.dram.clock_ghz * 1e9;
  ChannelRecord all;
  for (const ChannelRecord& channel : result.channels) all += channel;
  section["peak_bytes_per_second"] = peak;
  section["share_of_peak"] = seconds > 0 ? moved / seconds / peak : 0.0;
  section["channels"] = result.channels.size();
  section["all"] = channel_json(all);
  if (result.channels.size() <= kMostListed) {
    Json& list = section["by_channel"] = Json::array();
    for (const ChannelRecord& channel : result.channels) list.push_back(channel_json(channel));
  }
  return section;
}

std::string external_line(const Json& report) {
  if (!report.contains("external")) return "";
  const Json& external = report.at("external");
  const auto number = [&](const char* key) { return external.at(key).get<double>(); };
  std::string text =
      fmt::format("  external  {} read, {} written", scaled(number("read_bytes"), "B"),
                  scaled(number("written_bytes"), "B"));
  if (!external.contains("all"))
    return text + fmt::format(": {} of the platform's memory\n",
                              scaled(number("bytes_per_second"), "B/s"));
  const Json& all = external.at("all");
  const double hits = all.at("row_hits").get<double>();
  const double requests =
      hits + all.at("row_misses").get<double>() + all.at("row_conflicts").get<double>();
  if (requests == 0) return text + ": external memory is not used\n";
  return text + fmt::format(": {} = {:.1f} % of {}; {:.1f} % of requests hit an open row\n",
                            scaled(number("bytes_per_second"), "B/s"),
                            100 * number("share_of_peak"),
                            counted(external.at("channels").get<std::uint64_t>(), "channel"),
                            100 * hits / requests);
}

}  // namespace tessera::report
