/* Takes different edges for different inputs and ends as its input says: 'a'
 * aborts, 'h' hangs, 'f' leaves a process behind and hangs, a digit is the
 * exit status, 'l' loops 20 times over one edge, 'k' kills
 * its group and with it the server, 's' spends processor time
 * without end, 'c' 300 ms of it, 'i' ignores nothing and prints the limits. Compiled with
 * PERSISTENT for many cases a process, with SHARED for input from memory, with
 * DEFERRED for a fork server that starts late, with STEADY to do nothing. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#ifdef SHARED
__AFL_FUZZ_INIT();
#endif

#ifndef ROUNDS
#define ROUNDS 50
#endif

static volatile int sink;

__attribute__((noinline)) static int run(const unsigned char *b, long n) {
  if (n < 1) return 0;
#ifdef STEADY
  return b[0] > n;
#endif
  if (b[0] == 'a') abort();
  if (b[0] == 'h') for (;;) pause();
  if (b[0] == 'k') kill(0, SIGKILL);
  if (b[0] == 's') for (;;) sink++;
  if (b[0] == 'c') for (clock_t end = clock() + CLOCKS_PER_SEC * 3 / 10; clock() < end;) sink++;
  if (b[0] == 'f') {
    if (!fork()) for (;;) pause();
    for (;;) pause();
  }
  if (b[0] == 'l')
    for (int i = 0; i < 20; i++) if (i % 2 == 0) sink += i; else sink -= i;
  if (b[0] == 'i') {
    struct rlimit r;
    usleep(20000);
    getrlimit(RLIMIT_CPU, &r);
    char text[64];
    int k = snprintf(text, sizeof text, "cpu %ld", (long)r.rlim_cur);
    getrlimit(RLIMIT_FSIZE, &r);
    k += snprintf(text + k, sizeof text - k, " fsize %ld\n", (long)r.rlim_cur);
    if (write(1, text, k) != k) return 9;
  }
  if (b[0] >= '0' && b[0] <= '9') return b[0] - '0';
  return 0;
}

int main(int argc, char **argv) {
  static unsigned char b[1 << 16];
#ifdef DEFERRED
  usleep(1000);
  __AFL_INIT();
#endif
#ifdef SHARED
  unsigned char *in = __AFL_FUZZ_TESTCASE_BUF;
#endif
#ifdef PERSISTENT
  while (__AFL_LOOP(ROUNDS)) {
#endif
#ifdef SHARED
    long n = __AFL_FUZZ_TESTCASE_LEN;
    if (n > (long)sizeof b) n = sizeof b;
    memcpy(b, in, n);
#else
    int fd = argc > 1 ? open(argv[1], O_RDONLY) : 0;
    long n = read(fd, b, sizeof b);
    if (fd) close(fd);
#endif
#ifdef PERSISTENT
    run(b, n);
  }
  return 0;
#else
  return run(b, n);
#endif
}
