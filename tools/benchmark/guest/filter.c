#include "guest.h"

enum { kTimes = 8000, kCount = 4096 };
static u32 values[kCount];

/* The sum of what is above a threshold, which one time in two a value is. */
__attribute__((noinline)) static u32 filter(u32 threshold) {
  u32 sum = 0, count = 0;
  for (u32 i = 0; i < kCount; ++i)
    if (values[i] > threshold) sum += values[i], ++count;
  return sum ^ count;
}

u32 work(void) {
  u32 sum = 0;
  for (u32 i = 0; i < kCount; ++i) values[i] = next_random();
  for (u32 n = 0; n < kTimes; ++n) {
    sum = sum * 31U + filter((1U << 23) + (n << 8));
    values[n % kCount] = next_random();
  }
  return sum;
}
