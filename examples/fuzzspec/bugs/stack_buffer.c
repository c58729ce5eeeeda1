/* Copies a field up to its delimiter into a buffer on the stack. */
#include "input.h"

__attribute__((noinline)) static size_t read_user(const char *s) {
	char name[16];
	size_t i = 0;
	while (*s && *s != ';') name[i++] = *s++;
	name[i] = 0;
	return strlen(name);
}

int main(int argc, char **argv) {
	size_t n;
	char *in = slurp(argv[argc > 1], &n);
	result("{\"user\": %zu}\n", strncmp(in, "user=", 5) ? 0 : read_user(in + 5));
	return 0;
}
