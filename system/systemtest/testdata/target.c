// The suite's program for executors that need one compiled in their own way:
// it does what the first line of its input file says.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// linger leaves a process behind and prints its number.
static void linger(int session) {
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		if (session)
			setsid();
		for (;;)
			sleep(1000);
	}
	printf("%d\n", pid);
	fflush(stdout);
}

int main(int argc, char **argv) {
	char line[4096] = "";
	FILE *f = fopen(argc > 1 ? argv[1] : "", "r");
	if (!f)
		return 9;
	if (!fgets(line, sizeof line, f))
		line[0] = 0;
	fclose(f);
	line[strcspn(line, "\n")] = 0;
	char *arg = strchr(line, ' ');
	if (arg)
		*arg++ = 0;
	else
		arg = "";
	if (!strcmp(line, "exit"))
		return atoi(arg);
	if (!strcmp(line, "signal"))
		raise(atoi(arg));
	if (!strcmp(line, "print"))
		fputs(arg, stdout);
	if (!strcmp(line, "error"))
		fputs(arg, stderr);
	if (!strcmp(line, "file")) {
		FILE *o = fopen("out/result.txt", "w");
		if (!o)
			return 9;
		fputs(arg, o);
		fclose(o);
	}
	if (!strcmp(line, "hang")) {
		fputs("partial", stdout);
		fflush(stdout);
		for (;;)
			sleep(1000);
	}
	if (!strcmp(line, "nap"))
		usleep(1000 * atoi(arg));
	if (!strcmp(line, "linger")) {
		if (!strcmp(arg, "orphan")) {
			fflush(stdout);
			pid_t pid = fork();
			if (pid == 0) {
				setsid();
				linger(1);
				_exit(0);
			}
			waitpid(pid, NULL, 0);
		} else
			linger(!strcmp(arg, "session"));
	}
	if (!strcmp(line, "unlink"))
		remove(argv[1]);
	return 0;
}
