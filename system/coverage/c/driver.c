/* main for a harness with LLVMFuzzerTestOneInput, as -fsanitize=fuzzer asks for:
 * under a fork server many cases in one process, else the files that are named,
 * or standard input. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);
int __afl_persistent_loop(unsigned int);
void __afl_manual_init(void);
extern uint32_t *__afl_fuzz_len;
extern uint8_t *__afl_fuzz_ptr;
__attribute__((visibility("default"))) int __afl_sharedmem_fuzzing = 1;
static const char *volatile marks[] = {"##SIG_AFL_PERSISTENT##", "##SIG_AFL_DEFER_FORKSRV##"};

static int test(const uint8_t *data, size_t size) {
  uint8_t *own = malloc(size ? size : 1); /* so that a sanitizer sees its end */
  if (!own) return 1;
  memcpy(own, data, size);
  LLVMFuzzerTestOneInput(own, size);
  free(own);
  return 0;
}

static int test_file(FILE *f) {
  uint8_t *data = 0;
  size_t size = 0, room = 0, n;
  do {
    if (size == room && !(data = realloc(data, room = 2 * room + 65536))) return 1;
    size += n = fread(data + size, 1, room - size, f);
  } while (n);
  n = test(data, size);
  free(data);
  return (int)n;
}

int main(int argc, char **argv) {
  (void)marks[0];
  if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&argc, &argv);
  __afl_manual_init();
  if (__afl_fuzz_ptr) {
    while (__afl_persistent_loop(10000))
      if (test(__afl_fuzz_ptr, *__afl_fuzz_len)) return 1;
    return 0;
  }
  int files = 0;
  for (int i = 1; i < argc; i++) {
    if (argv[i][0] == '-') continue;
    FILE *f = fopen(argv[i], "rb");
    if (!f) { perror(argv[i]); return 1; }
    if (test_file(f)) return 1;
    fclose(f);
    files++;
  }
  return files ? 0 : test_file(stdin);
}
