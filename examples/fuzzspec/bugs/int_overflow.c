/* Multiplies two numbers from the file without asking whether they fit. */
#include "input.h"

static int area(int w, int h) { return w * h; }

int main(int argc, char **argv) {
	size_t n;
	int w = 0, h = 0;
	sscanf(slurp(argv[argc > 1], &n), "w=%9d;h=%9d", &w, &h);
	result("{\"area\": %d}\n", area(w, h));
	return 0;
}
