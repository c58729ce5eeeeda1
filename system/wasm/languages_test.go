package wasm_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/port/dut"
	"github.com/thresh-dev/thresh/system/wasm"
)

// A module that Go's compiler made: a runtime, a heap, 37 pages of memory.
func TestGoModule(t *testing.T) {
	if testing.Short() {
		t.Skip("building and compiling a Go module takes seconds")
	}
	if raceEnabled {
		t.Skip("the race detector makes compiling a Go module too slow")
	}
	file := filepath.Join(t.TempDir(), "ledger.wasm")
	build := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-w", "-o", file, "./testdata/ledger")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("go build: %v\n%s", err, out)
	}
	binary, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = t.TempDir()
	}
	g, err := wasm.NewEngine(filepath.Join(cache, "thresh", "test-modules"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := g.Open(context.Background(), dut.Plan{Binary: binary, Coverage: true, Compares: true, Bindings: []dut.Binding{
		binding("deposit", dut.Int, dut.Ref, dut.Int), binding("entries", dut.Int), binding("hoard", dut.Int, dut.Int), binding("spin", dut.Void), binding("luck", dut.Int),
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if notes := strings.Join(d.Info().Notes, "\n"); !strings.Contains(notes, "Go's own packages are left out") || d.Info().Edges < 10 {
		t.Errorf("%d edges; notes: %s", d.Info().Edges, notes)
	}
	x, err := d.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	y, err := d.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer y.Close()
	deposit := func(x dut.Instance, account, amount int64) dut.Reply {
		return x.Call(0, []dut.Value{dut.Number(dut.Ref, account), dut.Number(dut.Int, amount)})
	}
	if r := deposit(x, 1, 5); r.Cause != dut.None || r.Value.Int != 5 {
		t.Fatalf("%+v %v", r, x.Fault())
	}
	if c := x.Take().Compares; len(c) == 0 {
		t.Error("no comparisons were seen")
	}
	s := x.Snapshot()
	luck := x.Call(4, nil)
	for n := range int64(20) {
		deposit(x, n, 1)
	}
	if r := x.Call(2, ints(8<<20)); r.Value.Int != 8<<20 { // the memory grows
		t.Errorf("%+v %v", r, x.Fault())
	}
	for _, i := range []dut.Instance{x, y} {
		if err := i.Restore(s); err != nil {
			t.Fatal(err)
		}
		if r := i.Call(4, nil); r != luck {
			t.Errorf("%+v, before %+v", r, luck)
		}
		if n := i.Call(1, nil); n.Value.Int != 1 {
			t.Errorf("%+v", n)
		}
		if r := deposit(i, 2, 2_000_000); !r.Cause.Crash() {
			t.Errorf("%+v", r)
		}
		if _, stderr := i.Output(); !strings.Contains(string(stderr), "deposit too large") || !strings.Contains(strings.Join(i.Fault().Stack, " "), "main.deposit") {
			t.Errorf("%+v\n%s", i.Fault(), stderr)
		}
		if err := i.Restore(s); err != nil {
			t.Fatal(err)
		}
		if r := i.Call(3, nil); r.Cause != dut.Timeout {
			t.Errorf("%+v %v", r, i.Fault())
		}
	}
}

// A module that clang made, with a stack, data and an allocator of its own.
func TestCModule(t *testing.T) {
	clang, err := exec.LookPath("clang")
	if err != nil {
		t.Skip("clang is not here")
	}
	dir := t.TempDir()
	source := `
extern unsigned char __heap_base;
static unsigned long next;
static int items[64], count;
__attribute__((export_name("malloc"))) void *take(unsigned long n) {
	if (!next) next = (unsigned long)&__heap_base;
	void *p = (void *)next; next += (n + 15) & ~15ul; return p;
}
__attribute__((export_name("push"))) int push(int v) { if (count == 64) __builtin_trap(); items[count++] = v; return count; }
__attribute__((export_name("sum"))) int sum(void) { int s = 0; for (int i = 0; i < count; i++) s += items[i]; return s; }
__attribute__((export_name("vowels"))) int vowels(const char *s, int n) {
	int v = 0;
	for (int i = 0; i < n; i++) switch (s[i]) { case 'a': case 'e': case 'i': case 'o': case 'u': v++; }
	return v;
}`
	if err := os.WriteFile(filepath.Join(dir, "a.c"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	object, file := filepath.Join(dir, "a.o"), filepath.Join(dir, "a.wasm")
	if out, err := exec.Command(clang, "--target=wasm32", "-O2", "-c", "-o", object, filepath.Join(dir, "a.c")).CombinedOutput(); err != nil {
		t.Skipf("clang cannot compile for wasm32: %v\n%s", err, out)
	}
	if out, err := exec.Command(wasmLinker(t), "--no-entry", "-o", file, object).CombinedOutput(); err != nil {
		t.Skipf("the module cannot be linked: %v\n%s", err, out)
	}
	binary, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, x := open(t, dut.Plan{Binary: binary, Coverage: true, Compares: true, Bindings: []dut.Binding{
		binding("push", dut.Int, dut.Int), binding("sum", dut.Int), binding("vowels", dut.Int, dut.String),
	}})
	for n := range int64(10) {
		x.Call(0, ints(n))
	}
	s := x.Snapshot()
	for range 55 {
		x.Call(0, ints(1))
	}
	if r := x.Call(0, ints(1)); r.Cause != dut.Unreachable {
		t.Errorf("%+v", r)
	}
	if err := x.Restore(s); err != nil {
		t.Fatal(err)
	}
	if r := x.Call(1, nil); r.Value.Int != 45 {
		t.Errorf("%+v", r)
	}
	if r := x.Call(2, []dut.Value{dut.Text("education")}); r.Value.Int != 5 {
		t.Errorf("%+v", r)
	}
}

// wasmLinker finds LLVM's linker: by itself, or as Rust brings it along.
func wasmLinker(t *testing.T) string {
	t.Helper()
	if linker, err := exec.LookPath("wasm-ld"); err == nil {
		return linker
	}
	root, err := exec.Command("rustc", "--print", "sysroot").Output()
	if err != nil {
		t.Skip("neither wasm-ld nor rustc is here")
	}
	found, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "lib", "rustlib", "*", "bin", "gcc-ld", "wasm-ld"))
	if len(found) == 0 {
		t.Skip("wasm-ld is not here")
	}
	return found[0]
}
