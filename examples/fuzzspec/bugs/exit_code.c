/* Refuses a version that it could read. */
#include "input.h"

int main(int argc, char **argv) {
	size_t n;
	int major = 0, minor = 0;
	if (sscanf(slurp(argv[argc > 1], &n), "version %d.%d", &major, &minor) == 2 && minor > 4) {
		fprintf(stderr, "exit_code: line 1: version %d.%d is too new\n", major, minor);
		return 3;
	}
	result("{\"version\": [%d, %d]}\n", major, minor);
	return 0;
}
