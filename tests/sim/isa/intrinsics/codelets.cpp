#include "xtile.h"

// Uses every intrinsic once; a test looks for each Xtile instruction in clang's output.
using namespace xtile;

extern "C" void intrinsics_memory(const double* p, const double* q, double* o,
                                  const unsigned short* indices, float* s, _Float16* h) {
  double a;
  double b;
  double c = fld_p<8>(p);
  ld2(a, b, p, q);
  a = ldst(b, p, o);
  ld2st(a, b, c, p, q, o);
  fsd_p<8>(a, o);
  fsd_p<-8>(b, o);
  fsw_p<4>(flw_p<4>(s), s);
  fsh_p<2>(flh_p<2>(h), h);
  unsigned* words = reinterpret_cast<unsigned*>(s);
  sw_p<4>(lw_p<2047>(words) + lhu_p<-2048>(indices), words);
  sh_p<2>(7U, words);
  fsw_p<4>(lgx_s(s, indices), s);
  fsh_p<2>(lgx_h(h, indices), h);
  c = lgx_d(p, indices);
  sgx_d(c, o, indices);
  sgx_d(lgn_d(p, indices), o, indices);
  sgx_s(1.0F * s[0], s, indices);
  double group[4];
  ld4(group, p);
  fsd_p<8>(group[3], o);
}

extern "C" double intrinsics_arithmetic(double a, double b, double c, float f, _Float16 h) {
  double low;
  double high;
  a = fma_4h(a, b, c);
  a = fma_2s(a, b, c);
  a = axpy_4h(h, a, b);
  a = axpy_2s(f, a, b);
  a = dot2_s_h(a, b, c);
  a = sel(a, b, c);
  zip_h(low, high, a, b);
  zip_s(low, high, low, high);
  a = add_4h(sub_4h(low, high), mul_4h(a, b));
  a = gt_4h(min_4h(a, b), max_4h(a, c));
  a = add_2s(sub_2s(a, b), mul_2s(a, c));
  a = gt_2s(min_2s(a, b), max_2s(a, c));
  a = add_2w(a, b);
  a = pack_4h(unpkl_2s(a), unpkh_2s(a));
  a = add_4h(splat_h(low_h(a)), splat_s(low_s(a)));
  f = act_exp2(act_log2(act_tanh(act_sigmoid(act_rsqrt(sum_2s(a))))));
  a = add_2s(a, splat_s(f + constant(1.5F)));
  a = add_2s(a, splat_s(1.0F * mask_2s(a)));
  a = add_2s(a, rnd_64());
  a = amp_h<27>(a, b);
  a = amp_hs<1>(a, b);
  return amp_s<7>(a, b);
}

extern "C" void intrinsics_integers(const signed char* x, const signed char* w, signed char* y,
                                    int* sums, unsigned step) {
  mode_b(38U);
  ldw_b<11>(w);
  ldh_b<22>(w);
  ld8<0>(x, w, step);
  ld4h<23>(x, w, step);
  ld8z<0>(x, step, step);
  ld4z<23>(x, step, step);
  max_8b<1, 0, 11>();
  max_i16<1, 0, 11>();
  max_bf16<1, 0, 11>();
  srs_i16<22, 7>();
  srs_bf16<22, 7>();
  set_b<7, 23>();
  amp_b<7, 21, 3>();
  amp_i16<7, 21, 3>();
  amp_bf16<7, 10, 3>();
  ld_b<1>(sums);
  ld_i16<1>(sums);
  ld_bf16<1>(sums);
  st_i16<7>(y, step);
  st_bf16<7>(y, step);
  ld_acc<1>(sums);
  st_acc<7>(sums);
  st_b<7>(y, step);
  st4<22>(y, step);
  signed char* other = y + 64;
  st_bh<7>(y, other, step);
  st4h<22>(y, other, step);
}

extern "C" void intrinsics_control(const void* code, const void* list) {
  run(code, list, -1);
  run_block<0x1b>(code, list, -1);
  xctl<1>();
  exch(list);
  exch_wait(list);
  ldma(list, 64U, 8U);
  sdma(list, 64U, 8U);
  const double* weights = static_cast<const double*>(list);
  ldcw<0xfff>(weights);
  xctl<0>();
}
