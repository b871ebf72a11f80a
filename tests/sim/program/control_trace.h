#pragma once

#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/isa/decode.h"
#include "sim/program/image.h"

/// Interprets a tile's control code with a minimal interpreter for the instructions that control
/// code uses, and records its events.
namespace tessera::program::samples {

inline constexpr std::size_t kSram = 262144;

class ControlTrace {
 public:
  /// `decide` returns each decision in turn, instead of the word that the tile branches on.
  ControlTrace(const TileImage& image, std::size_t sram_bytes, std::function<bool()> decide = {})
      : code_(*image.code), sram_(sram_bytes), decide_(std::move(decide)) {
    write(0, code_.bytes);
    for (const Segment& segment : image.segments) write(segment.address.count(), segment.bytes);
    pc_ = code_.entry.count();
  }

  /// One line for each event: "sync STEP", "sync at the end", "exch STEP FIRSTBYTE", "call CODELET
  /// ARGUMENT", "run CODELET WORKER ARGUMENT", "join". ARGUMENT is the first word of the block.
  std::vector<std::string> run() {
    for (int instructions = 0; !ended_; ++instructions) {
      check(instructions < 1'000'000, "test: control code does not end");
      const auto decoded = isa::decode(word(pc_));
      check(decoded.has_value(), "test: no instruction at {:#x}", pc_);
      const std::uint32_t at = pc_;
      pc_ += 4;
      step(*decoded, at);
      x_[0] = 0;
    }
    return events_;
  }

  [[nodiscard]] std::uint32_t stack_pointer() const { return x_[2]; }

 private:
  void write(std::size_t at, const std::vector<std::byte>& bytes) {
    check(at + bytes.size() <= sram_.size(), "test: outside SRAM");
    std::copy(bytes.begin(), bytes.end(), sram_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  [[nodiscard]] std::uint32_t word(std::uint32_t at) const {
    check(at % 4 == 0 && std::size_t{at} + 4 <= sram_.size(), "test: a load at {:#x}", at);
    std::uint32_t value = 0;
    std::memcpy(&value, sram_.data() + at, sizeof value);
    return value;
  }

  void step(const isa::Instruction& in, std::uint32_t at) {
    const std::uint32_t target = at + static_cast<std::uint32_t>(in.imm);
    const std::uint32_t sum = x_[in.rs1] + static_cast<std::uint32_t>(in.imm);
    const auto is = [&](auto... any) { return ((in.mnemonic == any) || ...); };
    using enum isa::Mnemonic;
    if (is(lui)) x_[in.rd] = static_cast<std::uint32_t>(in.imm);
    if (is(addi)) x_[in.rd] = sum;
    if (is(lw)) x_[in.rd] = word(sum);
    if (is(auipc)) x_[in.rd] = target;
    if (is(beq) && x_[in.rs1] == x_[in.rs2]) pc_ = target;
    if (is(bne) && decide_()) pc_ = target;
    if (is(bdnz) && --x_[in.rs1] != 0) pc_ = target;
    if (is(jal)) jump(in, target);
    if (is(jalr)) jump(in, sum);
    if (is(isa::Mnemonic::run))
      log("run {} {} {}", code_.symbol_of(x_[in.rs1]), static_cast<std::int32_t>(x_[in.rd]),
          word(x_[in.rs2]));
    if (is(xctl)) control(in.imm, at);
    if (is(exch)) log("exch {} {}", code_.step_of(at), word(x_[in.rs1]) & 0xff);
    check(is(lui, addi, lw, auipc, beq, bne, bdnz, jal, jalr, isa::Mnemonic::run, xctl, exch,
             exch_wait),
          "test: not an instruction of control code");
  }

  void jump(const isa::Instruction& in, std::uint32_t target) {
    if (in.rd == 0) {
      pc_ = target;
    } else {
      log("call {} {}", code_.symbol_of(target), word(x_[10]));
    }
  }

  void control(std::int32_t operation, std::uint32_t at) {
    if (operation == 0) ended_ = true;
    if (operation == 1) log("join");
    if (operation != 16) return;
    if (const std::uint32_t step = code_.step_of(at); step != kNoStep) {
      log("sync {}", step);
    } else {
      log("sync at the end");
    }
  }

  template <class... Args>
  void log(fmt::format_string<Args...> text, Args&&... args) {
    events_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  const CodeImage& code_;
  std::vector<std::byte> sram_;
  std::function<bool()> decide_;
  std::array<std::uint32_t, 32> x_{};
  std::uint32_t pc_ = 0;
  bool ended_ = false;
  std::vector<std::string> events_;
};

}  // namespace tessera::program::samples
