/* The loops that `tools/bench` measures: plain RV32IMF code, no Xtile. Each begins at its symbol,
 * takes its arguments as the calling convention says, and returns to the address in ra. */
typedef unsigned int u32;
typedef unsigned char u8;

void saxpy(u32 count, const float* x, float* y, float a) {
  for (u32 i = 0; i < count; ++i) y[i] = a * x[i] + y[i];
}

/* c = a * b, all n x n, row by row. */
void matmul(u32 n, const float* a, const float* b, float* c) {
  for (u32 i = 0; i < n; ++i) {
    for (u32 j = 0; j < n; ++j) {
      float sum = 0;
      for (u32 k = 0; k < n; ++k) sum = a[i * n + k] * b[k * n + j] + sum;
      c[i * n + j] = sum;
    }
  }
}

/* y = A * x in compressed sparse rows. */
void spmv(u32 rows, const u32* starts, const u32* columns, const float* values, const float* x,
          float* y) {
  for (u32 row = 0; row < rows; ++row) {
    float sum = 0;
    for (u32 i = starts[row]; i < starts[row + 1]; ++i) sum = values[i] * x[columns[i]] + sum;
    y[row] = sum;
  }
}

/* One step of leaky integrate-and-fire neurons; returns how many fired. */
u32 lif(u32 count, float* potential, const float* current, u32* fired, float decay,
        float threshold) {
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

/* CRC-32 of bytes with a table of 256 words. */
u32 crc32(u32 bytes, const u8* data, const u32* table) {
  u32 crc = ~0U;
  for (u32 i = 0; i < bytes; ++i) crc = table[(crc ^ data[i]) & 0xff] ^ crc >> 8;
  return ~crc;
}

/* Where the loops return to. */
__attribute__((naked)) void halt(void) { __asm__("ecall"); }
