/* Waits for as many jobs as were asked for, but counts only the first: with
   more than one it goes on starting children. 64 children at most, which end by
   themselves after 20 seconds, so that a run without any containment recovers. */
#include "input.h"
#include <unistd.h>

int main(int argc, char **argv) {
	size_t n;
	char *in = slurp(argv[argc > 1], &n), *jobs = strstr(in, "jobs=");
	int want = jobs ? atoi(jobs + 5) : 1, done = 0, started;
	for (started = 0; done < want && started < 64; started++) {
		pid_t pid = want > 1 ? fork() : 1;
		if (pid == 0) {
			sleep(20);
			_exit(0);
		}
		done = 1;
	}
	if (done < want) sleep(20);
	result("{\"jobs\": %d}\n", done);
	return 0;
}
