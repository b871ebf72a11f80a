#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/counted.h"
#include "sim/report/external.h"
#include "sim/report/report.h"
#include "sim/report/stalls.h"
#include "sim/report/units.h"

namespace tessera::report {
using Json = nlohmann::ordered_json;

namespace {

std::uint64_t count(const Json& section, std::string_view key) {
  return section.at(std::string(key)).get<std::uint64_t>();
}

std::string time_lines(const Json& report) {
  const Json& time = report.at("time");
  const std::uint64_t total = count(time, "cycles");
  std::string text = fmt::format("  time      {} cycles = {}, {}\n", grouped(total),
                                 seconds(time.at("seconds").get<double>()),
                                 counted(count(time, "supersteps"), "superstep"));
  for (const std::string_view part : {"compute", "exchange", "sync", "link", "host", "wait"}) {
    const std::uint64_t cycles = count(time, fmt::format("{}_cycles", part));
    if (cycles == 0) continue;
    const double share = static_cast<double>(cycles) / static_cast<double>(total);
    text += fmt::format("    {:<9} {} {:>5.1f} %  {:>15}\n", part, bar(share), 100 * share,
                        grouped(cycles));
  }
  return text;
}

std::string prediction_line(const Json& report) {
  const Json& predicted = report.at("prediction");
  std::string text = fmt::format(
      "  predicted {} cycles (compute {}, exchange {}, sync {})",
      grouped(count(predicted, "cycles")), grouped(count(predicted, "compute_cycles")),
      grouped(count(predicted, "exchange_cycles")), grouped(count(predicted, "sync_cycles")));
  if (report.contains("time") && count(predicted, "cycles") > 0) {
    const std::uint64_t host = count(report.at("time"), "host_cycles");  // is not predicted
    const auto simulated = static_cast<double>(count(report.at("time"), "cycles") - host);
    const auto expected = static_cast<double>(count(predicted, "cycles"));
    text += fmt::format(": simulated is {:+.1f} %{}", 100 * (simulated / expected - 1),
                        host > 0 ? " without the host" : "");
  }
  return text + "\n";
}

/// The run's cycles over their lower bound; empty if there is no bound.
std::string bound_line(const Json& report) {
  if (!report.contains("bound")) return "";
  const Json& bound = report.at("bound");
  return fmt::format(
      "  bound     {:.2f}x the lower bound of {} cycles\n"
      "            issue {}, ports {}; busiest tile {}; floating point {}, other {}; exchanges "
      "{}\n",
      bound.at("times_bound").get<double>(), grouped(count(bound, "cycles")),
      grouped(count(bound, "issue_cycles")), grouped(count(bound, "port_cycles")),
      grouped(count(bound, "busiest_issue_cycles")), grouped(count(bound, "floating_cycles")),
      grouped(count(bound, "other_cycles")), grouped(count(bound, "exchange_cycles")));
}

std::string rate_line(const Json& report) {
  const Json& rate = report.at("rate");
  const bool bytes = rate.at("peak_type") == "bytes";
  const bool integer = rate.at("peak_type") == "i8" || rate.at("peak_type") == "i16";
  const std::string unit = bytes ? "B/s" : integer ? "OP/s" : "FLOP/s";
  const double useful = rate.at(bytes     ? "useful_bytes_per_second"
                                : integer ? "useful_integer_operations_per_second"
                                          : "useful_flops_per_second")
                            .get<double>();
  const auto integers = rate.find("useful_integer_operations_per_second");
  const std::string more = integers == rate.end() || integer
                               ? ""
                               : "; " + scaled(integers->get<double>(), "OP/s") + " of integers";
  return fmt::format(
      "  rate      {} useful = {:.1f} % of the {} peak ({}); {} executed{}\n", scaled(useful, unit),
      100 * rate.at("fraction_of_peak").get<double>(), rate.at("peak_type").get<std::string>(),
      scaled(rate.at("peak_per_second").get<double>(), unit),
      scaled(rate.at("flops_per_second").get<double>(), integer ? unit : "FLOP/s"), more);
}

std::string memory_lines(const Json& report) {
  const Json& memory = report.at("memory");
  const Json& categories = memory.at("categories");
  const std::uint64_t need = count(memory, "max_tile_bytes");
  const std::uint64_t capacity =
      memory.value("max_tile_capacity_bytes", count(memory, "capacity_bytes_per_tile"));
  // Code, descriptor lists and arguments may have a separate memory.
  const std::uint64_t sram = memory.value("max_tile_sram_bytes", capacity);
  const std::uint64_t data =
      sram == capacity ? need : count(categories, "tensors") + count(categories, "stack");
  const auto used = [](std::uint64_t bytes, std::uint64_t of) {
    return fmt::format("{:.1f} of {} KiB", static_cast<double>(bytes) / 1024, of / 1024);
  };
  std::string text = fmt::format(
      "  memory    {} on tile {} ({:.1f} %){}, {} in all\n    ", used(data, sram),
      count(memory, "max_tile"), 100 * static_cast<double>(data) / static_cast<double>(sram),
      sram == capacity ? ""
                       : fmt::format(", {} for code and lists", used(need - data, capacity - sram)),
      scaled(static_cast<double>(count(memory, "total_bytes")), "B"));
  for (const auto& [category, bytes] : categories.items()) {
    text += fmt::format("{} {}  ", category, grouped(bytes.get<std::uint64_t>()));
  }
  text.erase(text.find_last_not_of(' ') + 1);
  text += "\n";
  if (memory.contains("lists"))
    text +=
        "    exchanges take longer: the program fits with its shortest lists alone, in which "
        "streams "
        "are whole and sent once\n";
  return text;
}

/// Nodes besides the tiles, and how many the workload uses; empty if there are none.
std::string nodes_lines(const Json& report) {
  std::string text;
  for (const Json& node : report.value("nodes", Json::array())) {
    const std::uint64_t all = count(node, "count");
    const std::uint64_t used = count(node, "used");
    const std::string use = used == all ? "used"
                            : used == 0 ? "not used"
                                        : fmt::format("{} used", used);
    text += fmt::format(
        "  {:<9} {} of class {} from tile {} on, {} KiB each, {}: {} by the workload\n",
        text.empty() ? "nodes" : "", all, node.at("class").get<std::string>(),
        count(node, "first_tile"), count(node, "capacity_bytes") / 1024,
        count(node, "contexts") == 0 ? "no workers" : counted(count(node, "contexts"), "context"),
        use);
  }
  if (report.contains("overlap") && !report.at("overlap").at("used").get<bool>())
    text += "  overlap   not used: no transfer of the workload goes on beside its code\n";
  return text;
}

/// Memory of a training run by purpose.
std::string training_line(const Json& report) {
  if (!report.contains("workload") || !report.at("workload").contains("memory")) return {};
  std::string text = "  training ";
  for (const auto& [name, bytes] : report.at("workload").at("memory").items())
    text += fmt::format(" {} {} ({} on the fullest tile) ", name,
                        scaled(static_cast<double>(count(bytes, "total_bytes")), "B"),
                        grouped(count(bytes, "max_tile_bytes")));
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

/// The first and last number of a list, formatted by `shown`; JSON has null for NaN and infinities.
std::string first_and_last(const Json& values, std::string (*shown)(double)) {
  const auto text = [&](const Json& value) {
    return value.is_number() ? shown(value.get<double>()) : "no number";
  };
  if (values.size() < 2) return text(values.front());
  return fmt::format("{} to {}", text(values.front()), text(values.back()));
}

/// The outcome of a training run; empty for other runs.
std::string trained_line(const Json& report) {
  const Json results = report.value("results", Json::object());
  if (!results.is_object() || results.value("loss", Json::array()).empty()) return {};
  const Json& loss = results.at("loss");
  const auto number = [](double value) { return fmt::format("{:.4g}", value); };
  const auto percent = [](double value) { return fmt::format("{:.1f} %", 100 * value); };
  const bool trained = report.value(Json::json_pointer("/workload/training_steps"), 1) > 0;
  std::string text = fmt::format("  {:<9} loss {} in {}", trained ? "trained" : "evaluated",
                                 first_and_last(loss, number), counted(loss.size(), "step"));
  if (!results.value("accuracy", Json::array()).empty())
    text += fmt::format("; accuracy {} of a batch", first_and_last(results["accuracy"], percent));
  const std::pair<const char*, const char*> wholes[] = {
      {"training_accuracy", "training samples right"}, {"test_accuracy", "test samples right"}};
  const char* between = "\n            ";
  for (const auto& [key, what] : wholes) {
    if (!results.contains(key) || !results[key].is_number()) continue;
    text += fmt::format("{}{} of {}", between, percent(results[key].get<double>()), what);
    between = ", ";
  }
  return text + "\n";
}

std::string traffic_line(const Json& report) {
  const Json& traffic = report.at("traffic");
  const auto amount = [&](std::string_view key) {
    return scaled(static_cast<double>(count(traffic, key)), "B");
  };
  return fmt::format(
      "  traffic   {} exchanged, {} of it by multicast; the busiest tile sends {}, receives {}\n",
      amount("exchange_bytes"), amount("multicast_bytes"), amount("max_tile_sent"),
      amount("max_tile_received"));
}

/// Empty on a machine without an energy table.
std::string energy_lines(const Json& report) {
  if (!report.contains("energy")) return "";
  const Json& energy = report.at("energy");
  const auto joules = energy.at("joules").get<double>();
  std::string text = fmt::format("  energy    {} = {:.1f} W, {}; {:.0f} mm2 of {}",
                                 scaled_down(joules, "J"), energy.at("watts").get<double>(),
                                 scaled(energy.at("flops_per_joule").get<double>(), "FLOP/J"),
                                 energy.at("area_mm2").at("total").get<double>(),
                                 energy.at("node").get<std::string>());
  if (energy.contains("volts")) text += fmt::format(", {:.2f} V", energy.at("volts").get<double>());
  text += "\n    ";
  for (const auto& [part, value] : energy.at("by_part").items()) {
    if (value.get<double>() > 0)
      text += fmt::format("{} {:.1f} %  ", part, 100 * value.get<double>() / joules);
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

/// Says how many contexts run if not all do; else empty.
std::string started_text(const Json& report) {
  const Json& facts = report.at("workload");
  if (!facts.contains("started_contexts")) return "";
  return fmt::format("{} of {} run; ", count(facts, "started_contexts"),
                     count(report.at("config").at("machine").at("tile"), "contexts"));
}

/// Lists the states that took a notable share of the contexts' cycles.
std::string stalls_line(const Json& report) {
  if (!report.contains("stalls")) return "";
  const Json& stalls = report.at("stalls");
  double all = 0;
  for (const std::string_view name : kStallNames) all += stalls.at(std::string(name)).get<double>();
  std::string text;
  for (const std::string_view name : kStallNames) {
    const double share = 100 * stalls.at(std::string(name)).get<double>() / std::max(all, 1.0);
    const bool wait = name == "load" || name == "arithmetic" || name == "matrix" ||
                      name == "branch" || name == "external";
    const std::string_view what = name == "branch"     ? "branches"
                                  : name == "external" ? "external memory"
                                                       : name;
    if (share >= 0.1)
      text += fmt::format("{}{}{} {:.1f} %", text.empty() ? "" : ", ", wait ? "waiting for " : "",
                          what, share);
  }
  const std::uint64_t contexts = count(report.at("config").at("machine").at("tile"), "contexts");
  if (contexts > 1)
    text += fmt::format("; issue ceiling {:.1f} %", 100.0 / static_cast<double>(contexts));
  return text.empty() ? "" : fmt::format("  contexts  {}{}\n", started_text(report), text);
}

/// The value with numbers rounded to four digits, or to whole numbers from 1000 on.
Json shortened(Json value) {
  constexpr double kWhole = 1000;
  if (value.is_structured())
    for (Json& each : value) each = shortened(std::move(each));
  else if (value.is_number_float() && std::abs(value.get<double>()) >= kWhole)
    value = Json::parse(fmt::format("{:.0f}", value.get<double>()));
  else if (value.is_number_float())
    value = Json::parse(fmt::format("{:.4g}", value.get<double>()));
  return value;
}

/// The items of a section in lines of limited width; empty if there are none.
std::string items_line(const Json& report, const std::string& section) {
  if (report.at(section).empty()) return "";
  std::string text = fmt::format("  {:<9}", section);
  std::size_t column = text.size();
  for (const auto& [key, value] : report.at(section).items()) {
    if (key == "memory" || key == "notes") continue;  // have their own lines
    constexpr std::size_t kWidth = 100;
    constexpr std::size_t kMostLines = 4;
    std::string item = fmt::format(
        " {} {}", key, value.is_string() ? value.get<std::string>() : shortened(value).dump());
    // A plan is printed in full, so that it can be given in a config.
    const bool is_table =
        section != "plan" && value.is_array() && !value.empty() && value.front().is_structured();
    if (value.is_array() && item.size() > (is_table ? 1 : kMostLines) * kWidth)
      item = fmt::format(" {} {} (report.json, {})", value.size(), key, section);
    if (column + item.size() > kWidth) {
      text += "\n           ";
      column = 11;
    }
    text += item;
    column += item.size();
  }
  return text + "\n";
}

std::string plan_lines(const Json& report) {
  std::string text = items_line(report, "plan") + items_line(report, "workload");
  for (const Json& note : report.at("workload").value("notes", Json::array()))
    text += fmt::format("  {}\n", note.get<std::string>());
  return text;
}

std::string check_line(const Json& report) {
  const Json& check = report.at("check");
  if (check.at("passed").is_null())
    return fmt::format("  check     {}\n", check.at("method").get<std::string>());
  // Kernels measure errors relative to each element's rounding bound; 0: no error is allowed.
  const bool relative = check.at("bound").get<double>() > 0;
  std::string line = fmt::format(
      "  check     {} ({}): largest error {:.3g}, allowed {:.3g}{}\n",
      check.at("passed").get<bool>() ? "passed" : "FAILED", check.at("method").get<std::string>(),
      check.at("max_error").get<double>(), check.at("bound").get<double>(),
      relative ? ", relative to each element's rounding bound" : "");
  if (check.contains("threshold")) {
    line += fmt::format(
        "            an element off by {:.3g}, or alone by {:.3g}, is missed at 1 in {:.2g}\n",
        check.at("threshold").get<double>(), check.at("lone_threshold").get<double>(),
        1 / check.at("missed_probability").get<double>());
  }
  if (check.contains("note"))
    line += fmt::format("            {}\n", check.at("note").get<std::string>());
  return line;
}

/// The outcome of a requested timing run; empty for other runs.
std::string timing_line(const Json& report) {
  if (!report.contains("timing")) return {};
  const Json& timing = report.at("timing");
  if (timing.at("values").get<bool>())
    return fmt::format("  timing    run in full, since values decide its time: {}\n",
                       timing.at("reason").get<std::string>());
  return fmt::format("  timing    no values computed: {} of tiles, {} followed to prove it\n",
                     counted(count(timing, "tile_kinds"), "kind"),
                     counted(count(timing, "vertices"), "call"));
}

/// Lists notes about the results, and data that the run dropped.
std::string result_lines(const Json& report) {
  std::string text;
  const Json results = report.value("results", Json::object());
  for (const char* list : {"warnings", "dropped"})
    for (const Json& line : results.value(list, Json::array()))
      text += fmt::format("  {}\n", line.get<std::string>());
  return text;
}

std::string host_line(const Json& report) {
  const Json& host = report.at("host");
  return fmt::format(
      "  host      build {:.2f} s, run {:.2f} s on {} ({} instructions/s), "
      "check {:.2f} s; {} resident\n",
      host.at("build_seconds").get<double>(), host.at("seconds").get<double>(),
      counted(count(host, "threads"), "thread"),
      scaled(host.at("instructions_per_second").get<double>(), ""),
      host.at("check_seconds").get<double>(),
      scaled(static_cast<double>(count(host, "peak_rss_bytes")), "B"));
}

/// The times of several runs of one program; empty for a single run.
std::string runs_line(const Json& report) {
  if (!report.contains("runs") || report.at("runs").size() < 2) return {};
  const Json& runs = report.at("runs");
  std::uint64_t least = UINT64_MAX;
  std::uint64_t most = 0;
  for (const Json& run : runs) {
    least = std::min(least, count(run, "cycles"));
    most = std::max(most, count(run, "cycles"));
  }
  return fmt::format("  runs      {}, of {} to {} cycles\n", runs.size(), grouped(least),
                     grouped(most));
}

}  // namespace

std::string title(const Json& report) {
  const Json& config = report.at("config");
  const auto name = config.at("machine").at("name").get<std::string>();
  const auto kernel = config.at("workload").at("kernel").get<std::string>();
  const Json identity = report.value("identity", Json::object());
  return fmt::format("{} on {}", identity.value("problem", kernel),
                     name.empty() ? "a machine of its own" : name);
}

std::string heading(const Json& report) {
  const Json& machine = report.at("config").at("machine");
  const Json facts = report.value("workload", Json::object());
  const std::string used = facts.contains("used_tiles")
                               ? fmt::format(", {} of them used", count(facts, "used_tiles"))
                               : "";
  return fmt::format("{}: {}{}, {} GHz", title(report),
                     counted(machine.at("tiles").get<std::uint32_t>(), "tile"), used,
                     machine.at("clock_ghz").get<double>());
}

std::string static_summary(const Json& report) {
  return heading(report) + "\n" + plan_lines(report) + prediction_line(report) +
         memory_lines(report) + nodes_lines(report) + training_line(report);
}

std::string summary(const Json& report) {
  return heading(report) + "\n" + time_lines(report) + runs_line(report) + bound_line(report) +
         trained_line(report) + rate_line(report) + memory_lines(report) + nodes_lines(report) +
         training_line(report) + traffic_line(report) + external_line(report) +
         stalls_line(report) + energy_lines(report) + plan_lines(report) + prediction_line(report) +
         result_lines(report) + timing_line(report) + check_line(report) + host_line(report);
}

}  // namespace tessera::report
