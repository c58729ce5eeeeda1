#include <stdio.h>
#include <string.h>
#define NI __attribute__((noinline))
volatile int sink; int cells[256];
NI void copy(const unsigned char *d){ char b[16]; asm volatile("" ::: "rbx", "r12", "r13", "r14", "r15"); memset(b, d[1] | 1, (char *)__builtin_frame_address(0) - b); asm volatile("" :: "r"(b) : "memory"); }
NI int reader(const unsigned char *d){ int *p = cells + d[1]; copy(d); return *p; }
NI void writer(const unsigned char *d){ int *p = cells + d[1]; copy(d); *p = 1; }
int main(int argc, char **argv){
  static unsigned char d[256];
  FILE *f = fopen(argv[1], "rb"); if (!f) return 0;
  size_t n = fread(d, 1, sizeof d, f); fclose(f);
  if (n < 2) return 0;
  if (d[1] & 1) sink += reader(d); else writer(d);
  return 0;
}
