/* What a program compares, for Thresh to learn from: the operands that differ, in a
 * bounded table that is shared with the process of a case. All of it is off unless
 * __THRESH_COMPARE_ID names the table: "thresh fuzzspec cc" replaces the calls below
 * by marked instructions that do nothing, and a process that is to be listened to
 * puts the calls back before its first case. */
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#ifdef __x86_64__ /* calls for one comparison leave all registers as they are: they cost less where they are off */
#define QUIET __attribute__((preserve_all))
#define NARROW __attribute__((target("general-regs-only"), no_builtin))
#else
#define QUIET
#define NARROW
#endif
#define MOST 4096u   /* comparisons of a case */
#define LONGEST 32u  /* bytes of an operand */
#define A_SITE 16    /* comparisons of one place in the program */
#define CASES 64u    /* labels of a switch */

enum kind { NUMBER = 1, BYTES, TEXT };

struct comparison { uint8_t kind, a_size, b_size, constant, a[LONGEST], b[LONGEST]; };
struct table { volatile uint32_t count, unused; struct comparison list[MOST]; };

static struct table *shared, *table;
static uint8_t sites[4096];
static uint32_t seen[1 << 14];

static void __attribute__((noinline, cold)) NARROW note(void *site, enum kind kind, int constant, const void *a, size_t a_size, const void *b, size_t b_size) {
  uint8_t *uses = &sites[((uintptr_t)site * 0x9e3779b97f4a7c15ull) >> 52];
  uint32_t hash = 2166136261u, at = table->count, i;
  struct comparison c;
  volatile uint8_t *to = (volatile uint8_t *)&c; /* so that no loop becomes a call */
  if (at >= MOST || *uses >= A_SITE) return;
  if (a_size > LONGEST) a_size = LONGEST;
  if (b_size > LONGEST) b_size = LONGEST;
  for (i = 0; i < sizeof c; i++) to[i] = 0;
  c.kind = (uint8_t)kind, c.constant = (uint8_t)constant, c.a_size = (uint8_t)a_size, c.b_size = (uint8_t)b_size;
  for (i = 0; i < a_size; i++) c.a[i] = ((const uint8_t *)a)[i];
  for (i = 0; i < b_size; i++) c.b[i] = ((const uint8_t *)b)[i];
  for (i = 0; i < sizeof c; i++) hash = (hash ^ ((uint8_t *)&c)[i]) * 16777619u;
  if (!hash || seen[hash >> 18] == hash) return;
  seen[hash >> 18] = hash;
  ++*uses;
  to = (volatile uint8_t *)&table->list[at];
  for (i = 0; i < sizeof c; i++) to[i] = ((uint8_t *)&c)[i];
  table->count = at + 1;
}

#define HERE __builtin_return_address(0)
#define COMPARE(bits, bytes) \
  EXPORT QUIET void __sanitizer_cov_trace_cmp##bytes(uint##bits##_t a, uint##bits##_t b) { \
    if (__builtin_expect(table != 0, 0) && a != b) note(HERE, NUMBER, 0, &a, bytes, &b, bytes); \
  } \
  EXPORT QUIET void __sanitizer_cov_trace_const_cmp##bytes(uint##bits##_t a, uint##bits##_t b) { \
    if (__builtin_expect(table != 0, 0) && a != b) note(HERE, NUMBER, 1, &a, bytes, &b, bytes); \
  }
COMPARE(8, 1)
COMPARE(16, 2)
COMPARE(32, 4)
COMPARE(64, 8)

EXPORT QUIET void __sanitizer_cov_trace_switch(uint64_t v, uint64_t *cases) {
  if (__builtin_expect(table == 0, 1)) return;
  uint64_t count = cases[0] < CASES ? cases[0] : CASES, bytes = (cases[1] + 7) / 8;
  for (uint64_t i = 0; i < count; i++)
    if (cases[2 + i] != v) note((char *)HERE + i, NUMBER, 1, &cases[2 + i], bytes, &v, bytes);
}

/* The linker leads the program's calls here (--wrap). */
#define LIKE_MEMCMP(name) \
  int __real_##name(const void *, const void *, size_t); \
  EXPORT int __wrap_##name(const void *a, const void *b, size_t n) { \
    int result = __real_##name(a, b, n); \
    if (__builtin_expect(table != 0, 0) && result) note(HERE, BYTES, 0, a, n, b, n); \
    return result; \
  }
#define LIKE_STRCMP(name) \
  int __real_##name(const char *, const char *); \
  EXPORT int __wrap_##name(const char *a, const char *b) { \
    int result = __real_##name(a, b); \
    if (__builtin_expect(table != 0, 0) && result) note(HERE, TEXT, 0, a, strnlen(a, LONGEST), b, strnlen(b, LONGEST)); \
    return result; \
  }
#define LIKE_STRNCMP(name) \
  int __real_##name(const char *, const char *, size_t); \
  EXPORT int __wrap_##name(const char *a, const char *b, size_t n) { \
    int result = __real_##name(a, b, n); \
    size_t most = n < LONGEST ? n : LONGEST; \
    if (__builtin_expect(table != 0, 0) && result) note(HERE, TEXT, 0, a, strnlen(a, most), b, strnlen(b, most)); \
    return result; \
  }
#define LIKE_STRSTR(name) \
  char *__real_##name(const char *, const char *); \
  EXPORT char *__wrap_##name(const char *a, const char *b) { \
    char *result = __real_##name(a, b); \
    if (__builtin_expect(table != 0, 0) && !result) { \
      size_t n = strnlen(b, LONGEST); \
      note(HERE, BYTES, 0, a, strnlen(a, n), b, n); \
    } \
    return result; \
  }
LIKE_MEMCMP(memcmp)
LIKE_MEMCMP(bcmp)
LIKE_STRCMP(strcmp)
LIKE_STRCMP(strcasecmp)
LIKE_STRNCMP(strncmp)
LIKE_STRNCMP(strncasecmp)
LIKE_STRSTR(strstr)
LIKE_STRSTR(strcasestr)

#ifdef __x86_64__
/* How far the functions are from where this says so: thresh reads it from the file. */
__asm__(".pushsection thresh_hooks,\"a\",@progbits\n"
        ".balign 4\n"
        "__thresh_hooks:\n"
        ".long __sanitizer_cov_trace_cmp1 - .\n.long __sanitizer_cov_trace_cmp2 - .\n"
        ".long __sanitizer_cov_trace_cmp4 - .\n.long __sanitizer_cov_trace_cmp8 - .\n"
        ".long __sanitizer_cov_trace_const_cmp1 - .\n.long __sanitizer_cov_trace_const_cmp2 - .\n"
        ".long __sanitizer_cov_trace_const_cmp4 - .\n.long __sanitizer_cov_trace_const_cmp8 - .\n"
        ".long __sanitizer_cov_trace_switch - .\n"
        ".popsection\n");
extern const int32_t hooks[9] __asm__("__thresh_hooks") __attribute__((visibility("hidden")));

/* Puts the calls of a segment of code back. */
static void call(uint8_t *code, size_t size) {
  static const uint8_t mark[4] = {0x0f, 0x1f, 0x44, 0x00};
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)code & ~(page - 1);
  size_t whole = ((uintptr_t)code + size - from + page - 1) & ~(page - 1);
  if (mprotect((void *)from, whole, PROT_READ | PROT_WRITE | PROT_EXEC)) return;
  for (size_t i = 0; i + 5 <= size; i++) {
    unsigned k = code[i + 4] - 0xd0u;
    if (k >= 9 || __real_memcmp(code + i, mark, 4)) continue;
    int32_t far = (int32_t)((intptr_t)&hooks[k] + hooks[k] - (intptr_t)(code + i + 5));
    code[i] = 0xe8;
    memcpy(code + i + 1, &far, 4);
    i += 4;
  }
  mprotect((void *)from, whole, PROT_READ | PROT_EXEC);
}

/* The first that is listed is the program itself. */
static int arm(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *h = &info->dlpi_phdr[i];
    if (h->p_type == PT_LOAD && (h->p_flags & PF_X)) call((uint8_t *)info->dlpi_addr + h->p_vaddr, h->p_filesz);
  }
  return 1;
}
#else
static int arm(struct dl_phdr_info *info, size_t size, void *unused) { return (void)info, (void)size, (void)unused, 1; }
#endif

/* Called as the fork server starts, and again in the process of a case. */
__attribute__((visibility("hidden"))) void __thresh_compare(int begins) {
  const char *id = getenv("__THRESH_COMPARE_ID");
  if (!id) return;
  if (begins) {
    table = shared;
    return;
  }
  shared = shmat(atoi(id), 0, 0);
  if (shared == (void *)-1) shared = 0;
  if (shared) dl_iterate_phdr(arm, 0);
}
