/* The planted bugs of bench/guided. */
/* BUG(n) crashes at a place and address of its own; with -DWHICH it prints n. */
#ifdef WHICH
#include <stdio.h>
#define BUG(n) do { printf("%d\n", n); fflush(stdout); _exit(0); } while (0)
#else
#define BUG(n) (*(volatile int *)(n * 8L) = n)
#endif
