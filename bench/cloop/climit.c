// climit is the yardstick for the spawn executor: the least that any program
// can do to run another one N times. It forks by vfork, connects standard
// input and output to /dev/null, executes and waits; no input is delivered, no
// output read, nothing is limited, nothing is checked but the count of ends.
//
//     cc -O2 -o climit climit.c
//     ./climit N WORKERS pinned|unpinned PROGRAM [ARG...]
//
// It prints cases per second, all workers together.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void die(const char *what) {
	perror(what);
	exit(3);
}

static void pin(int worker) {
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(worker % sysconf(_SC_NPROCESSORS_ONLN), &set);
	if (sched_setaffinity(0, sizeof set, &set))
		die("sched_setaffinity");
}

static void work(long n, char **argv, int null) {
	char *env[] = {NULL};
	for (long i = 0; i < n; i++) {
		pid_t pid = vfork();
		if (pid == 0) {
			dup2(null, 0);
			dup2(null, 1);
			dup2(null, 2);
			execve(argv[0], argv, env);
			_exit(127);
		}
		int status;
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			die("vfork");
		if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
			fprintf(stderr, "climit: %s cannot be executed\n", argv[0]);
			exit(3);
		}
	}
}

int main(int argc, char **argv) {
	if (argc < 5) {
		fprintf(stderr, "usage: climit N WORKERS pinned|unpinned PROGRAM [ARG...]\n");
		return 2;
	}
	long n = atol(argv[1]);
	int workers = atoi(argv[2]), pinned = !strcmp(argv[3], "pinned");
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (n < 1 || workers < 1 || null < 0)
		die("climit");
	double start = now();
	for (int w = 0; w < workers; w++) {
		pid_t pid = fork();
		if (pid < 0)
			die("fork");
		if (pid == 0) {
			if (pinned)
				pin(w);
			work(n / workers, argv + 4, null);
			_exit(0);
		}
	}
	for (int w = 0; w < workers; w++) {
		int status;
		if (wait(&status) < 0 || status != 0)
			die("worker");
	}
	printf("%.0f\n", n / workers * workers / (now() - start));
	return 0;
}
