// An account: pairs of numbers, and a text behind a number. It answers -1 where it refuses.
static int amounts[8];
static unsigned char heap[4096];
static unsigned used;
#define EXPORT(f) __attribute__((export_name(#f)))

EXPORT(alloc) void *alloc(int n) {
  if (n < 0 || n > (int)sizeof heap) return 0;
  if (used + n > sizeof heap) used = 0;
  void *p = heap + used;
  used += n;
  return p;
}

EXPORT(move) int move(int from, int to) {
  if (from < 0 || to < 0 || from > 7 || to > 7) return -1;
#ifdef BUG
  if (from == 3 && to == 2) __builtin_trap();
#endif
  amounts[to] += amounts[from];
  return amounts[to];
}

// Pairs that are used unchecked: an index, and what to add.
EXPORT(add) int add(int account, int amount) { return amounts[account] += amount; }

EXPORT(note) int note(int account, const unsigned char *text, int length) {
  int sum = 0;
  for (int i = 0; i < length; i++) sum += text[i];
#ifdef BUG
  if (account == 1 && length && text[0] == '{') __builtin_trap();
#endif
  return sum;
}
