/* Loaded into a program that has the compiler's counters of edges but no fork
 * server: one built for libFuzzer, cargo-fuzz included, or with
 * -fsanitize-coverage=inline-8bit-counters; or with trace-pc-guard, whose calls, whoever
 * takes them, are led here. Its main is replaced by one that
 * serves cases; a program that is not a harness then runs its own. The runtime and
 * the driver stand above this text. */
#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>

static uint8_t *counters;
static size_t many;
static int (*tested)(const uint8_t *, size_t);
static int (*initializer)(int *, char ***);
static int (*own_main)(int, char **, char **);

static uint32_t *first; /* guard, if it has guards */

static void pass(uint32_t *guard) {
  size_t i = (size_t)(guard - first);
  if (i < many && counters[i] != 255) counters[i]++;
}

/* Leads a function elsewhere. */
static int lead(uint8_t *function, void (*to)(uint32_t *)) {
#ifdef __x86_64__
  uint8_t jump[12] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)function & ~(page - 1);
  size_t whole = ((uintptr_t)function + sizeof jump - from + page - 1) & ~(page - 1);
  memcpy(jump + 2, &to, sizeof to);
  if (mprotect((void *)from, whole, PROT_READ | PROT_WRITE | PROT_EXEC)) return 0;
  memcpy(function, jump, sizeof jump);
  return !mprotect((void *)from, whole, PROT_READ | PROT_EXEC);
#else
  return (void)function, (void)to, 0;
#endif
}

static void publish(void) { memcpy(map + 1, counters, many); }

int hosted_test(const uint8_t *data, size_t n) {
  memset(counters, 0, many);
  tested(data, n);
  publish();
  return 0;
}

int hosted_initialize(int *argc, char ***argv) { return initializer ? initializer(argc, argv) : 0; }

static int serve_main(int argc, char **argv, char **env) {
  unsetenv("LD_PRELOAD");
  unsetenv("__THRESH_HOSTED");
  guards = (uint32_t)many;
  __afl_sharedmem_fuzzing = tested != 0;
  if (tested) { /* its libFuzzer, and the leaks that it would look for, play no part */
    int code = hosted_driver(argc, argv);
    fflush(0);
    _exit(code);
  }
  __afl_manual_init();
  memset(counters, 0, many);
  atexit(publish);
  return own_main(argc, argv, env);
}

/* Where things are, as the program's file says: counters, or guards, their bytes, test,
 * initializer, what guards are passed to; 0: there is none. */
static int locate(void) {
  const char *said = getenv("__THRESH_HOSTED");
  const ElfW(Phdr) *h = (const ElfW(Phdr) *)getauxval(AT_PHDR);
  uintptr_t at = 0;
  unsigned long where[5];
  char *end;
  if (!said || !h) return 0;
  for (unsigned long i = 0; i < getauxval(AT_PHNUM); i++)
    if (h[i].p_type == PT_PHDR) at = (uintptr_t)h - h[i].p_vaddr;
  for (int i = 0; i < 5; i++) {
    where[i] = strtoul(said, &end, 16);
    said = end + 1;
  }
  counters = (uint8_t *)(at + where[0]);
  if (where[4]) {
    first = (uint32_t *)counters;
    where[1] /= sizeof *first;
    if (!(counters = calloc(where[1], 1)) || !lead((uint8_t *)(at + where[4]), pass)) return 0;
  }
  many = where[1] < SMALL - 1 || getenv("__AFL_SHM_ID") ? where[1] : SMALL - 1;
  if (many > MOST - 64) many = MOST - 64;
  if (where[2]) tested = (int (*)(const uint8_t *, size_t))(at + where[2]);
  if (where[3]) initializer = (int (*)(int *, char ***))(at + where[3]);
  return 1;
}

__attribute__((visibility("default"))) int __libc_start_main(int (*program)(int, char **, char **), int argc, char **argv,
    void (*init)(void), void (*fini)(void), void (*loader)(void), void *stack) {
  int (*real)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *) =
      (int (*)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *))
          dlsym(RTLD_NEXT, "__libc_start_main");
  own_main = program;
  return real(locate() ? serve_main : program, argc, argv, init, fini, loader, stack);
}
