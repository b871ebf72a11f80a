#include "guest.h"

enum { kTimes = 20000, kCount = 4096 };
static float x[kCount], y[kCount];

__attribute__((noinline)) static void saxpy(u32 count, const float* from, float* to, float a) {
  for (u32 i = 0; i < count; ++i) to[i] = a * from[i] + to[i];
}

u32 work(void) {
  for (u32 i = 0; i < kCount; ++i) x[i] = next_float(), y[i] = next_float();
  for (u32 i = 0; i < kTimes; ++i) saxpy(kCount, x, y, i % 2 == 0 ? 0.5F : -0.5F);
  return sum_of(y, kCount);
}
