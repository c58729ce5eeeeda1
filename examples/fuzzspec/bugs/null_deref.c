/* Looks up a key that a damaged file does not have, and uses it unchecked. */
#include "input.h"

static const char *find(const char *s, const char *key) {
	size_t n = strlen(key);
	while (s && *s) {
		if (!strncmp(s, key, n) && s[n] == '=') return s + n + 1;
		s = strchr(s, ';');
		if (s) s++;
	}
	return NULL;
}

int main(int argc, char **argv) {
	size_t n;
	const char *title = find(slurp(argv[argc > 1], &n), "title");
	result("{\"first\": %d}\n", title[0]);
	return 0;
}
