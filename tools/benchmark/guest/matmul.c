#include "guest.h"

enum { kTimes = 1500, kSide = 48 };
static float a[kSide * kSide], b[kSide * kSide], c[kSide * kSide];

/* Row by row. */
__attribute__((noinline)) static void matmul(u32 n) {
  for (u32 i = 0; i < n; ++i) {
    for (u32 j = 0; j < n; ++j) {
      float sum = 0;
      for (u32 k = 0; k < n; ++k) sum = a[i * n + k] * b[k * n + j] + sum;
      c[i * n + j] = sum;
    }
  }
}

u32 work(void) {
  for (u32 i = 0; i < kSide * kSide; ++i) a[i] = next_float(), b[i] = next_float();
  for (u32 i = 0; i < kTimes; ++i) matmul(kSide);
  return sum_of(c, kSide * kSide);
}
