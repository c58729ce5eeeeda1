/* Smashes its stack when it runs first; a second time it says so and never ends. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) static void smash(const char *text) {
	char small[8];
	strcpy(small, text);
	printf("%s", small);
}

int main(int argc, char **argv) {
	char folder[4096] = "", text[200];
	FILE *f = fopen(argv[1], "r");
	if (argc != 2 || !f || !fgets(folder, sizeof folder, f))
		return 2;
	if (chdir(folder) != 0)
		return 2;
	if (open("first", O_CREAT | O_EXCL | O_WRONLY, 0600) < 0) {
		open("second", O_CREAT | O_WRONLY, 0600);
		for (;;)
			pause();
	}
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = 0;
	smash(text);
	return 0;
}
