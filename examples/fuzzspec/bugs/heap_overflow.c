/* Trusts the length in the header when it makes room for the text. */
#include "input.h"

int main(int argc, char **argv) {
	size_t n, room;
	char *in = slurp(argv[argc > 1], &n), *text, *copy;
	if (strncmp(in, "LEN:", 4) || !(text = strchr(in, '\n'))) {
		result("{\"ok\": false}\n");
		return 0;
	}
	room = strtoul(in + 4, NULL, 16) & 0xff;
	text++;
	copy = malloc(room + 1);
	strcpy(copy, text);
	result("{\"length\": %zu}\n", strlen(copy));
	free(copy);
	return 0;
}
