#include "sim/engine/csr.h"

#include <cstddef>

namespace tessera::engine {
namespace {

using isa::Mnemonic;

constexpr std::uint32_t kFlagBits = 0x1f;
constexpr std::uint32_t kModeBits = 0x7;
constexpr std::uint32_t kModeShift = 5;
constexpr std::uint32_t kFcsrBits = 0xff;
constexpr std::uint32_t kFloatingOn = 0x6000;

enum Number : std::uint32_t {
  fflags = 0x001,
  frm = 0x002,
  fcsr = 0x003,
  mstatus = 0x300,
  cycle_low = 0xc00,
  instret_low = 0xc02,
  worker = 0xcc0,
  tile = 0xcc1,
  workers = 0xcc2,
  superstep = 0xcc3
};

std::optional<std::uint32_t> read(std::uint32_t number, const Context& context, std::uint64_t cycle,
                                  std::uint64_t instret) {
  switch (number) {
    case fflags:
      return context.fcsr & kFlagBits;
    case frm:
      return context.fcsr >> kModeShift & kModeBits;
    case fcsr:
      return context.fcsr & kFcsrBits;
    case mstatus:  // a tile has no machine mode; floating point is on
      return kFloatingOn;
    case cycle_low:
      return static_cast<std::uint32_t>(cycle);
    case instret_low:
      return static_cast<std::uint32_t>(instret);
    case worker:
      return context.worker;
    case tile:
      return context.tile;
    case workers:
      return context.workers;
    case superstep:
      return context.superstep;
    default:
      return std::nullopt;
  }
}

bool write(std::uint32_t number, Context& context, std::uint32_t value) {
  switch (number) {
    case fflags:
      context.fcsr = (context.fcsr & ~kFlagBits) | (value & kFlagBits);
      return true;
    case frm:
      context.fcsr = (context.fcsr & kFlagBits) | (value & kModeBits) << kModeShift;
      return true;
    case fcsr:
      context.fcsr = value & kFcsrBits;
      return true;
    case mstatus:  // start-up code turns floating point on; other writes are ignored
      return true;
    default:
      return false;
  }
}

}  // namespace

bool reads_cycle(const isa::Instruction& instruction) {
  const bool writes = instruction.rs1 != 0 || instruction.mnemonic == Mnemonic::csrrw ||
                      instruction.mnemonic == Mnemonic::csrrwi;
  return static_cast<std::uint32_t>(instruction.imm) == cycle_low && !writes;
}

std::optional<std::int32_t> constant_csr(const isa::Instruction& instruction) {
  const Mnemonic m = instruction.mnemonic;
  const bool reads = m == Mnemonic::csrrs || m == Mnemonic::csrrc || m == Mnemonic::csrrsi ||
                     m == Mnemonic::csrrci;
  if (!reads || instruction.rs1 != 0) return std::nullopt;
  switch (static_cast<std::uint32_t>(instruction.imm)) {
    case worker:
      return offsetof(Context, worker);
    case tile:
      return offsetof(Context, tile);
    case workers:
      return offsetof(Context, workers);
    case superstep:
      return offsetof(Context, superstep);
    default:
      return std::nullopt;
  }
}

bool execute_csr(const isa::Instruction& instruction, Context& context, std::uint64_t cycle,
                 std::uint64_t instret) {
  const Mnemonic mnemonic = instruction.mnemonic;
  const bool immediate = mnemonic >= Mnemonic::csrrwi;
  const bool exchange = mnemonic == Mnemonic::csrrw || mnemonic == Mnemonic::csrrwi;
  const bool set = mnemonic == Mnemonic::csrrs || mnemonic == Mnemonic::csrrsi;
  const auto number = static_cast<std::uint32_t>(instruction.imm);
  const std::uint32_t operand = immediate ? instruction.rs1 : context.x[instruction.rs1];

  const std::optional<std::uint32_t> old = read(number, context, cycle, instret);
  if (!old) return false;
  // Setting or clearing through x0 (or 0) does not write: read-only CSRs are read this way.
  if (exchange || instruction.rs1 != 0) {
    std::uint32_t value = operand;
    if (!exchange) value = set ? *old | operand : *old & ~operand;
    if (!write(number, context, value)) return false;
  }
  if (instruction.rd != 0) context.x[instruction.rd] = *old;
  return true;
}

}  // namespace tessera::engine
