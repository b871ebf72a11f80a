#include "guest.h"

enum { kTimes = 8000, kNeurons = 4096 };
static float potential[kNeurons], current[kNeurons];
static u32 fired[kNeurons];

/* Leaky integrate-and-fire neurons; returns how many fired. */
__attribute__((noinline)) static u32 lif(u32 count, float decay, float threshold) {
  u32 total = 0;
  for (u32 i = 0; i < count; ++i) {
    float v = decay * potential[i] + current[i];
    if (v >= threshold) {
      v = v - threshold;
      fired[total++] = i;
    }
    potential[i] = v;
  }
  return total;
}

u32 work(void) {
  u32 total = 0;
  for (u32 i = 0; i < kNeurons; ++i) potential[i] = next_float(), current[i] = next_float();
  for (u32 i = 0; i < kTimes; ++i) total += lif(kNeurons, 0.9F, 0.4F);
  return sum_of(potential, kNeurons) + total;
}
