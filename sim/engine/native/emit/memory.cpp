#include "sim/base/types.h"
#include "sim/engine/native/emit/emitter.h"
#include "sim/engine/native/emit/layout.h"
#include "sim/isa/float/format.h"

/// Loads and stores. Bounds are compared in 64 bits, so that sums that wrap in 32 bits fail;
/// addresses may then be formed in 64 bits without wrapping.
namespace tessera::engine::native {

namespace x86 = asmjit::x86;
using asmjit::imm;
using enum isa::Mnemonic;

namespace {
constexpr std::uint32_t kGranule = 8;  // as in set_bounds: stores right behind the code are slow

}  // namespace

/// Leaves if [address + displacement, + span) is out of bounds or does not begin at a multiple of
/// 1 << log.
void Emitter::compare(const Gp& address, std::int32_t displacement, unsigned log, bool store,
                      std::uint32_t span, const Step& step) {
  const std::uint32_t base = store ? round_up(setting_.code_end, kGranule) : 0;
  if (std::uint64_t{base} + span > setting_.size) {
    a_.jmp(leave_before(step));
    return;
  }
  Gp at = address.r64();
  if (displacement != 0 || base != 0) {
    a_.lea(x86::rax, x86::ptr(at, displacement - static_cast<std::int32_t>(base)));
    at = x86::rax;
  }
  if (log != 0) {
    a_.rorx(x86::rdx, at, imm(log));
    at = x86::rdx;
  }
  a_.cmp(at, imm(((setting_.size - base - span) >> log) + 1));
  a_.jae(leave_before(step));
}

/// Emits the bounds check of an access if it is still needed; returns its operand. Uses rax.
x86::Mem Emitter::address(const Step& step, const Access& access) {
  const PlannedAccess& planned = plan_.accesses[access_++];
  const std::uint32_t bytes = 1U << access.log;
  const std::int32_t lag = lag_[access.base];
  const std::int32_t offset = access.offset + lag;
  if (planned.group >= 0) {
    Group& group = plan_.groups[static_cast<std::size_t>(planned.group)];
    if (!group.checked) {
      compare(get_behind(access.base, x86::eax), group.low - planned.base_at + lag, group.log,
              group.store, static_cast<std::uint32_t>(group.high - group.low), step);
      group.checked = true;
      if (access.log == 3 && !access.store)
        bring(x86::ptr(get_behind(access.base, x86::eax).r64(), offset));
    }
  } else {
    compare(get_behind(access.base, x86::eax), offset, access.log, access.store, bytes, step);
  }
  return x86::ptr(x86::rbp, get_behind(access.base, x86::eax).r64(), 0, offset, bytes);
}

/// Prefetches the data that the next tile will read at `from`; uses rdx.
void Emitter::bring(const Mem& from) {
  a_.mov(x86::rdx, x86::qword_ptr(x86::rsp, stack::kNext));
  a_.add(x86::rdx, from.baseReg().as<Gp>());
  a_.prefetcht1(x86::ptr(x86::rdx, static_cast<std::int32_t>(from.offset())));
}

/// The element of a gather or scatter whose index is at address x[rs2]; its operand uses rax.
x86::Mem Emitter::gathered(const Step& step, std::uint8_t base, unsigned log, bool store) {
  const Mem index = address(step, accesses_of(step.instruction).all[0]);
  a_.movzx(x86::eax, index.cloneResized(2));
  const Gp origin = get(base, x86::edx);
  a_.lea(x86::eax, x86::ptr(origin.r64(), x86::rax, log));
  const std::uint32_t bytes = 1U << log;
  // rax stays the address: the comparison uses rdx.
  const std::uint32_t low = store ? round_up(setting_.code_end, kGranule) : 0;
  if (std::uint64_t{low} + bytes > setting_.size) a_.jmp(leave_before(step));
  a_.rorx(x86::rdx, x86::rax, imm(log));
  if (low != 0) a_.sub(x86::rdx, imm(low >> log));
  a_.cmp(x86::rdx, imm(((setting_.size - low - bytes) >> log) + 1));
  a_.jae(leave_before(step));
  if (!store) bring(x86::ptr(x86::rax));
  return x86::ptr(x86::rbp, x86::rax, 0, 0, bytes);
}

void Emitter::load_word(std::uint8_t fd, const Mem& from) {
  const Xmm made = into_f(fd);
  a_.vmovq(made, from);
  put_f(fd, made);
}
void Emitter::load_single(std::uint8_t fd, const Mem& from) {
  const Xmm made = into_f(fd);
  a_.vmovss(made, from);
  put_single(fd, made, {});
}
void Emitter::load_half(std::uint8_t fd, const Mem& from) {
  constexpr std::int64_t kAbove = ~std::int64_t{0xffff};
  a_.movzx(x86::eax, from);
  a_.or_(x86::rax, imm(kAbove));
  const Xmm made = into_f(fd);
  a_.vmovq(made, x86::rax);
  put_f(fd, made);
}

void Emitter::load_x(const isa::Instruction& is, const Mem& from, const Gp& made) {
  if (is.mnemonic == lb || is.mnemonic == lh)
    a_.movsx(made, from);
  else if (from.size() == 4)
    a_.mov(made, from);
  else
    a_.movzx(made, from);
}

/// Emits a load of either side of a choice.
void Emitter::load_ahead(const Step& load) {
  ++step_;
  const isa::Instruction& is = load.instruction;
  const Access access = accesses_of(is).all[0];
  const std::uint32_t bytes = 1U << access.log;
  const Gp base = get(access.base, x86::eax);
  compare(base, access.offset, access.log, false, bytes, load);
  const Mem from = x86::ptr(x86::rbp, get(access.base, x86::eax).r64(), 0, access.offset, bytes);
  if (is.mnemonic == flw) {
    load_single(is.rd, from);
    singles_.known |= std::uint64_t{1} << is.rd;
  } else {
    load_x(is, from, into(is.rd));
  }
}

bool Emitter::emit_memory(const isa::Instruction& is, const Step& step) {
  const Accesses accesses = accesses_of(is);
  if (accesses.count == 0) return false;
  const std::size_t first = access_;
  const auto all = [&] {  // for instructions with one access
    const Mem at = address(step, accesses.all[0]);
    access_ = first;
    return at;
  };
  const auto advance = [&](std::uint8_t r, std::int32_t by) {
    if (r != 0) add_immediate(r, r, by);
  };
  const auto store_x = [&](unsigned bytes) {
    if (is.rs2 != 0) get(is.rs2, x86::edx);  // it may be the base
    const Mem to = all();
    const Gp value = get(is.rs2, x86::edx);
    if (bytes == 1)
      a_.mov(to, value.r8());
    else if (bytes == 2)
      a_.mov(to, value.r16());
    else
      a_.mov(to, value);
  };
  const auto store_f = [&](unsigned f, const Mem& to) {
    const Xmm value = to.size() == 8 ? get_f(f, x86::xmm0) : get_low(f, x86::xmm0);
    if (to.size() == 2)
      a_.vpextrw(to, value, imm(0));
    else if (to.size() == 4)
      a_.vmovss(to, value);
    else
      a_.vmovq(to, value);
  };
  switch (is.mnemonic) {
    case lb:
    case lh:
    case lbu:
    case lhu:
    case lw:
    case lw_p:
    case lhu_p: {
      const Mem from = all();
      const bool moves = is.mnemonic == lw_p || is.mnemonic == lhu_p;
      const bool apart = is.rd == 0 || (moves && is.rd == is.rs1);
      const Gp made = apart ? Gp(x86::edx) : into(is.rd);
      load_x(is, from, made);
      if (moves) advance(is.rs1, is.imm);
      if (is.rd != 0) put(is.rd, made);
      return true;
    }
    case sb:
      store_x(1);
      return true;
    case sh:
    case sh_p:
      store_x(2);
      if (is.mnemonic == sh_p) advance(is.rs1, is.imm);
      return true;
    case sw:
    case sw_p:
      store_x(4);
      if (is.mnemonic == sw_p) advance(is.rs1, is.imm);
      return true;
    case flh:
    case flh_p:
      load_half(is.rd, all());
      if (is.mnemonic == flh_p) advance(is.rs1, is.imm);
      return true;
    case flw:
    case flw_p:
      load_single(is.rd, all());
      if (is.mnemonic == flw_p) advance(is.rs1, is.imm);
      return true;
    case fld:
    case fld_p:
      load_word(is.rd, all());
      if (is.mnemonic == fld_p) advance(is.rs1, is.imm);
      return true;
    case fsh:
    case fsw:
    case fsd:
      store_f(is.rs2, all());
      return true;
    case fsh_p:
    case fsw_p:
    case fsd_p:
      store_f(is.rs2, all());
      advance(is.rs1, is.imm);
      return true;
    case lgx_h:
      load_half(is.rd, gathered(step, is.rs1, 1, false));
      break;
    case lgx_s:
      load_single(is.rd, gathered(step, is.rs1, 2, false));
      break;
    case lgx_d:
    case lgn_d:
      load_word(is.rd, gathered(step, is.rs1, 3, false));
      break;
    case sgx_s:
      store_f(is.rd, gathered(step, is.rs1, 2, true));
      break;
    case sgx_d:
      store_f(is.rd, gathered(step, is.rs1, 3, true));
      break;
    case ld2: {
      a_.vmovq(x86::xmm0, address(step, accesses.all[0]));
      a_.vmovq(x86::xmm1, address(step, accesses.all[1]));
      access_ = first;
      advance(is.rs1, 8);
      advance(is.rs2, 8);
      put_f(is.rd, x86::xmm0);
      put_f(is.rs3, x86::xmm1);
      return true;
    }
    case ldst: {
      a_.vmovq(x86::xmm0, address(step, accesses.all[0]));
      const Mem to = address(step, accesses.all[1]);
      access_ = first;
      a_.vmovq(to, get_f(is.rs3, x86::xmm1));
      advance(is.rs1, 8);
      advance(is.rs2, 8);
      put_f(is.rd, x86::xmm0);
      return true;
    }
    case ld2st: {
      constexpr std::uint8_t kFirst = 28;
      a_.vmovq(x86::xmm0, address(step, accesses.all[0]));
      a_.vmovq(x86::xmm1, address(step, accesses.all[1]));
      const Mem to = address(step, accesses.all[2]);
      access_ = first;
      a_.vmovq(to, get_f(is.rs2, x86::xmm2));
      for (std::uint8_t i = 0; i < 3; ++i) advance(static_cast<std::uint8_t>(kFirst + i), 8);
      put_f(is.rd, x86::xmm0);
      put_f(is.rs3, x86::xmm1);
      return true;
    }
    default:
      access_ = first;
      return false;
  }
  access_ = first;
  if (is.mnemonic != lgn_d) advance(is.rs2, 2);
  return true;
}

}  // namespace tessera::engine::native
