/* A decoder of run-length images for bench/guided: a header, chunks by name, a
 * palette, lines of runs. Persistent, input in memory. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bug.h"

__AFL_FUZZ_INIT();

static volatile unsigned sink;

static uint32_t big(const uint8_t *p) { return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]; }

static void decode(const uint8_t *d, size_t n) {
  uint8_t palette[256] = {0};
  uint32_t wide, high, depth, colours = 0;
  if (n < 16 || memcmp(d, "RLEI", 4)) return;
  wide = big(d + 4); high = big(d + 8); depth = d[12];
  if (wide == 0 || wide > 4096 || high == 0 || high > 4096 || (depth != 1 && depth != 4 && depth != 8)) return;
  if (wide * high > 0xf00000 && depth == 4) BUG(6);
  for (size_t at = 16; at + 8 <= n;) {
    uint32_t size = big(d + at);
    const uint8_t *name = d + at + 4, *body = d + at + 8;
    if (size > n - at - 8) return;
    if (!memcmp(name, "PLTE", 4)) {
      if (size > 256 || size == 0) return;
      if (colours && size > colours) BUG(1); /* a second, larger palette */
      memcpy(palette, body, size);
      colours = size;
    } else if (!memcmp(name, "DATA", 4)) {
      uint32_t x = 0, y = 0;
      for (uint32_t i = 0; i + 1 < size && y < high; i += 2) {
        uint32_t run = body[i], v = body[i + 1];
        if (run == 0) {
          if (v == 0) { x = 0; y++; continue; }
          if (v == 1) return;
          if (v == 2) { if (i + 3 >= size) return; x += body[i + 2]; y += body[i + 3]; if (y >= high) BUG(2); i += 2; continue; }
          for (; v && i + 2 < size; v--, i++) { sink += palette[body[i + 2]]; if (++x > wide) BUG(3); }
          continue;
        }
        if (depth < 8 && v >= 1u << depth) return;
        if (colours && v >= colours) return;
        while (run--) { sink += palette[v]; if (++x == wide) { x = 0; if (++y == high) break; } }
      }
    } else if (!memcmp(name, "TEXT", 4)) {
      for (uint32_t i = 0; i < size; i++) { if (body[i] == 0) break; if (body[i] == '%' && i + 1 < size && body[i + 1] == 'n') BUG(4); if (body[i] > 126) return; sink++; }
    } else if (!memcmp(name, "LOOP", 4)) {
      if (size != 4) return;
      if (big(body) > 0x7fffffff) BUG(5);
      for (uint32_t k = big(body), i = 0; i < k; i++) sink += i & 1 ? 3 : palette[i & 255];
    } else if (!memcmp(name, "CSUM", 4)) {
      uint32_t sum = 0;
      for (size_t i = 0; i < at; i++) sum = sum * 31 + d[i];
      if (size < 4 || big(body) != sum) return;
      BUG(7); /* behind a checksum of all before */
    } else if (!(name[0] & 32)) return;
    at += 8 + size;
  }
}

int main(void) {
  __AFL_INIT();
  unsigned char *buf = __AFL_FUZZ_TESTCASE_BUF;
  while (__AFL_LOOP(10000)) decode(buf, (size_t)__AFL_FUZZ_TESTCASE_LEN);
  return 0;
}
