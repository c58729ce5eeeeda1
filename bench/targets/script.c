/* A small interpreter for bench/guided: sums, variables, blocks, while and if. Loops
 * that never end are a few bytes away from any seed. Persistent, input in memory. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bug.h"

__AFL_FUZZ_INIT();

static const char *at, *end;
static long vars[26];
static volatile long printed;
static jmp_buf fault;

static void skip(void) { while (at < end && (*at == ' ' || *at == '\n')) at++; }
static int eat(char c) { skip(); if (at < end && *at == c) { at++; return 1; } return 0; }
static int word(const char *w) {
  size_t n = strlen(w);
  skip();
  if ((size_t)(end - at) < n || memcmp(at, w, n)) return 0;
  at += n;
  return 1;
}
static long sum(int deep);

static long atom(int deep) {
  if (deep > 60) longjmp(fault, 1);
  if (eat('(')) { long v = sum(deep + 1); if (!eat(')')) longjmp(fault, 1); return v; }
  if (eat('-')) return -atom(deep + 1);
  if (eat('!')) return !atom(deep + 1);
  skip();
  if (at < end && *at >= 'a' && *at <= 'z') return vars[*at++ - 'a'];
  if (at >= end || *at < '0' || *at > '9') longjmp(fault, 1);
  unsigned long v = 0;
  if (end - at > 19 && *at > '0' && memcmp(at, "9223372036854775807", 19) > 0) BUG(1);
  while (at < end && *at >= '0' && *at <= '9') v = v * 10 + (unsigned long)(*at++ - '0');
  return (long)v;
}
static long product(int deep) {
  long v = atom(deep);
  for (;;) {
    if (eat('*')) v = (long)((unsigned long)v * (unsigned long)atom(deep));
    else if (eat('/')) { long d = atom(deep); if (d == -1 && v < -1000) BUG(2); if (d == 0 || d == -1) longjmp(fault, 1); v /= d; }
    else if (eat('%')) { long d = atom(deep); if (d == 0) BUG(3); if (d == -1) longjmp(fault, 1); v %= d; }
    else return v;
  }
}
static long sum(int deep) {
  long v = product(deep);
  for (;;) {
    if (eat('+')) v = (long)((unsigned long)v + (unsigned long)product(deep));
    else if (eat('-')) v = (long)((unsigned long)v - (unsigned long)product(deep));
    else if (eat('<')) v = v < product(deep);
    else if (eat('=')) v = v == product(deep);
    else if (eat('&')) v &= product(deep);
    else if (eat('|')) v |= product(deep);
    else return v;
  }
}
static void block(int deep, int run);

static void statement(int deep, int run) {
  if (deep > 24) BUG(4);
  if (word("while")) {
    const char *from = at;
    for (;;) {
      at = from;
      long v = sum(deep);
      block(deep + 1, run && v);
      if (!run || !v) return;
    }
  }
  if (word("if")) {
    long v = sum(deep);
    block(deep + 1, run && v);
    if (word("else")) { if (run && v && deep > 3) BUG(7); block(deep + 1, run && !v); }
    return;
  }
  if (word("print")) { long v = sum(deep); if (run) printed += v; }
  else if (word("swap")) { skip(); if (end - at < 2) longjmp(fault, 1); int a = (at[0] - 'a') & 15, b = (at[1] - 'a') & 15; at += 2; if (a == b) BUG(5); long t = vars[a]; vars[a] = vars[b]; vars[b] = t; }
  else {
    skip();
    if (at >= end || *at < 'a' || *at > 'z') longjmp(fault, 1);
    int name = *at++ - 'a';
    if (!eat(':')) longjmp(fault, 1);
    long v = sum(deep);
    if (run) { if (name == 'z' - 'a' && v == 1337) BUG(6); vars[name] = v; }
  }
  if (!eat(';')) longjmp(fault, 1);
}
static void block(int deep, int run) {
  if (!eat('{')) longjmp(fault, 1);
  while (!eat('}')) statement(deep + 1, run);
}

int main(void) {
  __AFL_INIT();
  unsigned char *b = __AFL_FUZZ_TESTCASE_BUF;
  while (__AFL_LOOP(10000)) {
    at = (const char *)b;
    end = at + __AFL_FUZZ_TESTCASE_LEN;
    memset(vars, 0, sizeof vars);
    if (!setjmp(fault)) for (skip(); at < end; skip()) statement(0, 1);
  }
  return 0;
}
