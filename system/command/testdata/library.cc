// Bugs that the C++ library notices, or fails on, in several functions of the
// program: what distinguishes them lies beyond the library's frames.
#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
#define NI __attribute__((noinline))
using Names = std::vector<std::string>;
using Table = std::map<int, Names>;
struct Record { long id; Names names; Table table; };
volatile long sink;
template <class T> T *hidden(T *p) { asm volatile("" : "+r"(p)::"memory"); return p; }
namespace app {
struct Loader {
  NI long find(Record *r, int k) { sink = 1; return r->table.find(k) == r->table.end(); }
  NI long search(Record *r, int k) { sink = 2; return r->table.find(k) == r->table.end(); }
  NI long twice(Record *r, int k, bool again) {
    if (!again) return r->table.find(k) == r->table.end();
    sink = r->table.find(k + 1) == r->table.end();
    return 7;
  }
  NI long keep(Record *r) { Names n(r->names); return n.size(); }
  NI long copy(Record *r) { Names n(r->names); n.push_back("x"); return n.size() + 1; }
  NI int at(const Table &t, int k) { return t.at(k).size(); }
  NI int get(const Table &t, int k) { sink = 4; return t.at(k + 1).size(); }
};
}
NI static void reject(int n) { throw std::runtime_error("odd " + std::to_string(n)); }
NI static void refuse(int n) { throw std::runtime_error("even " + std::to_string(n)); }
NI static void stop(int) { raise(SIGTRAP); sink = 5; }
NI static void halt(int) { raise(SIGTRAP); sink = 6; }
NI static void forget(Record *r) {
  std::function<void()> f = [r] { sink = r->id; };
  f();
}
NI static void remember(Record *r) {
  auto f = [](Record *r) { r->id = 7; };
  hidden(&f)->operator()(r);
}
int main(int, char **v) {
  std::ifstream f(v[1], std::ios::binary);
  std::string d((std::istreambuf_iterator<char>(f)), {});
  if (d.size() < 2) return 0;
  app::Loader l;
  Record *none = hidden((Record *)nullptr);
  Table empty;
  unsigned char k = d[1];
  switch (d[0]) {
  case 'A': sink = l.find(none, k); break;
  case 'B': sink = l.search(none, k); break;
  case 'C': sink = l.twice(none, k, false); break;
  case 'D': sink = l.twice(none, k, true); break;
  case 'E': sink = l.keep(none); break;
  case 'F': sink = l.copy(none); break;
  case 'G': sink = l.at(empty, k); break;
  case 'H': sink = l.get(empty, k); break;
  case 'I': reject(k); break;
  case 'J': refuse(k); break;
  case 'K': stop(k); break;
  case 'L': halt(k); break;
  case 'M': forget(none); break;
  case 'N': remember(none); break;
  }
  return 0;
}
