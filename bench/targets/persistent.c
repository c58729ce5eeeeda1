/* A target in AFL++'s persistent mode with its input in shared memory: one
 * process takes one input after the other. It counts the brackets of a text,
 * with a few branches for a fuzzer to discover and no bug to stop it.
 */
#include <unistd.h>

__AFL_FUZZ_INIT();

static volatile int deepest;

static void look(const unsigned char *text, int len) {
	int depth = 0;
	for (int i = 0; i < len; i++) {
		switch (text[i]) {
		case '{':
		case '[':
			if (++depth > deepest)
				deepest = depth;
			break;
		case '}':
		case ']':
			if (depth > 0)
				depth--;
			break;
		}
	}
}

int main(void) {
	__AFL_INIT();
	unsigned char *text = __AFL_FUZZ_TESTCASE_BUF;
	while (__AFL_LOOP(100000))
		look(text, __AFL_FUZZ_TESTCASE_LEN);
	return 0;
}
