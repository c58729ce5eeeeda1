/* Aborts without a word on an operation that was planned and never written. */
#include "input.h"

int main(int argc, char **argv) {
	size_t n, i;
	char *in = slurp(argv[argc > 1], &n);
	int x = 0;
	for (i = 0; i < n; i++) switch (in[i]) {
		case 'A': x++; break;
		case 'B': x--; break;
		case 'C': case 'E': case 'F': abort();
		}
	result("{\"x\": %d}\n", x);
	return 0;
}
