/* The coverage runtime of programs that "thresh fuzzspec cc" builds: counts of
 * edges in AFL's shared map, AFL's fork server, persistent mode, and a budget of
 * work, counted in 64 bits, that ends a case without a clock. It is compiled
 * without coverage of its own and linked into the program. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef EXPORT
#define EXPORT __attribute__((visibility("default")))
#endif
#define CONTROL 198
#define STATUS 199
#define SMALL 65536u     /* entries of a map that nobody offers */
#define MOST (1u << 23)  /* entries that the greeting can name */
#define SHARED_INPUT 0x01000000u
#define NAMES_SIZE 0x40000000u
#define ENABLED 0x80000001u

#define WAIT 0 /* of futex(2) */
#define WAKE 1

/* Whose turn it is: a client that knows turns has set ASKED. A process in persistent
 * mode then takes its cases from the client without the fork server in between, which
 * sleeps until the process ends. TOLD: the server's pipe has the answer. */
enum { ASKED = 1, READY, RUN, DONE, TOLD };

/* What Thresh shares with the process of a case, beside the map. */
struct work { volatile uint64_t left, budget; volatile uint32_t turn; };

/* Cases that Thresh hands over together, where their inputs are in shared memory: the
 * process does one after the other and notes what each took. */
#define CASES 64
#define TUPLES (1u << 18)
static struct batch {
  volatile uint32_t known, cases, done, unused;
  uint64_t spare; /* edges: the case that uses them up is the last */
  struct { uint32_t at, length; uint64_t work; uint32_t end, unused; } each[CASES];
  uint32_t tuples[TUPLES]; /* edge << 8 | count, case by case */
  uint8_t inputs[];
} *batch;

/* How often an edge is taken is counted in its guard, which an instruction of the program
 * raises ("thresh fuzzspec cc" puts it there) from RESET on. The sign says that it is
 * full: PART of it is then taken off the budget, and what stays still reads as "often". */
#define FULL 4096u
#define RESET (0x80000000u - FULL)
#define PART (FULL - 256)
#define MODULES 256

static struct module { uint32_t *from, *to, *end, first; } modules[MODULES];
static uint32_t loaded; /* of them */
static uint8_t small_map[SMALL];
static struct work unbounded = {~0ull, ~0ull, 0};
static uint8_t *map = small_map, *shared_map;
static struct work *work = &unbounded, *shared_work;
static uint32_t guards, size = SMALL, room = SMALL;
static int serving, persistent;

/* Of compare.c, where it is linked too. */
__attribute__((weak, visibility("hidden"))) void __thresh_compare(int begins);

EXPORT uint32_t no_length, *__afl_fuzz_len = &no_length;
EXPORT uint8_t *__afl_fuzz_ptr;
EXPORT __attribute__((weak)) int __afl_sharedmem_fuzzing;

static void __thresh_gather(void);

/* SIGXCPU says that the program has used up its budget, whatever it does with
 * signals. */
static void __attribute__((noinline, cold)) __thresh_spent(void) {
  struct sigaction act;
  sigset_t set;
  __thresh_gather();
  memset(&act, 0, sizeof act);
  act.sa_handler = SIG_DFL;
  sigaction(SIGXCPU, &act, 0);
  sigemptyset(&set);
  sigaddset(&set, SIGXCPU);
  sigprocmask(SIG_UNBLOCK, &set, 0);
  kill(getpid(), SIGXCPU);
  _exit(152);
}

EXPORT void __thresh_full(uint32_t *guard) {
  *guard -= PART;
  work->left -= work->left < PART ? work->left : PART;
  if (work->left == 0) __thresh_spent();
}

EXPORT void __sanitizer_cov_trace_pc_guard(uint32_t *guard) {
  if (__builtin_expect((int32_t)++*guard < 0, 0)) __thresh_full(guard);
}

#ifdef __x86_64__
/* Code that has the instruction calls this and expects every register as it was. The
 * guards end a page, so that they share none with anything else. */
__asm__(".pushsection .text\n"
        ".globl __thresh_edge\n"
        ".type __thresh_edge, @function\n"
        "__thresh_edge:\n"
        "push %rbp\n mov %rsp, %rbp\n and $-16, %rsp\n"
        "push %rax\n push %rcx\n push %rdx\n push %rsi\n push %r8\n push %r9\n push %r10\n push %r11\n"
        "call __thresh_full\n"
        "pop %r11\n pop %r10\n pop %r9\n pop %r8\n pop %rsi\n pop %rdx\n pop %rcx\n pop %rax\n"
        "mov %rbp, %rsp\n pop %rbp\n ret\n"
        ".popsection\n"
        ".pushsection __sancov_guards,\"aw\",@progbits\n"
        ".balign 4096\n"
        "__thresh_rest: .zero 4096\n"
        ".popsection\n");
extern uint32_t rest[] __asm__("__thresh_rest") __attribute__((visibility("hidden")));
#else
static uint32_t rest[1];
#endif

static void __thresh_forget(void) {
  for (struct module *m = modules; m < modules + loaded; m++)
    for (uint32_t *g = m->from; g < m->to; g++) *g = RESET;
}

/* Moves what was counted to the map and takes it off the budget. A case that has ended by
 * itself leaves something of it. */
static void __thresh_gather(void) {
  uint64_t taken = 0, two;
  for (struct module *m = modules; m < modules + loaded; m++)
    for (uint32_t *g = m->from; g < m->to; g++) {
      if (g + 1 < m->to && (memcpy(&two, g, 8), two == ((uint64_t)RESET << 32 | RESET))) {
        g++;
        continue;
      }
      uint32_t n = *g - RESET, at = m->first + (uint32_t)(g - m->from);
      if (n == 0) continue;
      *g = RESET;
      uint8_t *c = map + (at < size ? at : 1 + at % (size - 1));
      n = n < FULL ? n : FULL;
      *c = *c + n < 255 ? (uint8_t)(*c + n) : 255;
      taken += n;
    }
  if (taken && work->left) work->left -= taken < work->left ? taken : work->left - 1;
}

/* What a process has counted must be there when it has ended, whatever it did. */
static void share(void) {
  for (struct module *m = modules; m < modules + loaded; m++) {
    size_t n = (size_t)((char *)m->end - (char *)m->from);
    if (((uintptr_t)m->from | n) % (uintptr_t)sysconf(_SC_PAGESIZE)) continue;
    void *p = mmap(0, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) continue;
    memcpy(p, m->from, n);
    mremap(p, n, n, MREMAP_MAYMOVE | MREMAP_FIXED, m->from);
  }
}

/* Modules number their guards before anything else runs. */
static void prepare(void) {
  static int prepared;
  const char *offered = getenv("AFL_MAP_SIZE");
  if (prepared++ || !getenv("__AFL_SHM_ID")) return;
  room = offered ? (uint32_t)strtoul(offered, 0, 10) : SMALL;
  if (room > MOST) room = MOST;
  if (room < 64) room = 64;
  size = room;
}

/* Entry 0 is not an edge. A library that is loaded late shares entries. */
EXPORT void __sanitizer_cov_trace_pc_guard_init(uint32_t *from, uint32_t *to) {
  if (from == to || *from >= RESET || loaded == MODULES) return;
  prepare();
  struct module *m = &modules[loaded++];
  *m = (struct module){from, from < rest && rest < to ? rest : to, to, guards + 1};
  guards += (uint32_t)(m->to - from);
  for (; from < m->to; from++) *from = RESET;
}

static void *attach(const char *name) {
  const char *id = getenv(name);
  void *p = id ? shmat(atoi(id), 0, 0) : (void *)-1;
  return p == (void *)-1 ? 0 : p;
}

static void __thresh_turn(uint32_t to) {
  if (!shared_work || !shared_work->turn) return;
  shared_work->turn = to;
  syscall(SYS_futex, &shared_work->turn, WAKE, 1, 0, 0, 0);
}

static void begin(void) {
  if (__thresh_compare) __thresh_compare(1);
}

static void serve(void) {
  uint32_t word = 0;
  int status = 0, stopped = 0;
  pid_t pid = 0;
  if (serving++) return;
  prepare();
  if (guards + 1 < room) size = guards + 1;
  size = (size + 63) & ~63u;
  if (size > room) size = room;
  shared_map = attach("__AFL_SHM_ID");
  shared_work = attach("__THRESH_WORK_ID");
  if (shared_map) map = shared_map;
  if (shared_work) work = shared_work;
  if (shared_work) signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit fails, and the case goes on */
  persistent = getenv("__AFL_PERSISTENT") != 0;
  if (shared_work && !persistent) shared_work->turn = 0;
  if (persistent && __afl_sharedmem_fuzzing) batch = attach("__THRESH_BATCH_ID");
  if (batch) batch->known = 1;
  __thresh_turn(READY);
  word = ENABLED | NAMES_SIZE | (size - 1) << 1;
  if (__afl_sharedmem_fuzzing) word |= SHARED_INPUT;
  if (!shared_map || write(STATUS, &word, 4) != 4) { /* no fuzzer has started it */
    begin();
    return;
  }
  share();
  if (__thresh_compare) __thresh_compare(0);
  if (__afl_sharedmem_fuzzing) {
    if (read(CONTROL, &word, 4) != 4) _exit(1);
    uint8_t *input = (word & SHARED_INPUT) ? attach("__AFL_SHM_FUZZ_ID") : 0;
    if (input) {
      __afl_fuzz_len = (uint32_t *)input;
      __afl_fuzz_ptr = input + 4;
    }
  }
  shared_map[0] = 1; /* clients look whether the program is alive */
  for (;;) {
    if (read(CONTROL, &word, 4) != 4) _exit(0);
    if (stopped && word) { /* the client has killed it */
      waitpid(pid, &status, 0);
      stopped = 0;
    }
    if (stopped) {
      kill(pid, SIGCONT);
      stopped = 0;
    } else if (__thresh_forget(), (pid = fork()) == 0) {
      close(CONTROL);
      close(STATUS);
      begin();
      return;
    }
    if (pid < 0 || write(STATUS, &pid, 4) != 4) _exit(1);
    while (waitpid(pid, &status, persistent ? WUNTRACED : 0) < 0)
      if (errno != EINTR) _exit(1);
    stopped = WIFSTOPPED(status);
    if (!stopped) __thresh_gather();
    __thresh_turn(TOLD);
    if (write(STATUS, &status, 4) != 4) _exit(1);
  }
}

__attribute__((constructor(65000))) static void start(void) {
  if (!getenv("__AFL_DEFER_FORKSRV")) serve();
}

EXPORT void __afl_manual_init(void) { serve(); }

/* Also if nobody counts: what a program overwrites fails in all its runs or in none. */
__attribute__((destructor)) static void finish(void) { __thresh_gather(); }

static void __thresh_load(void) {
  uint32_t i = batch->done, n = batch->each[i].length;
  memcpy(__afl_fuzz_ptr, batch->inputs + batch->each[i].at, n);
  if (n < *__afl_fuzz_len) memset(__afl_fuzz_ptr + n, 0, *__afl_fuzz_len - n);
  *__afl_fuzz_len = n;
}

/* Notes the case that ends here; 0: Thresh has to look at it, or it was the last. */
static int __thresh_next(void) {
  uint32_t i = batch->done, n = i ? batch->each[i - 1].end : 0;
  uint64_t took = work->budget - work->left, eight;
  for (uint32_t at = 0; at < size; at += 8) {
    memcpy(&eight, map + at, 8);
    if (!eight) continue;
    if (n + 8 > TUPLES) return 0;
    for (uint32_t k = at ? at : 1; k < at + 8; k++)
      if (map[k]) batch->tuples[n++] = k << 8 | map[k];
  }
  batch->each[i].work = took;
  batch->each[i].end = n;
  batch->done = i + 1;
  if (i + 1 == batch->cases || took >= batch->spare || lseek(1, 0, SEEK_CUR) > 0 || lseek(2, 0, SEEK_CUR) > 0) return 0;
  batch->spare -= took;
  memset(map, 0, size);
  work->left = work->budget;
  __thresh_load();
  return 1;
}

/* A process starts each of its cases with the same counts. */
EXPORT int __afl_persistent_loop(unsigned int most) {
  static unsigned int done;
  if (!persistent || !shared_map) return done++ == 0;
  if (done == 0) {
    __thresh_forget();
    memset(map, 0, size);
    map[0] = 1;
    work->left = work->budget;
  } else {
    __thresh_gather();
    if (done >= most) return 0;
    if (batch && batch->cases && __thresh_next()) return done++, 1;
    if (!shared_work || !shared_work->turn) raise(SIGSTOP);
    else for (__thresh_turn(DONE); shared_work->turn != RUN;) syscall(SYS_futex, &shared_work->turn, WAIT, DONE, 0, 0, 0);
    if (batch && batch->cases) __thresh_load();
  }
  done++;
  return 1;
}
