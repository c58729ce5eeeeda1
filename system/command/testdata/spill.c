// One write beyond a block, which the allocator notices in several ways: by the size
// of what is free at the end of the heap, or of the next block.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
volatile long sink;
__attribute__((noinline)) void spill(const unsigned char *d) {
  char *volatile p = malloc(24);
  char *volatile to = p;
  memset(to, d[1] % 3 ? 0 : d[1] | 1, 40 + d[1]);
  char *volatile q = malloc(3000);
  sink = *q + p[d[1] & 7];
}
int main(int argc, char **argv) {
  static unsigned char d[256];
  FILE *f = fopen(argv[1], "rb");
  if (!f) return 0;
  setvbuf(f, NULL, _IONBF, 0);
  if (fread(d, 1, sizeof d, f) < 2) return 0;
  switch (d[0]) {
  case 'A': spill(d); break;
  }
  return 0;
}
