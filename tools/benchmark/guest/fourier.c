#include "guest.h"

enum { kTimes = 2500, kSize = 1024 };
static float re[kSize], im[kSize], cosines[kSize / 2], sines[kSize / 2];

/* In place, radix 2; inverse with swapped parts. */
__attribute__((noinline)) static void fourier(float* r, float* i) {
  for (u32 a = 1, b = 0; a < kSize; ++a) {
    u32 bit = kSize >> 1;
    for (; b & bit; bit >>= 1) b ^= bit;
    b ^= bit;
    if (a >= b) continue;
    const float t = r[a], u = i[a];
    r[a] = r[b], i[a] = i[b];
    r[b] = t, i[b] = u;
  }
  for (u32 half = 1, step = kSize / 2; half < kSize; half *= 2, step /= 2) {
    for (u32 begin = 0; begin < kSize; begin += 2 * half) {
      for (u32 k = 0; k < half; ++k) {
        const float c = cosines[k * step], s = sines[k * step];
        const u32 p = begin + k, q = p + half;
        const float x = r[q] * c + i[q] * s, y = i[q] * c - r[q] * s;
        r[q] = r[p] - x, i[q] = i[p] - y;
        r[p] = r[p] + x, i[p] = i[p] + y;
      }
    }
  }
}

u32 work(void) {
  float c = 1, s = 0; /* a rotation applied again and again: accurate enough here */
  for (u32 k = 0; k < kSize / 2; ++k) {
    cosines[k] = c, sines[k] = s;
    const float d = c * 0.99998117528260111F - s * 0.00613588464915447535F;
    s = s * 0.99998117528260111F + c * 0.00613588464915447535F;
    c = d;
  }
  for (u32 k = 0; k < kSize; ++k) re[k] = next_float(), im[k] = next_float();
  for (u32 n = 0; n < kTimes; ++n) {
    fourier(re, im);
    fourier(im, re);
    for (u32 k = 0; k < kSize; ++k) re[k] *= 1.0F / kSize, im[k] *= 1.0F / kSize;
  }
  return sum_of(re, kSize) + sum_of(im, kSize);
}
