#include "guest.h"

enum { kTimes = 2500, kBodies = 96 };
static float px[kBodies], py[kBodies], pz[kBodies], vx[kBodies], vy[kBodies], vz[kBodies], mass[kBodies];

__attribute__((noinline)) static void step(float time) {
  for (u32 i = 0; i < kBodies; ++i) {
    float ax = 0, ay = 0, az = 0;
    for (u32 j = 0; j < kBodies; ++j) {
      const float dx = px[j] - px[i], dy = py[j] - py[i], dz = pz[j] - pz[i];
      const float square = dx * dx + dy * dy + dz * dz + 0.01F;
      const float force = mass[j] / (square * __builtin_sqrtf(square));
      ax += dx * force, ay += dy * force, az += dz * force;
    }
    vx[i] += ax * time, vy[i] += ay * time, vz[i] += az * time;
  }
  for (u32 i = 0; i < kBodies; ++i) px[i] += vx[i] * time, py[i] += vy[i] * time, pz[i] += vz[i] * time;
}

u32 work(void) {
  for (u32 i = 0; i < kBodies; ++i) {
    px[i] = next_float(), py[i] = next_float(), pz[i] = next_float();
    mass[i] = next_float() + 0.6F;
  }
  for (u32 n = 0; n < kTimes; ++n) step(0.001F);
  return sum_of(px, kBodies) + sum_of(vz, kBodies);
}
