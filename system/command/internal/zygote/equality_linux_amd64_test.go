package zygote

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/thresh-dev/thresh/internal/testproc"
)

var ours = []string{"?", "hello", "", "abort", "segv", "k", "0", "7x", strings.Repeat("long ", 500), "?again"}

var documents = []string{
	`{"a":[1,2,{"b":null}],"c":"\u00e9"}`, `[1,2`, ``, `"x`, `{"a":1e999}`, `[[[[[]]]]]`, `{"a":1}{"b":2}`, "\xff\xfe", `null`,
}

// A case that was forked off is equal in all that shows to one that was
// spawned, whatever the program is made of.
func TestEqualToSpawn(t *testing.T) {
	const script = "import sys,json\ntry:\n d=json.load(open(sys.argv[1]))\nexcept ValueError as e:\n print(e); sys.exit(4)\nprint(json.dumps(d,sort_keys=True))\n"
	reader := func(compiler string, flags ...string) func(*testing.T) string {
		return func(t *testing.T) string { return build(t, compiler, "reader.c", flags...) }
	}
	installed := func(name string) func(*testing.T) string {
		return func(t *testing.T) string { return tool(t, name) }
	}
	for _, c := range []struct {
		name    string
		program func(*testing.T) string
		args    []string
		stdin   bool
		inputs  []string
		point   string
	}{
		{"dynamic", reader("gcc"), []string{"@@"}, false, ours, PointInput},
		{"static", reader("gcc", "-static"), []string{"@@"}, false, ours, PointInput},
		{"static-pie", reader("gcc", "-static-pie"), []string{"@@"}, false, ours, PointInput},
		{"no-pie", reader("gcc", "-no-pie"), []string{"@@"}, false, ours, PointInput},
		{"cet", reader("gcc", "-fcf-protection=full"), []string{"@@"}, false, ours, PointInput},
		{"musl", reader("musl-gcc"), []string{"@@"}, false, ours, PointInput},
		{"musl-static", reader("musl-gcc", "-static"), []string{"@@"}, false, ours, PointInput},
		{"relative", reader("gcc"), []string{"./input"}, false, ours, PointInput},
		{"dynamic-stdin", reader("gcc"), nil, true, ours, PointInput},
		{"musl-stdin", reader("musl-gcc", "-static"), nil, true, ours, PointInput},
		{"dev-stdin", reader("gcc"), []string{"/dev/stdin"}, true, ours, PointInput},
		{"jq", installed("jq"), []string{"-c", ".", "@@"}, false, documents, PointInput},
		{"jq-stdin", installed("jq"), []string{"-c", "."}, true, documents, PointInput},
		{"cat", installed("cat"), []string{"@@"}, false, documents, PointInput},
		{"cat-stdin", installed("cat"), nil, true, documents, PointInput},
		{"sort", installed("sort"), []string{"@@"}, false, documents, ""},
		{"sh", installed("sh"), []string{"-c", `read line < "$0"; echo "got $line"`, "@@"}, false, documents, ""},
		{"python", installed("python3"), []string{"-c", script, "@@"}, false, documents, PointInput},
		{"true", installed("true"), nil, false, documents, PointMain},
	} {
		t.Run(c.name, func(t *testing.T) {
			if slices.Contains([]string{"static-pie", "cet", "musl", "dynamic-stdin", "jq-stdin", "cat"}, c.name) && !testproc.Long() {
				t.Skip("others are much alike: set THRESH_TEST_LONG=1")
			}
			t.Parallel()
			b := newBench(t, c.stdin, c.program(t), c.args...)
			s := b.start()
			if c.point != "" && s.Point() != c.point {
				t.Errorf("held at %s (%s), want %s", s.Point(), s.Reason(), c.point)
			}
			for range testproc.Times(3, 2) {
				for _, in := range c.inputs {
					warm, cold := b.warm(s, []byte(in)), b.cold([]byte(in))
					if warm != cold {
						t.Fatalf("input %q, held at %s:\nforked  %v\nspawned %v", in, s.Point(), warm, cold)
					}
				}
			}
		})
	}
}

func TestEqualOnMutants(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write([]byte(strings.Repeat("some text to pack ", 40)))
	w.Close()
	b := newBench(t, false, tool(t, "gzip"), "-dc", "@@")
	s := b.start()
	t.Logf("held at %s %s", s.Point(), s.Reason())
	rng := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		in := bytes.Clone(packed.Bytes())
		for range rng.IntN(3) {
			in[rng.IntN(len(in))] ^= 1 << rng.IntN(8)
		}
		if warm, cold := b.warm(s, in), b.cold(in); warm != cold {
			t.Fatalf("input %x:\nforked  %v\nspawned %v", in, warm, cold)
		}
	}
}

// A script's interpreter is held when it opens the input.
func TestShebang(t *testing.T) {
	python := tool(t, "python3")
	path := filepath.Join(t.TempDir(), "script")
	text := "#!" + python + "\nimport sys\ndata = open(sys.argv[1]).read()\nprint(len(data))\nsys.exit(len(data) % 3)\n"
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, false, path, "@@")
	s := b.start()
	for _, in := range []string{"", "one", "four", "fives"} {
		if warm, cold := b.warm(s, []byte(in)), b.cold([]byte(in)); warm != cold {
			t.Fatalf("input %q:\nforked  %v\nspawned %v", in, warm, cold)
		}
	}
	if s.Point() != PointInput {
		t.Errorf("held at %s: %s", s.Point(), s.Reason())
	}
}

// Limits reach the case, those of time and number anew for each.
func TestLimits(t *testing.T) {
	b := newBench(t, false, build(t, "gcc", "reader.c"), "@@")
	b.cfg.Limits = []Rlimit{
		{Resource: unix.RLIMIT_CPU, Cur: 7, Max: 8},
		{Resource: unix.RLIMIT_NPROC, Cur: 4000, Max: 4000},
		{Resource: unix.RLIMIT_FSIZE, Cur: 1 << 20, Max: 1 << 20},
		{Resource: unix.RLIMIT_NOFILE, Cur: 64, Max: 64},
	}
	s := b.start()
	got := b.warm(s, []byte("?")).out
	if !strings.Contains(got, "cpu limit 7 8 file size limit 1048576\n") {
		t.Errorf("the case sees %s", got)
	}
}
