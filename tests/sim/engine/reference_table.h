#pragma once

#include "tests/sim/engine/integer_unit_reference.h"
#include "tests/sim/engine/xtile_reference.h"

/// Reference of the matrix unit and of base instructions used with Xtile, and a table of all.
namespace tessera::engine::test {
namespace reference {

/// One phase of a unit with `inputs` and `outputs`; In and Out are the input and partial types.
template <class In, class Out>
std::uint64_t amp_phase(Plain& s, unsigned inputs, unsigned outputs, std::uint64_t x,
                        std::uint64_t partials, unsigned number) {
  const unsigned phase = (number & 7U) | number >> 5 << 3;
  const unsigned x_words = inputs / kLanes<In>, p_words = outputs / kLanes<Out>;
  const unsigned phases = std::max(x_words, p_words);
  const auto widened = [&]<class F>(F, std::uint64_t word, unsigned l) {
    return std::is_same_v<F, F16> ? s.take(wide(lane<F16>(word, l))) : lane<F32>(word, l);
  };
  const auto canonical = [](std::uint32_t bits) {
    return exact::nan<F32>(bits) ? F32::kNan : bits;
  };
  if ((number & 8U) != 0) std::swap(s.acc, s.exc);
  std::uint64_t result = 0;
  if (phase < p_words) {
    result = word_of<Out>([&](unsigned l) {
      std::uint32_t& slot = s.exc[phase * kLanes<Out> + l];
      const std::uint32_t sum = slot;
      slot = canonical(widened(Out{}, partials, l));
      if constexpr (std::is_same_v<Out, F16>) return s.take(narrow(sum));
      return canonical(sum);
    });
  }
  if ((number & 16U) != 0) return result;
  const unsigned count = inputs / phases, word = phase * x_words / phases;
  for (unsigned input = phase * count; input < (phase + 1) * count; ++input) {
    const std::uint32_t a = widened(In{}, x, input - word * kLanes<In>);
    for (unsigned j = 0; j < outputs; ++j) {
      const unsigned at = input * outputs + j;
      std::uint32_t w = lane<In>(s.weights[at / kLanes<In>], at % kLanes<In>);
      if (exact::nan<In>(w)) w = In::kNan;  // W never holds signalling NaNs
      if constexpr (std::is_same_v<In, F16>) w = wide(w).bits;
      s.acc[j] = s.take(exact::fma<F32>(a, w, s.acc[j], kNearest));
    }
  }
  return result;
}
template <class In, class Out, unsigned kInputs, unsigned kOutputs>
void amp(Plain& s, I i) {
  s.f[i.rd] = amp_phase<In, Out>(s, kInputs, kOutputs, s.f[i.rs1], s.f[i.rs2],
                                 static_cast<unsigned>(i.imm));
}
using Of2 = std::uint32_t (*)(std::uint32_t, std::uint32_t);
template <Of2 kOf>
void registers(Plain& s, I i) {
  s.set_x(i.rd, kOf(s.x[i.rs1], s.x[i.rs2]));
}
template <Of2 kOf>
void immediate(Plain& s, I i) {
  s.set_x(i.rd, kOf(s.x[i.rs1], static_cast<std::uint32_t>(i.imm)));
}
template <exact::Result (*kOf)(std::uint32_t, std::uint32_t)>
void scalar(Plain& s, I i) {
  s.f[i.rd] = boxed<F32>(s.take(kOf(unboxed(s.f[i.rs1]), unboxed(s.f[i.rs2]))));
}
inline std::uint32_t displaced(Plain& s, I i) {
  return s.x[i.rs1] + static_cast<std::uint32_t>(i.imm);
}
inline std::uint32_t sum(std::uint32_t a, std::uint32_t b) { return a + b; }
inline std::uint32_t both(std::uint32_t a, std::uint32_t b) { return a & b; }
inline std::uint32_t either(std::uint32_t a, std::uint32_t b) { return a ^ b; }
inline std::uint32_t left(std::uint32_t a, std::uint32_t b) { return a << (b & 31U); }
inline std::uint32_t right(std::uint32_t a, std::uint32_t b) { return a >> (b & 31U); }
inline std::uint32_t scaled(std::uint32_t a, std::uint32_t b) { return 4 * a + b; }

}  // namespace reference

struct Reference {
  Mnemonic mnemonic;
  void (*execute)(Plain&, const Instruction&);
};

// clang-format off
inline const std::vector<Reference>& references() {
  using namespace reference;  // NOLINT(google-build-using-namespace)
  static const std::vector<Reference> all = {
    {flh_p, load_on<std::uint16_t, false>}, {flw_p, load_on<std::uint32_t, false>}, {fld_p, load_on<std::uint64_t, false>},
    {lw_p, load_on<std::uint32_t, true>}, {lhu_p, load_on<std::uint16_t, true>},
    {fsh_p, store_on<std::uint16_t, false>}, {fsw_p, store_on<std::uint32_t, false>}, {fsd_p, store_on<std::uint64_t, false>},
    {sw_p, store_on<std::uint32_t, true>}, {sh_p, store_on<std::uint16_t, true>},
    {lgx_s, gather<std::uint32_t, 2>}, {lgx_h, gather<std::uint16_t, 2>}, {lgx_d, gather<std::uint64_t, 2>},
    {lgn_d, gather<std::uint64_t, 0>}, {sgx_d, scatter<std::uint64_t>}, {sgx_s, scatter<std::uint32_t>},
    {ld2, load_two}, {ldst, load_store}, {ld2st, load_two_store}, {ld4, load_four},
    {fma_4h, fused_sum<F16, false>}, {fma_2s, fused_sum<F32, false>}, {axpy_4h, fused_sum<F16, true>}, {axpy_2s, fused_sum<F32, true>},
    {dot2_s_h, dot2}, {sel, [](Plain& s, I i) { s.f[i.rd] = (s.f[i.rs1] & s.f[i.rs2]) | (~s.f[i.rs1] & s.f[i.rs3]); }},
    {zip_h, zip<F16>}, {zip_s, zip<F32>},
    {add_4h, two<F16, add_of<F16>>}, {sub_4h, two<F16, sub_of<F16>>}, {mul_4h, two<F16, mul_of<F16>>},
    {min_4h, two<F16, min_of<F16>>}, {max_4h, two<F16, max_of<F16>>}, {gt_4h, two<F16, gt_of<F16>>},
    {add_2s, two<F32, add_of<F32>>}, {sub_2s, two<F32, sub_of<F32>>}, {mul_2s, two<F32, mul_of<F32>>},
    {min_2s, two<F32, min_of<F32>>}, {max_2s, two<F32, max_of<F32>>}, {gt_2s, two<F32, gt_of<F32>>},
    {add_2w, [](Plain& s, I i) {
      const std::uint64_t low = (s.f[i.rs1] + s.f[i.rs2]) & 0xffff'ffffU;
      s.f[i.rd] = ((s.f[i.rs1] >> 32) + (s.f[i.rs2] >> 32)) << 32 | low;
    }},
    {splat_h, splat<F16>}, {splat_s, splat<F32>},
    {sum_2s, [](Plain& s, I i) { s.f[i.rd] = boxed<F32>(s.take(add_of<F32>(lane<F32>(s.f[i.rs1], 0), lane<F32>(s.f[i.rs1], 1)))); }},
    {mask_2s, [](Plain& s, I i) { s.set_x(i.rd, lane<F32>(s.f[i.rs1], 0) >> 31 | lane<F32>(s.f[i.rs1], 1) >> 31 << 1); }},
    {pack_4h, pack}, {unpkl_2s, unpack<0>}, {unpkh_2s, unpack<2>},
    {act_exp2, activation<exp2_of>}, {act_log2, activation<log2_of>}, {act_tanh, activation<tanh_of>},
    {act_sigmoid, activation<sigmoid_of>}, {act_rsqrt, activation<rsqrt_of>},
    {rnd_64, next_random},
    {amp_h, amp<F16, F16, 16, 16>}, {amp_hs, amp<F16, F32, 16, 8>}, {amp_s, amp<F32, F32, 8, 16>},
    {amp_b, multiply_bytes}, {set_b, set_sums}, {max_8b, larger_bytes}, {mode_b, [](Plain& s, I i) { s.mode = s.x[i.rs1] & 63U; }},
    {ldw_b, load_vector<64>}, {ldh_b, load_vector<32>}, {ld8, load_parts<32>}, {ld4h, load_parts<16>}, {ld_acc, load_sums}, {st_acc, store_sums},
    {amp_i16, multiply_shorts}, {amp_bf16, multiply_brain}, {ld_b, load_results<1>}, {ld_i16, load_results<2>}, {ld_bf16, load_brain}, {st_i16, store_rounded<rounded_shorts>}, {st_bf16, store_rounded<rounded_brain>},
    {max_i16, larger_lanes<larger_short>}, {max_bf16, larger_lanes<larger_brain>}, {srs_i16, take_rounded<rounded_shorts>}, {srs_bf16, take_rounded<rounded_brain>}, {ld8z, load_in_turns<32>}, {ld4z, load_in_turns<16>},
    {st_b, store_whole<true>}, {st_bh, store_halves<true>}, {st4, store_whole<false>}, {st4h, store_halves<false>},
    {xctl, [](Plain& s, I) { for (auto* bank : {&s.acc, &s.exc}) std::fill(bank->begin(), bank->end(), 0U); }},
    // base instructions that a handler may combine with an adjacent Xtile instruction
    {addi, immediate<sum>}, {add, registers<sum>}, {slli, immediate<left>}, {srli, immediate<right>},
    {andi, immediate<both>}, {xor_, registers<either>}, {sh2add, registers<scaled>},
    {lw, [](Plain& s, I i) { s.set_x(i.rd, s.load<std::uint32_t>(displaced(s, i))); }},
    {lbu, [](Plain& s, I i) { s.set_x(i.rd, s.load<std::uint8_t>(displaced(s, i))); }},
    {sw, [](Plain& s, I i) { s.store(displaced(s, i), s.x[i.rs2]); }},
    {flw, [](Plain& s, I i) { s.f[i.rd] = raised(s.load<std::uint32_t>(displaced(s, i))); }},
    {fsw, [](Plain& s, I i) { s.store(displaced(s, i), static_cast<std::uint32_t>(s.f[i.rs2])); }},
    {fld, [](Plain& s, I i) { s.f[i.rd] = s.load<std::uint64_t>(displaced(s, i)); }},
    {fsd, [](Plain& s, I i) { s.store(displaced(s, i), s.f[i.rs2]); }},
    {fmadd_s, [](Plain& s, I i) { s.f[i.rd] = boxed<F32>(s.take(exact::fma<F32>(unboxed(s.f[i.rs1]), unboxed(s.f[i.rs2]), unboxed(s.f[i.rs3]), kNearest))); }},
    {fmul_s, scalar<mul_of<F32>>}, {fadd_s, scalar<add_of<F32>>},
  };
  return all;
}
// clang-format on

}  // namespace tessera::engine::test
