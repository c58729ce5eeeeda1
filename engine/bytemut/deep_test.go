package bytemut_test

import (
	"bytes"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/engine/bytemut"
	"github.com/thresh-dev/thresh/internal/golden"
)

// samples are inputs of the kinds that the deep mutator distinguishes.
var samples = map[string][]byte{
	"json":   []byte(`{"user": {"id": 17, "name": "Ada \"L\" é"}, "tags": ["a", "b", []], "ratio": -1.5e3, "ok": null}` + "\n"),
	"xml":    []byte(`<feed v="1"><item id='2'><title>One &amp; two</title></item><item/><!-- c --></feed>`),
	"broken": []byte("{\"a\": [1, 2, }, <x><y></x> 'open\n((("),
	"code":   []byte("func f(a int, b string) {\r\n\treturn g(a+1, \"x\"); // 0x1F\r\n}\r\n"),
	"binary": []byte("\x7fELF\x02\x01\x00\x00\x00\x00\xff\xfe\x80\x81\x00\x00\x10\x00\x00\x00"),
	"empty":  nil,
	"one":    []byte("x"),
}

var sampleNames = []string{"json", "xml", "broken", "code", "binary", "empty", "one"}

func corpus() [][]byte {
	var out [][]byte
	for _, n := range sampleNames {
		out = append(out, samples[n])
	}
	return out
}

// replay applies a log to the parent it was made from.
func replay(t interface{ Fatalf(string, ...any) }, parent []byte, ops []bytemut.Op) []byte {
	out := bytes.Clone(parent)
	for _, op := range ops {
		if op.Offset < 0 || op.Length < 0 || op.Offset+op.Length > int64(len(out)) {
			t.Fatalf("%s at %d+%d lies outside %d bytes", op.Kind, op.Offset, op.Length, len(out))
		}
		out = append(out[:op.Offset:op.Offset], append(bytes.Clone(op.Value), out[op.Offset+op.Length:]...)...)
	}
	return out
}

// TestDeepIsStable holds what deep-1 makes against a file: the bytes of a case
// must never change under one version name.
func TestDeepIsStable(t *testing.T) {
	d := bytemut.NewDeep(corpus(), bytemut.DeepParams{MaxOps: -1, Dictionary: [][]byte{[]byte("DICT")}}, big.NewInt(-7))
	var buf bytemut.Buffer
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n", bytemut.DeepVersion)
	for i := range int64(40) {
		got := d.Case(i, &buf)
		fmt.Fprintf(&out, "case %d of %s: %.100q\n", i, sampleNames[d.ParentOf(len(sampleNames), i)], got)
		for _, op := range buf.Ops() {
			fmt.Fprintf(&out, "  %d %s at %d: %d bytes become %d\n", op.I, op.Kind, op.Offset, op.Length, len(op.Value))
		}
	}
	for from := int64(0); from < 4000; from += 1000 {
		var all []byte
		for i := from; i < from+1000; i++ {
			all = append(all, d.Case(i, &buf)...)
			all = bytemut.AppendLog(all, buf.Ops())
		}
		fmt.Fprintf(&out, "cases %d to %d: sha256 %s\n", from, from+999, digest(all))
	}
	golden.Check(t, "testdata/deep_cases.golden", out.String())
}

// TestDeepUsesEveryOperation guards against operations that never apply.
func TestDeepUsesEveryOperation(t *testing.T) {
	d := bytemut.NewDeep(corpus(), bytemut.DeepParams{MaxOps: -1}, nil)
	var buf bytemut.Buffer
	count := map[bytemut.Kind]int{}
	same := 0
	const cases = 30000
	for i := range int64(cases) {
		got := d.Case(i, &buf)
		if bytes.Equal(got, samples[sampleNames[d.ParentOf(len(sampleNames), i)]]) {
			same++
		}
		for _, op := range buf.Ops() {
			count[op.Kind]++
		}
	}
	for _, kind := range bytemut.DeepKinds() {
		if count[kind] < 20 {
			t.Errorf("%s was made %d times in %d cases", kind, count[kind], cases)
		}
	}
	if same > cases/50 {
		t.Errorf("%d of %d cases equal their parent", same, cases)
	}
}

// TestDeepLaws checks on arbitrary input that a case keeps to its bounds, that
// its log gives it again, and that it depends on nothing but its index.
func TestDeepLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		input := rapid.OneOf(
			rapid.SampledFrom(corpus()),
			rapid.SliceOfN(rapid.Byte(), 0, 300),
			rapid.Map(rapid.StringMatching(`([\[\]{}(),:;"<>/a-c0-9 \n\\-]|<a>|</a>|"b":|1.5){0,80}`), func(s string) []byte { return []byte(s) }),
		)
		seeds := rapid.SliceOfN(input, 0, 4).Draw(t, "seeds")
		p := bytemut.DeepParams{
			MaxBytes:   rapid.Int64Range(0, 300).Draw(t, "max"),
			MaxOps:     rapid.IntRange(-1, 20).Draw(t, "ops"),
			Dictionary: rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 5), 0, 3).Draw(t, "dictionary"),
		}
		d := bytemut.NewDeep(seeds, p, big.NewInt(rapid.Int64().Draw(t, "rng")))
		indexes := rapid.SliceOfN(rapid.Int64Range(0, 1<<40), 1, 20).Draw(t, "indexes")
		var buf bytemut.Buffer
		for _, i := range indexes {
			got := bytes.Clone(d.Case(i, &buf))
			if p.MaxBytes > 0 && int64(len(got)) > p.MaxBytes {
				t.Fatalf("case %d has %d bytes", i, len(got))
			}
			var parent []byte
			if len(seeds) > 0 {
				parent = seeds[d.ParentOf(len(seeds), i)]
			}
			ops := buf.Ops()
			if again := replay(t, parent, ops); !bytes.Equal(again, got) {
				t.Fatalf("case %d: the log gives %q, not %q", i, again, got)
			}
			if p.MaxOps >= 0 && len(ops) > 0 && ops[len(ops)-1].I >= max(p.MaxOps, 1) {
				t.Fatalf("case %d has operation %d", i, ops[len(ops)-1].I)
			}
			var fresh bytemut.Buffer
			if alone := d.Case(i, &fresh); !bytes.Equal(alone, got) {
				t.Fatalf("case %d alone is %q, in sequence %q", i, alone, got)
			}
		}
	})
}

func TestDeepWithoutOperations(t *testing.T) {
	d := bytemut.NewDeep([][]byte{[]byte("abcdef")}, bytemut.DeepParams{MaxOps: 0, MaxBytes: 4}, nil)
	var buf bytemut.Buffer
	if got := d.Case(3, &buf); string(got) != "abcd" {
		t.Errorf("got %q, want the clamped seed", got)
	}
}

// TestDeepGrowthIsBounded feeds cases back as parents, as guided runs do.
func TestDeepGrowthIsBounded(t *testing.T) {
	d := bytemut.NewDeep(corpus(), bytemut.DeepParams{MaxOps: -1}, nil)
	var buf bytemut.Buffer
	in := samples["json"]
	for key := range uint64(5000) {
		in = bytes.Clone(d.Mutate(in, corpus(), key, &buf))
		if len(in) > 1<<20 {
			t.Fatalf("%d bytes after %d steps", len(in), key+1)
		}
		if len(in) > 1<<17 { // large inputs are only made slowly
			in = in[:100]
		}
	}
}

// TestDeepParentsMayChange checks that what a buffer remembers of a parent does
// not outlive the parent's content.
func TestDeepParentsMayChange(t *testing.T) {
	d := bytemut.NewDeep(nil, bytemut.DeepParams{MaxOps: -1}, nil)
	parent := bytes.Clone(samples["json"])
	var buf bytemut.Buffer
	for key := range uint64(300) {
		parent[int(key)%len(parent)] ^= byte(key)
		got := bytes.Clone(d.Mutate(parent, nil, key, &buf))
		var fresh bytemut.Buffer
		if want := d.Mutate(parent, nil, key, &fresh); !bytes.Equal(got, want) {
			t.Fatalf("key %d: %q, want %q", key, got, want)
		}
	}
}

func FuzzDeep(f *testing.F) {
	for i, n := range sampleNames {
		f.Add(samples[n], samples["xml"], uint64(i))
	}
	var buf bytemut.Buffer
	f.Fuzz(func(t *testing.T, parent, other []byte, key uint64) {
		d := bytemut.NewDeep([][]byte{other}, bytemut.DeepParams{MaxOps: -1, MaxBytes: 4096}, nil)
		for k := range uint64(50) {
			got := d.Mutate(parent, [][]byte{other, parent}, key+k, &buf)
			if len(got) > 4096 {
				t.Fatalf("%d bytes", len(got))
			}
			if again := replay(t, parent, buf.Ops()); !bytes.Equal(again, got) {
				t.Fatalf("the log gives %q, not %q", again, got)
			}
		}
	})
}

func BenchmarkDeep(b *testing.B) {
	json := bytes.Repeat([]byte(`{"key": [1, 2.5, "three", {"four": null}]}, `), 24)[:1024]
	binary := make([]byte, 1024)
	for i := range binary {
		binary[i] = byte(i * i >> 3)
	}
	xml := bytes.Repeat([]byte(`<item id="1"><name>ab</name> text </item>`), 25)[:1024]
	for _, c := range []struct {
		name string
		seed []byte
	}{{"json", json}, {"xml", xml}, {"binary", binary}} {
		b.Run(c.name, func(b *testing.B) {
			d := bytemut.NewDeep([][]byte{c.seed}, bytemut.DeepParams{MaxOps: -1}, nil)
			var buf bytemut.Buffer
			ops := 0
			b.ReportAllocs()
			for i := range b.N {
				d.Case(int64(i), &buf)
				if o := buf.Ops(); len(o) > 0 {
					ops += o[len(o)-1].I + 1
				}
			}
			b.ReportMetric(float64(ops)/b.Elapsed().Seconds(), "ops/s")
		})
	}
}

// TestDeepAllocatesLittle keeps the hot loop free of garbage once the buffers
// have grown.
func TestDeepAllocatesLittle(t *testing.T) {
	d := bytemut.NewDeep([][]byte{samples["json"]}, bytemut.DeepParams{MaxOps: -1, MaxBytes: 1024}, nil)
	var buf bytemut.Buffer
	for i := range int64(5000) {
		d.Case(i, &buf)
	}
	index := int64(0)
	if n := testing.AllocsPerRun(5000, func() { d.Case(index, &buf); index++ }); n >= 1 {
		t.Errorf("%v allocations a case", n)
	}
}
