/* A harness, and with MAIN a program around it: 'c' aborts, 'h' loops for ever,
 * and each '(' is another class of a count. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int sink;

int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (d[i] == '(') sink++;
  if (n > 0 && d[0] == 'c') abort();
  while (n > 0 && d[0] == 'h') sink++;
  return 0;
}

#ifdef MAIN
int main(int argc, char **argv) {
  static uint8_t b[4096];
  FILE *f = argc > 1 ? fopen(argv[1], "rb") : stdin;
  size_t n = f ? fread(b, 1, sizeof b, f) : 0;
  return LLVMFuzzerTestOneInput(b, n);
}
#endif
