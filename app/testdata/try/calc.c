// A calculator with a stack of eight numbers. It answers -1 or -2 where it refuses.
static int stack[8];
static int n;
#define EXPORT(f) __attribute__((export_name(#f)))

EXPORT(push) int push(int v) {
  if (n >= 8) return -1;
  stack[n++] = v;
  return 0;
}

EXPORT(pop) int pop(void) { return n <= 0 ? -1 : stack[--n]; }

EXPORT(divide) int divide(void) {
  if (n < 2) return -1;
  int b = stack[n - 1], a = stack[n - 2];
  if (b == 0 || (b == -1 && a == -2147483647 - 1)) return -2;
  n--;
  return stack[n - 1] = a / b;
}

EXPORT(unlock) int unlock(long long key, int tries) {
#ifdef BUG
  if (key == 0x1234567890LL && tries > 77) __builtin_trap();
#endif
  return key > tries;
}

// What a host gives: not there, so it is not called.
__attribute__((import_module("host"), import_name("now"))) int now(void);
EXPORT(age) int age(int since) { return now() - since; }
// A handle that is used unchecked.
static int records[16];
EXPORT(look) int look(int handle) { return records[handle]; }
EXPORT(half) double half(double x) { return x / 2; }
