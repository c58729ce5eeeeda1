/* Counts pairs down by two: an odd count steps over zero and never ends. */
#include "input.h"

int main(int argc, char **argv) {
	size_t n, i;
	char *in = slurp(argv[argc > 1], &n);
	volatile unsigned pairs = 0;
	for (i = 0; i + 1 < n; i += 2) {
		unsigned left = (unsigned char)in[i + 1] - '0';
		if (left > 9) continue;
		for (; left != 0; left -= 2) pairs++;
	}
	result("{\"pairs\": %u}\n", pairs);
	return 0;
}
