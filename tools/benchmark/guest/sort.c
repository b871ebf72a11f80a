#include "guest.h"

enum { kTimes = 800, kCount = 4096 };
static u32 keys[kCount], heap[kCount];

/* Heap sort. */
__attribute__((noinline)) static void sort(u32* a, u32 count) {
  for (u32 end = count, start = count / 2; end > 1;) {
    u32 value;
    if (start > 0) {
      value = a[--start];
    } else {
      value = a[--end];
      a[end] = a[0];
    }
    u32 root = start;
    for (u32 child; (child = 2 * root + 1) < end; root = child) {
      if (child + 1 < end && a[child] < a[child + 1]) ++child;
      if (value >= a[child]) break;
      a[root] = a[child];
    }
    a[root] = value;
  }
}

u32 work(void) {
  u32 sum = 0;
  for (u32 i = 0; i < kCount; ++i) keys[i] = next_random();
  for (u32 n = 0; n < kTimes; ++n) {
    for (u32 i = 0; i < kCount; ++i) heap[i] = keys[i] ^ n;
    sort(heap, kCount);
    sum = sum * 7 + heap[n % kCount];
  }
  return sum + sum_of(heap, kCount);
}
