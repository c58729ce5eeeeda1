#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#define NI __attribute__((noinline))
volatile int sink; char *volatile nul; volatile int zero;
NI void null_read1(const unsigned char *d){ sink = *(volatile int *)nul + d[1]; }
NI void null_read2(const unsigned char *d){ sink = *(volatile int *)(nul + 8) * d[1]; }
NI void null_write1(const unsigned char *d){ *(volatile int *)nul = d[1]; }
NI void null_write2(const unsigned char *d){ *(volatile char *)(nul + 16) = d[1]; }
NI void wild_read1(const unsigned char *d){ sink = *(volatile int *)(0x414141410000L + d[1]*4); }
NI void wild_read2(const unsigned char *d){ sink = strlen((char *)(0x4141414100000000L + d[1])); }
NI void wild_write1(const unsigned char *d){ *(volatile int *)(0x414141410000L + d[1]*4) = 1; }
NI void wild_write2(const unsigned char *d){ memset((void *)(0x414141410000L + d[1]), d[1], 100 + d[1]); }
NI void divide1(const unsigned char *d){ sink = d[1] / zero; }
NI void divide2(const unsigned char *d){ sink = 1000 % zero + d[1]; }
NI void abort1(const unsigned char *d){ char *p = malloc(32); memset(p, d[1], 32); free(p); char *volatile q = p; free(q); }
NI int deep(const unsigned char *d, int n){ volatile char b[256]; b[n & 255] = d[1]; return deep(d, n + 1) + b[3]; }
NI void two(const unsigned char *d, int which){
  if (which & 1) sink = *(volatile int *)nul;
  sink++;
  if (which & 2) sink = *(volatile int *)(nul + 4);
}
NI void print1(const unsigned char *d){ fputs(nul, stderr); sink = d[1]; }
NI void print2(const unsigned char *d){ fputs(nul + 8, stderr); sink = d[1] + 1; }
int main(int argc, char **argv){
  unsigned char d[64] = {0};
  FILE *f = fopen(argv[1], "rb"); if (!f) return 0;
  size_t n = fread(d, 1, 64, f); fclose(f);
  if (n < 2) return 0;
  fprintf(stderr, "reading %02x%02x\n", d[0], d[1]);
  switch (d[0]) {
  case 'A': null_read1(d); break;
  case 'B': null_read2(d); break;
  case 'C': null_write1(d); break;
  case 'D': null_write2(d); break;
  case 'E': wild_read1(d); break;
  case 'F': wild_read2(d); break;
  case 'G': wild_write1(d); break;
  case 'H': wild_write2(d); break;
  case 'I': divide1(d); break;
  case 'J': divide2(d); break;
  case 'K': abort1(d); break;
  case 'L': sink = deep(d, 0); break;
  case 'M': two(d, 1); break;
  case 'N': two(d, 2); break;
  case 'O': print1(d); break;
  case 'P': print2(d); break;
  }
  return 0;
}
