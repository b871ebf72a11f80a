#include "guest.h"

enum { kTimes = 6000, kBytes = 16384 };
static u8 data[kBytes];
static u32 table[256];

__attribute__((noinline)) static u32 crc32(u32 bytes) {
  u32 crc = ~0U;
  for (u32 i = 0; i < bytes; ++i) crc = table[(crc ^ data[i]) & 0xff] ^ crc >> 8;
  return ~crc;
}

u32 work(void) {
  u32 sum = 0;
  for (u32 i = 0; i < kBytes; ++i) data[i] = (u8)next_random();
  for (u32 i = 0; i < 256; ++i) {
    table[i] = i;
    for (int bit = 0; bit < 8; ++bit) table[i] = table[i] >> 1 ^ (table[i] & 1U) * 0xedb88320U;
  }
  for (u32 i = 0; i < kTimes; ++i) {
    data[i % kBytes] ^= (u8)i;
    sum = sum * 3 + crc32(kBytes);
  }
  return sum;
}
