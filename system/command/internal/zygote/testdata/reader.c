/* Reads its input (a file or standard input), prints what it is and how the
 * process looks from inside, and crashes or fails on request: an input that
 * starts with 'a' aborts, with 's' is a null dereference, with 'k' raises
 * SIGUSR1, with a digit is the exit status. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void self(void) {
  struct rlimit r;
  sigset_t m;
  char link[64];
  int fd;
  printf("leader %d %d parent %d\n", getpid() == getsid(0), getpid() == getpgrp(), getppid());
  printf("tid %d raise ", getpid() == (int)syscall(SYS_gettid));
  signal(SIGUSR2, SIG_IGN);
  printf("%d\n", raise(SIGUSR2));
  getrlimit(RLIMIT_CPU, &r);
  printf("cpu limit %ld %ld", (long)r.rlim_cur, (long)r.rlim_max);
  getrlimit(RLIMIT_FSIZE, &r);
  printf(" file size limit %ld\n", (long)r.rlim_cur);
  sigprocmask(SIG_BLOCK, NULL, &m);
  for (fd = 1; fd < 65; fd++)
    if (sigismember(&m, fd)) printf("blocked %d\n", fd);
  for (fd = 3; fd < 2048; fd++)
    if (fcntl(fd, F_GETFD) != -1) printf("open %d\n", fd);
  fd = open("/proc/self/status", O_RDONLY);
  char b[4096], *p;
  ssize_t n = read(fd, b, sizeof b - 1);
  close(fd);
  b[n > 0 ? n : 0] = 0;
  if ((p = strstr(b, "TracerPid:"))) printf("%.*s\n", (int)strcspn(p, "\n"), p);
  if ((p = strstr(b, "SigIgn:"))) printf("%.*s\n", (int)strcspn(p, "\n"), p);
  if ((p = strstr(b, "Threads:"))) printf("%.*s\n", (int)strcspn(p, "\n"), p);
  n = readlink("/proc/self/cwd", link, sizeof link - 1);
  printf("cwd %.*s env %s\n", (int)n, link, getenv("MARK") ? getenv("MARK") : "-");
}

int main(int argc, char **argv) {
  char b[4096];
  int fd = argc > 1 ? open(argv[1], O_RDONLY) : 0;
  ssize_t n = read(fd, b, sizeof b);
  if (fd < 0 || n < 0) { perror("input"); return 3; }
  if (fd > 0) close(fd);
  if (n && b[0] == '?') self();
  printf("%zd bytes\n", n);
  fwrite(b, 1, n, stdout);
  fprintf(stderr, "end\n");
  fflush(stdout);
  if (n && b[0] == 'a') abort();
  if (n && b[0] == 's') *(volatile int *)0 = 1;
  if (n && b[0] == 'k') raise(SIGUSR1);
  if (n && b[0] >= '0' && b[0] <= '9') return b[0] - '0';
  return 0;
}
