#include "sim/report/profile.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/config/nearest.h"
#include "sim/engine/engine.h"
#include "sim/isa/decode.h"
#include "sim/isa/disassemble.h"
#include "sim/isa/encode.h"
#include "sim/isa/table.h"

namespace tessera::report {
namespace {

using engine::Cause;
using engine::InstructionProfile;

constexpr std::uint32_t kWord = 4;

/// Cycles of one instruction or function.
struct Cycles {
  std::uint64_t times = 0;
  std::uint64_t issue = 0, load = 0, arithmetic = 0, matrix = 0, branch = 0, others = 0;

  Cycles() = default;
  Cycles(const InstructionProfile& row, std::uint64_t pace)
      : times(row.times), issue(row.issued), others(row.issued * (pace - 1) + row.arbitration) {
    const auto waits = [&](Cause cause) {
      return row.waits[static_cast<std::size_t>(cause)] * pace;
    };
    load = waits(Cause::load);
    arithmetic = waits(Cause::arithmetic);
    matrix = waits(Cause::matrix);
    branch = waits(Cause::branch);
  }
  [[nodiscard]] std::uint64_t total() const {
    return issue + load + arithmetic + matrix + branch + others;
  }
};

constexpr const char* kHeading =
    "      cycles       %        times       issue        load  arithmetic      matrix      branch"
    "      others";

std::string numbers(const Cycles& cycles, std::uint64_t whole) {
  const double share =
      whole == 0 ? 0 : 100.0 * static_cast<double>(cycles.total()) / static_cast<double>(whole);
  return fmt::format("{:12} {:6.1f} % {:11} {:11} {:11} {:11} {:11} {:11} {:11}", cycles.total(),
                     share, cycles.times, cycles.issue, cycles.load, cycles.arithmetic,
                     cycles.matrix, cycles.branch, cycles.others);
}

Cycles sum_of(const ProfiledFunction& function, std::uint64_t pace) {
  InstructionProfile sum;
  for (const InstructionProfile& row : function.rows) sum += row;
  return {sum, pace};
}

/// Executed floating-point instructions, as a count and as a share of the slots in which an
/// instruction issued: a function needs at least that many slots.
std::string floating(const ProfiledFunction& function) {
  std::uint64_t times = 0;
  std::uint64_t slots = 0;
  for (std::size_t i = 0; i < function.words.size(); ++i) {
    slots += function.rows[i].issued;
    const auto decoded = isa::decode(function.words[i]);
    if (decoded && isa::info(decoded->mnemonic).issue == isa::IssueClass::floating)
      times += function.rows[i].times;
  }
  const double share =
      slots == 0 ? 0 : 100.0 * static_cast<double>(times) / static_cast<double>(slots);
  return fmt::format("{:11} {:6.1f} %", times, share);
}

/// Sorts by cycles, most first.
void sort(std::vector<ProfiledFunction>& functions, std::uint64_t pace) {
  std::ranges::stable_sort(functions, [pace](const ProfiledFunction& a, const ProfiledFunction& b) {
    return sum_of(a, pace).total() > sum_of(b, pace).total();
  });
}

void keep_only(std::vector<ProfiledFunction>& functions, const std::string& symbol) {
  if (symbol.empty()) return;
  const std::vector<std::string> known = mapped(functions, &ProfiledFunction::name);
  std::erase_if(functions, [&](const ProfiledFunction& each) { return each.name != symbol; });
  if (functions.empty())
    throw UserError("tessera profile: --symbol: found {}, executed were {}", symbol,
                    config::names_near(symbol, known));
}

struct Row {
  const ProfiledFunction* function;
  std::size_t index;
  Cycles cycles;
  [[nodiscard]] std::uint32_t address() const {
    return function->address + static_cast<std::uint32_t>(index) * kWord;
  }
  [[nodiscard]] std::string text() const {
    return isa::disassemble(function->words[index], address());
  }
};

std::vector<Row> rows_of(const std::vector<ProfiledFunction>& functions, std::uint64_t pace) {
  std::vector<Row> rows;
  for (const ProfiledFunction& function : functions)
    for (std::size_t i = 0; i < function.words.size(); ++i)
      rows.push_back({&function, i, Cycles(function.rows[i], pace)});
  return rows;
}

std::string listings(const std::vector<Row>& rows, std::uint64_t whole) {
  std::string text;
  for (const Row& row : rows) {
    if (row.index == 0) text += fmt::format("\n{}:\n{}\n", row.function->name, kHeading);
    const std::string left =
        row.cycles.times == 0 ? std::string(93, ' ') : numbers(row.cycles, whole);
    text += fmt::format("{:93}  {:6x}: {}\n", left, row.address(), row.text());
  }
  return text;
}

std::string dearest(std::vector<Row> rows, unsigned top, std::uint64_t whole) {
  std::ranges::stable_sort(
      rows, [](const Row& a, const Row& b) { return a.cycles.total() > b.cycles.total(); });
  std::string text = fmt::format("\n{}  instruction\n", kHeading);
  for (const Row& row : std::span(rows).first(std::min<std::size_t>(top, rows.size()))) {
    if (row.cycles.times == 0) break;
    text += fmt::format("{:93}  {}+{:#x}: {}\n", numbers(row.cycles, whole), row.function->name,
                        row.index * kWord, row.text());
  }
  return text;
}

/// Starts a function at `label`, or at `pc` if no label precedes it.
ProfiledFunction begin(std::uint32_t pc, const isa::Label* label) {
  if (pc == engine::kReturnAddress) return {"(end of a worker that returned)", pc, {}, {}};
  if (label == nullptr) return {fmt::format("{:#x}", pc), pc, {}, {}};
  return {label->name, label->address, {}, {}};
}

}  // namespace

std::vector<ProfiledFunction> profiled_functions(
    const engine::Profile& profile, std::span<const isa::Label> labels,
    const std::function<std::optional<std::uint32_t>(std::uint32_t)>& word_at) {
  std::vector<ProfiledFunction> functions;
  std::uint32_t end = 0;  // end of the last function
  for (const auto& [pc, row] : profile) {
    if (functions.empty() || pc >= end) {
      const auto next = std::upper_bound(
          labels.begin(), labels.end(), pc,
          [](std::uint32_t at, const isa::Label& one) { return at < one.address; });
      functions.push_back(begin(pc, next == labels.begin() ? nullptr : &*std::prev(next)));
      end = next == labels.end() ? engine::kReturnAddress : next->address;
      if (pc == engine::kReturnAddress) end = ~0U;
    }
    ProfiledFunction& function = functions.back();
    while (function.address + function.words.size() * kWord <= pc) {
      const auto at = function.address + static_cast<std::uint32_t>(function.words.size()) * kWord;
      const bool returned = at == engine::kReturnAddress;
      const isa::Instruction stop{.mnemonic = isa::Mnemonic::xctl};
      function.words.push_back(returned ? isa::encode(stop) : word_at(at).value_or(0));
      function.rows.emplace_back();
    }
    function.rows.back() = row;
  }
  return functions;
}

void add(std::vector<ProfiledFunction>& all, std::vector<ProfiledFunction> more) {
  for (ProfiledFunction& function : more) {
    const auto same = std::ranges::find_if(all, [&](const ProfiledFunction& one) {
      const std::size_t words = std::min(one.words.size(), function.words.size());
      return one.name == function.name &&
             std::equal(one.words.begin(), one.words.begin() + static_cast<std::ptrdiff_t>(words),
                        function.words.begin());
    });
    if (same == all.end()) {
      all.push_back(std::move(function));
      continue;
    }
    if (same->words.size() < function.words.size()) std::swap(*same, function);
    for (std::size_t i = 0; i < function.rows.size(); ++i) same->rows[i] += function.rows[i];
  }
}

std::string profile_text(std::vector<ProfiledFunction> functions, const ProfileView& view) {
  const std::uint64_t pace = view.cycles_per_slot;
  std::uint64_t whole = 0;
  for (const ProfiledFunction& each : functions) whole += sum_of(each, pace).total();
  keep_only(functions, view.symbol);
  sort(functions, pace);
  std::string text = fmt::format("{}    floating  of issue  function\n", kHeading);
  for (const ProfiledFunction& each : functions)
    text += fmt::format("{:93} {}   {}\n", numbers(sum_of(each, pace), whole), floating(each),
                        each.name);
  const std::vector<Row> rows = rows_of(functions, pace);
  return text + (view.top > 0 ? dearest(rows, view.top, whole) : listings(rows, whole));
}

std::string profile_csv(std::vector<ProfiledFunction> functions, const ProfileView& view) {
  keep_only(functions, view.symbol);
  sort(functions, view.cycles_per_slot);
  std::string text =
      "function,address,instruction,cycles,times,issue,load,arithmetic,matrix,branch,others\n";
  for (const Row& row : rows_of(functions, view.cycles_per_slot)) {
    const Cycles& c = row.cycles;
    text += fmt::format("{},{:#x},\"{}\",{},{},{},{},{},{},{},{}\n", row.function->name,
                        row.address(), row.text(), c.total(), c.times, c.issue, c.load,
                        c.arithmetic, c.matrix, c.branch, c.others);
  }
  return text;
}

}  // namespace tessera::report
