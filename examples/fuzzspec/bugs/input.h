/* What every example needs: the bytes of the case, and the result file that a
   healthy run leaves. The programs are small on purpose; each has one fault. */
#ifndef INPUT_H
#define INPUT_H
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* slurp returns the file's bytes with a 0 after them. They stay reachable, so
   that no leak is reported beside the planted fault. */
static char *slurp(const char *path, size_t *n) {
	static char *b;
	FILE *f = path ? fopen(path, "rb") : NULL;
	size_t cap = 0, got;
	*n = 0;
	if (!f) {
		perror(path ? path : "no input given");
		exit(64);
	}
	do {
		cap = cap ? 2 * cap : 4096;
		b = realloc(b, cap + 1);
		if (!b) exit(71);
		got = fread(b + *n, 1, cap - *n, f);
		*n += got;
	} while (got > 0);
	fclose(f);
	b[*n] = 0;
	return b;
}

/* result writes result.json into the folder for outputs. */
__attribute__((format(printf, 1, 2))) static void result(const char *fmt, ...) {
	const char *dir = getenv("LLMFUZZ_OUT_DIR");
	char path[4096];
	va_list ap;
	FILE *f;
	if (!dir) return;
	snprintf(path, sizeof path, "%s/result.json", dir);
	f = fopen(path, "wb");
	if (!f) {
		perror("result.json");
		exit(73);
	}
	va_start(ap, fmt);
	vfprintf(f, fmt, ap);
	va_end(ap);
	fclose(f);
}
#endif
