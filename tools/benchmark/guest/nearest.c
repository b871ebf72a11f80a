#include "guest.h"

enum { kTimes = 5000, kPoints = 1024, kCentres = 8 };
static float points[kPoints], centres[kCentres];
static u32 nearest[kPoints];

/* Which centre is next to each point. */
__attribute__((noinline)) static void assign(void) {
  for (u32 i = 0; i < kPoints; ++i) {
    float least = 1e9F;
    u32 at = 0;
    for (u32 k = 0; k < kCentres; ++k) {
      float distance = (points[i] - centres[k]) * (points[i] - centres[k]);
      if (distance < least) least = distance, at = k;
    }
    nearest[i] = at;
  }
}

u32 work(void) {
  for (u32 i = 0; i < kPoints; ++i) points[i] = next_float();
  for (u32 i = 0; i < kTimes; ++i) {
    for (u32 k = 0; k < kCentres; ++k) centres[k] = next_float();
    assign();
  }
  return sum_of(nearest, kPoints);
}
