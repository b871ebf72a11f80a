#include "guest.h"

enum { kTimes = 300, kLength = 512 };
static u8 one[kLength], other[kLength];
static int row[kLength + 1];

/* The best local alignment of two sequences (Smith and Waterman). */
__attribute__((noinline)) static int align(void) {
  int best = 0;
  for (u32 i = 0; i <= kLength; ++i) row[i] = 0;
  for (u32 i = 0; i < kLength; ++i) {
    int diagonal = 0;
    for (u32 j = 0; j < kLength; ++j) {
      const int up = row[j + 1];
      int score = diagonal + (one[i] == other[j] ? 3 : -2);
      if (up - 1 > score) score = up - 1;
      if (row[j] - 1 > score) score = row[j] - 1;
      if (score < 0) score = 0;
      if (score > best) best = score;
      diagonal = up;
      row[j + 1] = score;
    }
  }
  return best;
}

u32 work(void) {
  u32 sum = 0;
  for (u32 n = 0; n < kTimes; ++n) {
    for (u32 i = 0; i < kLength; ++i) one[i] = next_random() & 3U, other[i] = next_random() & 3U;
    sum = sum * 31U + (u32)align();
  }
  return sum;
}
