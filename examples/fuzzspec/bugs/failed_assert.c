/* Believes that every day of a date lies between 1 and 31. */
#include "input.h"
#include <assert.h>
#include <ctype.h>

static void check_day(int day) { assert(day >= 1 && day <= 31); }

int main(int argc, char **argv) {
	size_t n, dates = 0;
	char *line = slurp(argv[argc > 1], &n);
	for (line = strtok(line, "\n"); line; line = strtok(NULL, "\n")) {
		if (strlen(line) != 10 || !isdigit((unsigned char)line[8]) || !isdigit((unsigned char)line[9])) continue;
		check_day(atoi(line + 8));
		dates++;
	}
	result("{\"dates\": %zu}\n", dates);
	return 0;
}
