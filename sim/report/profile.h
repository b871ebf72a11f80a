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

/// `tessera profile`: where the cycles of workers went, by function and instruction.
namespace tessera::report {

/// A function or codelet that was executed.
struct ProfiledFunction {
  std::string name;
  std::uint32_t address = 0;         ///< its first word's; a codelet's is from one image
  std::vector<std::uint32_t> words;  ///< its instructions
  std::vector<engine::InstructionProfile> rows;  ///< one for each instruction
};

/// Cuts what was executed at the labels, which are sorted by address.
std::vector<ProfiledFunction> profiled_functions(
    const engine::Profile& profile, std::span<const isa::Label> labels,
    const std::function<std::optional<std::uint32_t>(std::uint32_t pc)>& word_at);

/// Adds `more` to `all`, where the same code of the same name is one function.
void add(std::vector<ProfiledFunction>& all, std::vector<ProfiledFunction> more);

struct ProfileView {
  std::uint32_t cycles_per_slot = 1;  ///< cycles for a slot of a context that has slots of its own
  unsigned top = 0;                   ///< only so many instructions, the dearest first; 0: listings
  std::string symbol;                 ///< only this function; empty: all
};

/// A table of the functions, then a disassembly of each, or the dearest instructions: cycles, how
/// often executed, and of the cycles those issued in, waited by cause, and left to other contexts;
/// of functions their floating-point instructions beside the slots in which they issued.
/// UserError for a symbol that was not executed.
std::string profile_text(std::vector<ProfiledFunction> functions, const ProfileView& view);

/// All rows as CSV, functions and addresses in order.
std::string profile_csv(std::vector<ProfiledFunction> functions, const ProfileView& view);

}  // namespace tessera::report
