// Sums lists of numbers in brackets, which must match.
typedef unsigned char byte;
static byte heap[1 << 16];
static unsigned used;
#define EXPORT(f) __attribute__((export_name(#f)))

EXPORT(alloc) byte *alloc(unsigned n) {
  if (n > sizeof heap || used + n > sizeof heap) used = 0;
  byte *p = heap + used;
  used += n;
  return p;
}

EXPORT(parse) int parse(const byte *text, unsigned n) {
  if (n < 2 || text[0] != '[' || text[n - 1] != ']') return -1;
  int depth = 0, sum = 0, number = 0;
  for (unsigned i = 1; i < n - 1; i++) {
    byte c = text[i];
    if (c == '[') depth++;
    else if (c == ']') {
      if (depth == 0)
#ifdef BUG
        __builtin_trap();
#else
        return -2;
#endif
      depth--;
    } else if (c >= '0' && c <= '9') number = number * 10 + (c - '0');
    else if (c == ',') { sum += number; number = 0; }
    else return -3;
  }
  return sum + number;
}
