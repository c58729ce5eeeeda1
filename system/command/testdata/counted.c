/* Built by package coverage: 'h' loops for ever, 'l' for a million times and then
 * crashes, 's' sleeps, 'c' crashes, 'w' writes more than it may and says how that
 * ended, 'p' prints its input, 'f' leaves a process behind,
 * 'z' crashes if there is anything behind its input. With PERSISTENT, many cases a
 * process and input in memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef PERSISTENT
__AFL_FUZZ_INIT();
#endif
static volatile int sink;

static void run(const unsigned char *b, long n) {
  if (n < 1) return;
  if (b[0] == 'h') for (unsigned i = 0;; i++) if (i % 5 == 0) sink += b[0];
  if (b[0] == 'l') {
    for (int i = 0; i < 1000000; i++) if (i % 3 == 0) sink += i;
    abort();
  }
  if (b[0] == 's') for (;;) pause();
  if (b[0] == 'c') abort();
  if (b[0] == 'p' && write(1, b, n) != n) abort();
  if (b[0] == 'z' && b[n]) abort();
  if (b[0] == 'f' && !fork()) for (;;) pause();
  if (b[0] == 'w') {
    static char block[1 << 16];
    int fd = open("out/big", O_CREAT | O_WRONLY, 0600);
    while (write(fd, block, sizeof block) > 0) {}
    if (errno != EFBIG) abort();
    close(fd);
  }
  for (long i = 0; i < n; i++) if (b[i] == 'x') sink++;
}

int main(int argc, char **argv) {
#ifdef PERSISTENT
  __AFL_INIT();
  unsigned char *shared = __AFL_FUZZ_TESTCASE_BUF;
  while (__AFL_LOOP(100)) run(shared, __AFL_FUZZ_TESTCASE_LEN);
#else
  static unsigned char b[4096];
  int fd = open(argv[1], O_RDONLY);
  run(b, fd < 0 ? 0 : read(fd, b, sizeof b));
#endif
  return 0;
}

