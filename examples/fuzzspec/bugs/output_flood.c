/* Wraps a text to a width of zero: every line takes nothing away. It stops
   after 1 GB, so that a run without any limit ends. */
#include "input.h"

int main(int argc, char **argv) {
	size_t n, written = 0, width;
	char *in = slurp(argv[argc > 1], &n), *text = strchr(in, ';');
	width = strncmp(in, "width=", 6) ? 8 : strtoul(in + 6, NULL, 10);
	for (text = text ? text : in; *text && written < (1u << 30);) {
		size_t k = strnlen(text, width);
		written += (size_t)printf("| %-60.*s |\n", (int)k, text);
		text += k;
	}
	result("{\"written\": %zu}\n", written);
	return 0;
}
