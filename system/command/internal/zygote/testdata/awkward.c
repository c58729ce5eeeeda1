/* Does something before it looks at its input, named by its first argument,
 * that copies of a process would share or lose; then prints its input. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static void *idle(void *x) { return x; }

int main(int argc, char **argv) {
  const char *what = argv[1];
  char b[256];
  int held = -1;
  if (!strcmp(what, "thread")) {
    pthread_t t;
    pthread_create(&t, NULL, idle, NULL);
    pthread_join(t, NULL);
  } else if (!strcmp(what, "process")) {
    if (!fork()) _exit(0);
    wait(NULL);
  } else if (!strcmp(what, "timer")) {
    alarm(1000);
  } else if (!strcmp(what, "pipe")) {
    int p[2];
    if (pipe(p)) return 9;
  } else if (!strcmp(what, "output")) {
    if (write(1, "hello\n", 6) != 6) return 9;
  } else if (!strcmp(what, "file")) {
    close(open("made", O_WRONLY | O_CREAT, 0600));
  } else if (!strcmp(what, "shared")) {
    int *n = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    printf("%d\n", ++*n);
  } else if (!strcmp(what, "pid")) {
    printf("%d\n", getpid() > 0);
  } else if (!strcmp(what, "stop")) {
    kill(0, SIGSTOP);
  } else if (!strcmp(what, "wait")) {
    pause();
  } else if (!strcmp(what, "pipe closed")) {
    int p[2];
    if (pipe(p)) return 9;
    close(p[0]);
    close(p[1]);
  } else if (!strcmp(what, "usr1")) {
    signal(SIGUSR1, SIG_IGN);
    kill(0, SIGUSR1); /* no process id asked for */
  } else if (!strcmp(what, "held")) {
    held = open("/etc/passwd", O_RDONLY);
    if (read(held, b, 5) != 5) return 9;
  } else if (!strcmp(what, "exec")) {
    char *again[] = {argv[0], "plain", argv[2], NULL};
    execv("/proc/self/exe", again);
  } else if (!strcmp(what, "closeall")) {
    close_range(3, ~0U, 0);
  } else if (!strcmp(what, "die")) {
    return 7;
  }
  FILE *f = fopen(argv[2], "r");
  if (!f || !fgets(b, sizeof b, f)) return 8;
  fputs(b, stdout);
  if (held >= 0) {
    ssize_t n = read(held, b, 20);
    printf("then %.*s\n", (int)n, b);
  }
  return 0;
}
