#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NI __attribute__((noinline))
volatile int sink; jmp_buf out; volatile unsigned long far = 0x123456789000;
NI int copy(const unsigned char *d, unsigned n){ char b[16]; memcpy(b, d, n); return b[n & 15]; }
NI int loop(const unsigned char *d, unsigned n){ char b[16]; char *e = b; while (e < b + 16) *e++ = d[1]; memset(b, d[1] | 1, n); return b[3]; }
NI int leap(const unsigned char *d, unsigned n){ volatile struct { char b[20]; unsigned i; } s; for (s.i = 0; s.i < n; s.i++) s.b[s.i] = s.i < 20 ? 1 : s.i < 24 ? (s.i == 20 ? 48 + d[1] % 4 : 0) : d[1]; return s.b[3]; }
NI int caller(const unsigned char *d, unsigned n){ volatile int keep[4] = {1, 2, 3, n}; sink += loop(d, n); return keep[n & 3]; }
NI void release(const unsigned char *d){ char *volatile p = malloc(64); memset(p, d[1], 64); sink += p[1]; free(p + 16); }
NI int any(const unsigned char *d){ return *(volatile char *)((d[1] & 1) * far + d[2] * 8ul); }
NI void jump(int n){ if (n) jump(n - 1); else longjmp(out, 1); sink++; }
NI int after(const unsigned char *d){ if (!setjmp(out)) jump(5); sink += d[2]; return *(volatile char *)(far + d[1]); }
int main(int argc, char **argv){
  static unsigned char d[256];
  volatile char room[64]; room[sink & 63] = 1;
  FILE *f = fopen(argv[1], "rb"); if (!f) return 0;
  size_t n = fread(d, 1, sizeof d, f); fclose(f);
  if (n < 2) return 0;
  switch (d[0]) {
  case 'A': sink += copy(d, 40 + d[1]); break;
  case 'B': sink += caller(d, 40 + d[1]); break;
  case 'C': sink += leap(d, 160 + d[1] % 64); break;
  case 'D': release(d); break;
  case 'E': sink += any(d); break;
  case 'F': sink += after(d); break;
  }
  return 0;
}
