/* Writes text into JSON and forgets that it may hold quotes. */
#include "input.h"

int main(int argc, char **argv) {
	size_t n, i;
	char *in = slurp(argv[argc > 1], &n);
	for (i = 0; i < n; i++)
		if (in[i] < ' ' || in[i] == 0x7f || in[i] == '\\') in[i] = '?';
	result("{\"title\": \"%s\"}\n", in);
	return 0;
}
