/* A JSON parser for bench/guided. Persistent, input in memory. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bug.h"

__AFL_FUZZ_INIT();

static const char *at, *end;
static volatile long seen;
static int deepest;

static void skip(void) { while (at < end && strchr(" \t\r\n", *at) && *at) at++; }
static int word(const char *w) {
  size_t n = strlen(w);
  if ((size_t)(end - at) < n || memcmp(at, w, n)) return 0;
  at += n;
  return 1;
}
static int hex(void) {
  int v = 0;
  for (int i = 0; i < 4; i++, at++) {
    if (at >= end) return -1;
    if (*at >= '0' && *at <= '9') v = v * 16 + *at - '0';
    else if (*at >= 'a' && *at <= 'f') v = v * 16 + *at - 'a' + 10;
    else if (*at >= 'A' && *at <= 'F') v = v * 16 + *at - 'A' + 10;
    else return -1;
  }
  return v;
}
static int text(void) {
  for (at++; at < end; at++) {
    if (*at == '"') { at++; return 1; }
    if ((unsigned char)*at < ' ') return 0;
    if (*at != '\\') continue;
    if (++at >= end) return 0;
    if (*at == 'u') {
      at++;
      int v = hex();
      if (v < 0) return 0;
      if (v == 0 && deepest > 2) BUG(6);
      if (v >= 0xd800 && v < 0xdc00) {
        if (!word("\\u")) return 0;
        v = hex();
        if (v < 0xdc00 || v > 0xdfff) return 0;
        if (v == 0xdfff) BUG(1);
        seen++;
      }
      at--;
    } else if (!strchr("\"\\/bfnrt", *at) || !*at) return 0;
  }
  return 0;
}
static int digits(void) { const char *from = at; while (at < end && *at >= '0' && *at <= '9') at++; return at > from; }
static int number(void) {
  const char *start = at;
  int minus = *at == '-';
  if (minus) at++;
  if (at < end && *at == '0') at++; else if (!digits()) return 0;
  if (at < end && *at == '.') { at++; if (!digits()) return 0; if (minus && at - start == 6 && !memcmp(start, "-1.125", 6)) BUG(7); seen++; }
  if (at < end && (*at == 'e' || *at == 'E')) {
    at++;
    if (at < end && (*at == '+' || *at == '-')) at++;
    const char *from = at;
    if (!digits()) return 0;
    if (at - from > 3) BUG(2);
    seen++;
  }
  return 1;
}
static int value(int deep) {
  skip();
  if (deep > deepest) deepest = deep;
  if (deep > 40) BUG(3);
  if (at >= end) return 0;
  switch (*at) {
  case '"': return text();
  case 't': return word("true");
  case 'f': return word("false");
  case 'n': return word("null");
  case '[':
    at++; skip();
    if (at < end && *at == ']') { at++; return 1; }
    for (;;) {
      if (!value(deep + 1)) return 0;
      skip();
      if (at >= end) return 0;
      if (*at == ']') { at++; return 1; }
      if (*at++ != ',') return 0;
    }
  case '{':
    at++; skip();
    if (at < end && *at == '}') { at++; return 1; }
    for (;;) {
      skip();
      const char *key = at;
      if (at >= end || *at != '"' || !text()) return 0;
      if (at - key == 11 && !memcmp(key, "\"__proto__\"", 11)) BUG(4);
      if (at - key == 2 && deep > 1) BUG(5);
      skip();
      if (at >= end || *at++ != ':' || !value(deep + 1)) return 0;
      skip();
      if (at >= end) return 0;
      if (*at == '}') { at++; return 1; }
      if (*at++ != ',') return 0;
    }
  }
  return number();
}

int main(void) {
  __AFL_INIT();
  unsigned char *buf = __AFL_FUZZ_TESTCASE_BUF;
  while (__AFL_LOOP(10000)) {
    int n = __AFL_FUZZ_TESTCASE_LEN;
    at = (const char *)buf; end = at + n;
    deepest = 0;
    if (value(0)) seen++;
  }
  return 0;
}
