#include "sim/engine/bare_program.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/elf/double_arithmetic.h"
#include "sim/engine/code.h"
#include "sim/engine/profile.h"
#include "sim/engine/semihosting.h"
#include "sim/isa/disassemble.h"

namespace tessera::engine {
namespace {

constexpr int kRa = 1;
constexpr int kSp = 2;
constexpr int kGp = 3;
constexpr int kA0 = 10;
constexpr int kA1 = 11;
constexpr int kA2 = 12;
constexpr int kA7 = 17;
constexpr std::uint32_t kWrite = 64;
constexpr std::uint32_t kExit = 93;
constexpr std::uint32_t kExitGroup = 94;
constexpr std::uint32_t kNoSystemCall = static_cast<std::uint32_t>(-38);  // ENOSYS
constexpr std::uint32_t kBadAddress = static_cast<std::uint32_t>(-14);    // EFAULT
constexpr std::uint32_t kBadDescriptor = static_cast<std::uint32_t>(-9);  // EBADF

class BareTile {
 public:
  BareTile(const elf::Program& program, const TileConfig& tile, const ExecOptions& options)
      : program_(program), tile_(tile), options_(options) {
    constexpr std::uint32_t kKib = 1024;
    const std::uint32_t size =
        options.memory_bytes != 0 ? options.memory_bytes : tile.sram_kib * kKib;
    memory_.resize(size);
    for (const elf::Segment& segment : program.segments)
      if (segment.copied_from) load(segment, *segment.copied_from, segment.bytes.size());
    for (const elf::Segment& segment : program.segments)
      load(segment, segment.address, segment.memory_bytes);
    code_end_ = end_of_code();
    check_data();
    debugger_.emplace(std::span(memory_), code_end_, options.write);
    code_ = predecode(std::span(memory_).first(code_end_), Role::worker, tile,
                      {.profile = options.profile, .engine = options.engine});
    constexpr std::uint32_t kStackAlign = 16;
    context_.x[kRa] = kReturnAddress;
    context_.x[kSp] = size - size % kStackAlign;
    context_.x[kGp] = program.global_pointer;
    context_.pc = program.entry;
    context_.workers = 1;
    const std::uint32_t sums = tile.matrix_unit.bank_sums();
    weights_.resize(tile.matrix_unit.weight_words());
    banks_.resize(std::size_t{2} * sums);
    context_.banks = {banks_.data(), banks_.data() + sums};
    if (tile.matrix_unit.has_vectors()) context_.integers = &integers_;
  }

  ExecResult run() {
    for (;;) {
      const TileMemory view{memory_.data(), static_cast<std::uint32_t>(memory_.size()), code_end_,
                            weights_.data()};
      const std::uint64_t used = std::min(context_.slots, options_.slot_limit);
      const Exit exit = engine::run(*code_, context_, view, options_.slot_limit - used);
      // Straight-line code may exceed the limit before the engine checks it.
      if (exit.stop == Stop::limit || context_.slots > options_.slot_limit) {
        throw NoProgress(no_progress_message(exit.pc));
      }
      if (exit.stop == Stop::end_worker) return result(context_.x[kA0]);
      if (exit.stop != Stop::environment_call) throw UserError(fault_message(exit));
      if (debugger_->is_call(exit.pc)) {
        const auto [a0, exit_code] = debugger_->answer(context_.x[kA0], context_.x[kA1]);
        if (exit_code) return result(*exit_code);
        context_.x[kA0] = a0;
        continue;
      }
      const std::uint32_t call = context_.x[kA7];
      if (call == kExit || call == kExitGroup) return result(context_.x[kA0]);
      context_.x[kA0] = call == kWrite ? write() : kNoSystemCall;
    }
  }

 private:
  void load(const elf::Segment& segment, std::uint32_t address, std::uint64_t bytes) {
    const std::uint64_t end = address + bytes;
    if (end > memory_.size()) {
      std::uint64_t all = 0;
      for (const elf::Segment& each : program_.segments) all += each.memory_bytes;
      throw UserError("{}: the segment at {:#x} ends at {:#x}, memory at {:#x}; {}", program_.name,
                      address, end, memory_.size(),
                      all > memory_.size() ? "the program is larger than the memory"
                                           : "link it lower, as by -Wl,-Ttext-segment=0");
    }
    std::ranges::copy(segment.bytes, memory_.begin() + address);
  }

  /// End of the code: constants may follow it in a segment, and data in a writable one.
  [[nodiscard]] std::uint32_t end_of_code() const {
    std::uint32_t end = 0;
    for (const elf::CodeRange& range : program_.code)
      end = std::max(end, range.address + range.size);
    if (!program_.code.empty()) return end;
    for (const elf::Segment& segment : program_.segments)
      if (segment.executable) end = std::max(end, segment.address + segment.memory_bytes);
    return end;
  }

  void check_data() const {
    for (const elf::Segment& segment : program_.segments) {
      if (segment.writable && !segment.executable && segment.address < code_end_) {
        throw UserError("{}: the writable segment at {:#x} lies below the end of the code at {:#x}",
                        program_.name, segment.address, code_end_);
      }
    }
  }

  std::uint32_t write() {
    const std::uint32_t descriptor = context_.x[kA0];
    const std::uint32_t address = context_.x[kA1];
    const std::uint32_t bytes = context_.x[kA2];
    if (descriptor != 1 && descriptor != 2) return kBadDescriptor;
    if (std::uint64_t{address} + bytes > memory_.size()) return kBadAddress;
    std::string text(bytes, '\0');
    std::memcpy(text.data(), memory_.data() + address, bytes);
    if (options_.write) options_.write(static_cast<int>(descriptor), text);
    return bytes;
  }

  [[nodiscard]] std::string instruction_at(std::uint32_t pc) const {
    if (pc % 4 != 0 || std::uint64_t{pc} + 4 > memory_.size()) return "no instruction";
    return isa::disassemble(word_at(pc), pc);
  }

  [[nodiscard]] std::uint32_t word_at(std::uint32_t pc) const {
    std::uint32_t word;
    std::memcpy(&word, memory_.data() + pc, sizeof(word));
    return word;
  }

  /// The message, with the hart's position and integer registers.
  [[nodiscard]] std::string no_progress_message(std::uint32_t pc) const {
    const auto after = std::ranges::find_if(
        program_.symbols, [pc](const elf::Symbol& one) { return one.address > pc; });
    const bool known = after != program_.symbols.begin();
    std::string text = fmt::format(
        "{}: still running after {} cycles, the limit (--max-cycles)\n"
        "  pc {:#x}{}: {}",
        program_.name, cycles(), pc, known ? fmt::format(" ({})", std::prev(after)->name) : "",
        instruction_at(pc));
    constexpr unsigned kRow = 6;
    for (unsigned i = 1; i < 32; ++i) {
      text += fmt::format("{}{:>4} {:#010x}", i % kRow == 1 ? "\n " : " ",
                          isa::integer_register_name(i), context_.x[i]);
    }
    return text;
  }

  [[nodiscard]] std::string fault_message(const Exit& exit) const {
    const std::string instruction = instruction_at(exit.pc);
    if (exit.stop != Stop::fault) {
      return fmt::format("{}: at {:#x}: {}: only a machine's supervisor can do this", program_.name,
                         exit.pc, instruction);
    }
    if (exit.fault == Fault::out_of_range && (exit.pc % 4 != 0 || exit.pc >= code_end_)) {
      return fmt::format("{}: at {:#x}: no code is there; it ends at {:#x}", program_.name, exit.pc,
                         code_end_);
    }
    if (exit.fault == Fault::illegal_instruction && elf::is_double_arithmetic(word_at(exit.pc))) {
      return fmt::format("{}: at {:#x}: {}: {}", program_.name, exit.pc, instruction,
                         elf::kDoubleArithmetic);
    }
    return fmt::format("{}: at {:#x}: {}: {}, address {:#x}", program_.name, exit.pc, instruction,
                       describe(exit.fault), exit.address);
  }

  [[nodiscard]] std::uint64_t cycles() const {
    return context_.slots * code_->timing().cycles_per_slot();
  }
  [[nodiscard]] ExecResult result(std::uint32_t exit_code) const {
    ExecResult result{exit_code, cycles(), context_.slots, context_.instructions, {}};
    if (options_.profile) result.profile = profile(*code_);
    return result;
  }

  const elf::Program& program_;
  TileConfig tile_;
  const ExecOptions& options_;
  std::vector<std::byte> memory_;
  std::uint32_t code_end_ = 0;
  std::optional<Semihosting> debugger_;  ///< made once the code is loaded
  std::shared_ptr<const Code> code_;
  Context context_;
  std::vector<std::uint64_t> weights_;
  std::vector<float> banks_;
  packed::IntegerUnit integers_;
};

}  // namespace

ExecResult execute_bare(const elf::Program& program, const TileConfig& tile,
                        const ExecOptions& options) {
  return BareTile(program, tile, options).run();
}

}  // namespace tessera::engine
