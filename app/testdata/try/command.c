// A WASI command: divides the two digits of "6/2"; what it refuses exits with 3.
#define IMPORT(f) __attribute__((import_module("wasi_snapshot_preview1"), import_name(#f)))
IMPORT(fd_read) int fd_read(int fd, const void *iovs, int count, unsigned *n);
IMPORT(proc_exit) void proc_exit(int code);

static unsigned char text[64];

__attribute__((export_name("_start"))) void start(void) {
  struct { void *at; unsigned size; } iov = {text, sizeof text};
  unsigned n = 0;
  fd_read(0, &iov, 1, &n);
  if (n < 3 || text[1] != '/' || text[0] < '0' || text[0] > '9' || text[2] < '0' || text[2] > '9') proc_exit(3);
#ifndef BUG
  if (text[2] == '0') proc_exit(3);
#endif
  volatile int by = text[2] - '0';
  volatile int result = (text[0] - '0') / by;
  (void)result;
}
