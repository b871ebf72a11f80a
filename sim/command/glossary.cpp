#include "sim/command/glossary.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/ranges.h"
#include "sim/config/key_path.h"
#include "sim/config/run_config.h"
#include "sim/config/writers.h"
#include "sim/machine/machine_config.h"
#include "sim/plot/quantity.h"
#include "sim/report/words.h"

namespace tessera::command {
namespace {

using config::Json;
using report::spoken;

/// A path without list indices: layers[3].outputs becomes layers[].outputs.
std::string without_indices(std::string_view path) {
  std::string plain;
  bool within = false;
  for (const char c : path) {
    if (c == ']') within = false;
    if (!within) plain += c;
    if (c == '[') within = true;
  }
  return plain;
}

std::string_view first_part(std::string_view path) {
  return path.substr(0, path.find_first_of(".["));
}
std::string_view last_part(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

/// The origin text of a config key: "config key of gemm; default 6; allowed a, b".
std::string origin(const Json& schema, const std::string& kernel) {
  std::string text = kernel.empty() ? "config key" : "config key of " + kernel;
  if (schema.contains("default")) text += fmt::format("; default {}", schema["default"].dump());
  if (!schema.contains("enum")) return text;
  std::vector<std::string> allowed;
  for (const Json& each : schema["enum"])
    if (!each.is_null()) allowed.push_back(config::shown(each));
  return text + fmt::format("; allowed {}", fmt::join(allowed, ", "));
}

/// Splits "bytes of SRAM [KiB]" into sentence and unit.
std::pair<std::string, std::string> parted(const std::string& description) {
  const std::size_t at = description.rfind(" [");
  if (at == std::string::npos || !description.ends_with(']')) return {description, ""};
  return {description.substr(0, at), description.substr(at + 2, description.size() - at - 3)};
}

}  // namespace

Glossary::Glossary(const Catalogue& catalogue) {
  for (const auto words : {report::shown_words(), report::report_words(), report::run_words()}) {
    for (const report::Word& word : words) {
      const std::string name(word.name);
      const bool key = name.find('.') != std::string::npos;
      all_.push_back({name, std::string(word.sentence), key ? plot::unit_of(name).text : "",
                      std::string(word.from)});
    }
  }
  add_keys(config::schema(MachineConfig()), "machine", "");
  for (const Kernel& kernel : catalogue) {
    const std::unique_ptr<KernelOptions> options = kernel.options();
    all_.push_back({kernel.name, kernel.sentence, "", "workload.kernel; tessera list workloads"});
    add_keys(config::schema([&](config::Fields& fields) { options->visit(fields); }), "workload",
             kernel.name);
  }
  all_.push_back({"workload.kernel", "the kernel that the machine runs", "",
                  "config key; tessera list workloads"});
  add_keys(config::schema(RunConfig()), "run", "");
  add_keys(config::schema(ReportConfig()), "report", "");
  for (const Explanation& each : all_) spoken_.push_back(spoken(each.name));
  for (const report::Label& label : report::labels())
    labels_.emplace_back(spoken(label.text), spoken(label.word));
}

void Glossary::add_keys(const Json& schema, const std::string& path, const std::string& kernel) {
  if (schema.contains("items")) return add_keys(schema["items"], path + "[]", kernel);
  if (!schema.contains("properties")) return;
  for (const auto& [key, inner] : schema["properties"].items()) {
    const std::string name = config::join(path, key);
    auto [sentence, unit] = parted(inner.value("description", ""));
    Explanation made{name, std::move(sentence), std::move(unit), origin(inner, kernel), {}};
    if (!kernel.empty()) made.kernels.push_back(kernel);
    const auto same = std::ranges::find_if(all_, [&](const Explanation& other) {
      return !kernel.empty() && other.name == name && other.sentence == made.sentence &&
             other.unit == made.unit;
    });
    if (same == all_.end()) {
      all_.push_back(std::move(made));
    } else {
      same->kernels.push_back(kernel);
      same->from = fmt::format("config key of {}", fmt::join(same->kernels, ", "));
    }
    add_keys(inner, name, kernel);
  }
}

template <class Is>
void Glossary::take(std::vector<const Explanation*>& found, Is is) const {
  for (std::size_t i = 0; i < all_.size(); ++i)
    if (is(spoken_[i])) add_once(found, &all_[i]);
}

std::vector<const Explanation*> Glossary::find(std::string_view word) const {
  const std::string wanted = spoken(without_indices(word));
  std::vector<const Explanation*> found;
  take(found, [&](const std::string& name) { return name == wanted; });
  for (const auto& label : labels_) {
    if (label.first == wanted)
      take(found, [&](const std::string& name) { return name == label.second; });
  }
  take(found, [&](const std::string& name) { return name.ends_with("." + wanted); });
  // A column of tiles.csv: cycles of contexts by state, or bytes of a memory category.
  for (const auto& [section, ending] :
       {std::pair("stalls.", " context cycles"), std::pair("memory.", " bytes")}) {
    if (!found.empty() || !wanted.ends_with(ending)) continue;
    const std::string of = section + wanted.substr(0, wanted.size() - std::strlen(ending));
    take(found, [&](const std::string& name) { return name == of; });
  }
  if (found.empty() && wanted.find('.') != std::string::npos) return find_path(wanted);
  return found;
}

std::vector<const Explanation*> Glossary::find_path(const std::string& wanted) const {
  std::vector<const Explanation*> found;
  const std::string first(first_part(wanted));
  // A number at the end is a list index: gamma_0, gamma_1.
  std::string last = fmt::format(".{}", last_part(wanted));
  const std::size_t counted = last.find_last_not_of("0123456789");
  if (last[counted] == ' ') last.resize(counted);
  std::vector<std::string> sections = {first + ".", fmt::format("workload.{}.", first)};
  if (first == "plan") sections.emplace_back("workload.");  // a config can give plan values
  for (const std::string& section : sections) {
    take(found, [&](const std::string& name) {
      return found.empty() && name.starts_with(section) && name.ends_with(last);
    });
  }
  // Counts with kernel-specific names share one explanation.
  for (const char* together : {"energy.joules each", "workload.rounded"}) {
    if (wanted.starts_with(std::string(together) + "."))
      take(found, [&](const std::string& name) { return name == together; });
  }
  return found;
}

std::vector<const Explanation*> Glossary::search(std::span<const std::string> words) const {
  std::vector<const Explanation*> found;
  std::ptrdiff_t most = 1;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const std::string text =
        fmt::format(" {} {} {}", spoken_[i], spoken(all_[i].sentence), all_[i].unit);
    const std::ptrdiff_t count = std::ranges::count_if(words, [&](const std::string& word) {
      const std::string wanted = spoken(word);
      return text.find(" " + wanted) != text.npos || text.find("." + wanted) != text.npos;
    });
    if (count > most) found.clear();
    most = std::max(most, count);
    if (count == most) found.push_back(&all_[i]);
  }
  return found;
}

std::vector<std::string> Glossary::names() const {
  std::vector<std::string> names;
  for (const Explanation& each : all_) {
    names.push_back(each.name);
    names.emplace_back(last_part(each.name));
  }
  for (const report::Label& label : report::labels()) names.emplace_back(label.text);
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Json Glossary::titles(const std::vector<std::string>& kernels) const {
  Json words = Json::array();
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const Explanation& each = all_[i];
    const bool theirs = std::ranges::any_of(
        each.kernels, [&](const std::string& kernel) { return contains(kernels, kernel); });
    if (!each.kernels.empty() && !theirs) continue;
    const std::string unit = each.unit.empty() ? "" : fmt::format(" [{}]", each.unit);
    words.push_back({spoken_[i], fmt::format("{}{} ({})", each.sentence, unit, each.from)});
  }
  Json labels = Json::object();
  for (const auto& [text, label] : labels_) labels[text] = label;
  return {{"words", std::move(words)}, {"labels", std::move(labels)}};
}

}  // namespace tessera::command
