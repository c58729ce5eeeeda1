// Five bugs in one line of one function.
#include <stdio.h>
#include <string.h>
struct node { struct node *next; int value; };
static volatile int sink;
__attribute__((noinline)) int line(const char *a, const char *b, const struct node *n, int k) {
  if (k == 0) return a[0]; if (k == 1) return b[0] + 1; if (k == 2) return n->next->value; if (k == 3) return n->next->next->value * 2; return strlen(a);
}
int main(int argc, char **argv) {
  struct node last = {0, 1}, first = {&last, 1};
  char text[64] = {0};
  FILE *f = fopen(argv[1], "rb"); if (!f) return 0;
  fread(text, 1, 63, f); fclose(f);
  sink = line(0, 0, text[0] == 'C' ? &last : &first, text[0] - 'A');
  return 0;
}
