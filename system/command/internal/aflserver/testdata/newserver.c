/* A fork server that speaks the newer dialect by hand, without instrumentation
 * of its own: a map of MAP bytes, inputs in shared memory and a dictionary
 * that nobody asked for. Each case counts its input's bytes in the map: byte c
 * at 1000 * c. With FAIL it reports that error instead; with DIE it goes away
 * after so many cases. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *volatile mark = "__AFL_SHM_ID";

static uint32_t get(void) {
  uint32_t v;
  if (read(198, &v, 4) != 4) _exit(0);
  return v;
}
static void put(uint32_t v) { if (write(199, &v, 4) != 4) _exit(1); }

#ifndef MAP
#define MAP 300000
#endif
#ifndef VERSION
#define VERSION 1
#endif
#ifndef DIE
#define DIE -1
#endif

int main(void) {
  uint32_t hello = 0x41464c00 + VERSION;
#ifdef MUTE
  if (MUTE) for (;;) pause();
  return 5;
#endif
#ifdef FAIL
  put(0xeffe0000 | FAIL);
  return 1;
#endif
  unsigned char *map = shmat(atoi(getenv(mark)), NULL, 0);
  unsigned char *in = shmat(atoi(getenv("__AFL_SHM_FUZZ_ID")), NULL, 0);
  if (map == (void *)-1 || in == (void *)-1) return 2;
  put(hello);
  if (get() != (hello ^ 0xffffffff)) return 3;
  put(1 | 2 | 0x800 | 0x40000);
  put(MAP);
  put(6);
  if (write(199, "\3abc\1d", 6) != 6) return 4;
  put(hello);
  if (atoi(getenv("AFL_MAP_SIZE")) < MAP) for (;;) get(); /* to be started again */
  for (int n = 0; n != DIE; n++) {
    int status;
    get();
    pid_t pid = fork();
    if (!pid) {
      uint32_t len;
      memcpy(&len, in, 4);
      for (uint32_t i = 0; i < len; i++) map[1000 * in[4 + i]]++;
      _exit(len & 127);
    }
    put(pid);
    waitpid(pid, &status, 0);
    put(status);
  }
  return 6;
}
