#include "guest.h"

enum { kTimes = 5000, kRows = 1024, kLongest = 32 };
static u32 starts[kRows + 1], columns[kRows * kLongest];
static float values[kRows * kLongest], x[kRows], y[kRows];

/* Compressed sparse rows. */
__attribute__((noinline)) static void spmv(u32 rows) {
  for (u32 row = 0; row < rows; ++row) {
    float sum = 0;
    for (u32 i = starts[row]; i < starts[row + 1]; ++i) sum = values[i] * x[columns[i]] + sum;
    y[row] = sum;
  }
}

u32 work(void) {
  for (u32 row = 0; row < kRows; ++row) {
    u32 at = starts[row];
    for (u32 left = next_random() % kLongest; left > 0; --left, ++at) {
      columns[at] = next_random() % kRows;
      values[at] = next_float();
    }
    starts[row + 1] = at;
    x[row] = next_float();
  }
  for (u32 i = 0; i < kTimes; ++i) spmv(kRows);
  return sum_of(y, kRows);
}
