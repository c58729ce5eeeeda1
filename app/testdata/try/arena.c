// Keeps texts in an arena that nobody empties: it refuses those that are too long, or too many.
static unsigned char arena[2048];
static unsigned used, kept, sum;
static struct { const unsigned char *text; unsigned length; } texts[4];
#define EXPORT(f) __attribute__((export_name(#f)))

EXPORT(alloc) void *alloc(unsigned n) {
  if (n > sizeof arena - used) {
#ifdef TRAPS
    __builtin_trap();
#endif
    return 0;
  }
  void *p = arena + used;
  used += n;
  return p;
}

EXPORT(keep) int keep(const unsigned char *text, unsigned length) {
  if (length > 100 || kept == 4) return -1;
#ifdef BUG
  if (kept == 1 && length && text[0] == '{') __builtin_trap();
#endif
  for (unsigned i = 0; i < length; i++) sum += text[i];
  texts[kept].text = text;
  texts[kept].length = length;
  return ++kept;
}

// Reads its text only where one of that length is kept.
EXPORT(find) int find(const unsigned char *text, unsigned length) {
  for (unsigned i = 0; i < kept; i++) {
    unsigned same = 0;
    while (texts[i].length == length && same < length && texts[i].text[same] == text[same]) same++;
    if (texts[i].length == length && same == length) return i;
  }
  return -1;
}

EXPORT(total) int total(void) { return sum; }

EXPORT(empty) int empty(int all) {
  if (!all) return -1;
  return sum = kept = 0;
}
