/* o opens, c closes: closing twice frees twice. */
#include "input.h"

int main(int argc, char **argv) {
	size_t n, i;
	char *in = slurp(argv[argc > 1], &n);
	char *volatile buf = NULL;
	for (i = 0; i < n; i++) {
		if (in[i] == 'o') buf = malloc(64);
		if (in[i] == 'c' && buf) free(buf);
	}
	result("{\"bytes\": %zu}\n", n);
	return 0;
}
