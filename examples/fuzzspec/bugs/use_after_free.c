/* a adds a node, d deletes the newest, p prints it: d forgets to forget it. */
#include "input.h"

struct node { int value; };

int main(int argc, char **argv) {
	size_t n, i;
	char *in = slurp(argv[argc > 1], &n);
	static struct node *last;
	int sum = 0, live = 0;
	for (i = 0; i < n; i++) {
		if (in[i] == 'a') {
			if (live) free(last);
			last = malloc(sizeof *last);
			last->value = (int)i;
			live = 1;
		} else if (in[i] == 'd' && live) {
			free(last);
			live = 0;
		} else if (in[i] == 'p' && last) {
			sum += last->value;
		}
	}
	result("{\"sum\": %d}\n", sum);
	return 0;
}
