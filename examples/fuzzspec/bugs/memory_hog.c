/* Takes as many kilobytes as the header says. It takes 1 GB at most and then
   waits, so that a run without any limit ends. */
#include "input.h"
#include <unistd.h>

int main(int argc, char **argv) {
	size_t n, taken = 0, want;
	char *in = slurp(argv[argc > 1], &n);
	want = strncmp(in, "kb=", 3) ? 1 : strtoul(in + 3, NULL, 16);
	while (taken < want && taken < (1u << 20)) {
		char *p = malloc(1 << 20);
		if (!p) {
			fputs("memory_hog: out of memory\n", stderr);
			return 1;
		}
		memset(p, 1, 1 << 20);
		taken += 1 << 10;
	}
	if (taken < want) sleep(20);
	result("{\"kb\": %zu}\n", want);
	return 0;
}
