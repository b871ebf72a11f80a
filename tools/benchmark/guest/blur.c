#include "guest.h"

enum { kTimes = 5000, kSide = 96 };
static float field[2][kSide][kSide];

__attribute__((noinline)) static void step(float (*from)[kSide], float (*to)[kSide]) {
  for (u32 i = 1; i + 1 < kSide; ++i)
    for (u32 j = 1; j + 1 < kSide; ++j)
      to[i][j] = 0.5F * from[i][j] + 0.125F * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
}

u32 work(void) {
  for (u32 i = 0; i < kSide; ++i)
    for (u32 j = 0; j < kSide; ++j) field[0][i][j] = field[1][i][j] = next_float();
  for (u32 n = 0; n < kTimes; ++n) step(field[n % 2], field[1 - n % 2]);
  return sum_of(field, 2 * kSide * kSide);
}
