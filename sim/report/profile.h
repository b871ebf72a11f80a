#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/engine/profile.h"
#include "sim/isa/listing.h"

/// `tessera profile`: cycles of workers by function and instruction.
namespace tessera::report {

/// An executed function or codelet.
struct ProfiledFunction {
  std::string name;
  std::uint32_t address = 0;                     ///< of its first word; of a codelet: in one image
  std::vector<std::uint32_t> words;              ///< its instruction words
  std::vector<engine::InstructionProfile> rows;  ///< one per instruction
};

/// Splits the profile into functions at the labels, which must be sorted by address.
std::vector<ProfiledFunction> profiled_functions(
    const engine::Profile& profile, std::span<const isa::Label> labels,
    const std::function<std::optional<std::uint32_t>(std::uint32_t pc)>& word_at);

/// Adds `more` to `all`; functions of the same name and code are merged.
void add(std::vector<ProfiledFunction>& all, std::vector<ProfiledFunction> more);

struct ProfileView {
  std::uint32_t cycles_per_slot = 1;  ///< cycles between slots of a context with its own slots
  unsigned top = 0;                   ///< only the costliest instructions, this many; 0: listings
  std::string symbol;                 ///< only this function; empty: all
};

/// A table of the functions, then a disassembly of each, or the costliest instructions: cycles,
/// executions, and the cycles split into issue, waits by cause, and those left to other contexts;
/// for functions also their floating-point instructions as a share of the issue slots. UserError
/// for a symbol that was not executed.
std::string profile_text(std::vector<ProfiledFunction> functions, const ProfileView& view);

/// All rows as CSV, ordered by function and address.
std::string profile_csv(std::vector<ProfiledFunction> functions, const ProfileView& view);

}  // namespace tessera::report
