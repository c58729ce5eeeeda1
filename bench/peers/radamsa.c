/* radamsa --seed N FILE, by the library that the Python package pyradamsa
 * carries: for machines that have no package of the program itself. It starts
 * in the time that loading the library takes, as the program does.
 *
 *     cc -O2 -o radamsa radamsa.c libradamsa.abi3.so -Wl,-rpath,'$ORIGIN'
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t radamsa(unsigned char *in, size_t len, unsigned char *out, size_t max, unsigned long seed);
void init(void);

static unsigned char in[1 << 20], out[1 << 21];

int main(int argc, char **argv) {
	if (argc != 4 || strcmp(argv[1], "--seed") != 0) {
		fprintf(stderr, "usage: radamsa --seed N FILE\n");
		return 2;
	}
	FILE *f = fopen(argv[3], "rb");
	if (!f) {
		perror(argv[3]);
		return 1;
	}
	size_t n = fread(in, 1, sizeof in, f);
	fclose(f);
	init();
	n = radamsa(in, n, out, sizeof out, strtoul(argv[2], NULL, 10));
	return fwrite(out, 1, n, stdout) != n;
}
