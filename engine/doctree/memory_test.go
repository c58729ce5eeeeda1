package doctree

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// A document keeps at most 64 bytes for each value and key beside its text and
// that of numbers in another form, whatever it is made of: it may have five
// millions of them.
func TestBytesKept(t *testing.T) {
	const times = 20_000
	deep := strings.Repeat("[", 20) + "1" + strings.Repeat("]", 20)
	for _, c := range []struct {
		first, each, last string
		nodes             int // of each
	}{
		{"[", "1,", "1]", 1},
		{"[", `"a text",`, "1]", 1},
		{"[", "true,null,", "1]", 2},
		{"[", "[1],", "1]", 2},
		{"[", "[],{},", "1]", 2},
		{"[", "[1,2,3],", "1]", 4},
		{"[", deep + ",", "1]", 21},
		{"[", `{"a":1},`, "1]", 3},
		{"[", `{"a":{"b":["c"]}},`, "1]", 6},
		{"", "- 1\n", "", 1},
		{"", "- - 1\n", "", 2},
		{"", "- a: 1\n  b: 'two'\n", "", 5},
		{"--- &a\n", "- one\n", "", 1}, // left to the parser
		{"--- &a\n", "- {a: 1, \"b\": 'two'}\n", "", 5},
	} {
		text := []byte(c.first + strings.Repeat(c.each, times) + c.last)
		for _, json := range []bool{false, true} {
			if json && c.first != "[" {
				continue
			}
			before := heap(true)
			d, err := Parse(text, Options{})
			if json {
				d, err = ParseJSON(text, jsontree.Options{})
			}
			kept := float64(heap(true).HeapAlloc) - float64(before.HeapAlloc) - float64(len(text))
			if each := kept / float64(times*c.nodes); err != nil || each > 64 {
				t.Errorf("%s%s, JSON %t: %.1f bytes a value (%v)", c.first, c.each, json, each, err)
			}
			runtime.KeepAlive(d)
		}
	}
}

// Reading a long list hardly copies it, and JSON is not held in a second tree.
func TestBytesANode(t *testing.T) {
	const values = 200_000
	for name, text := range map[string]string{
		"flow":  "a: [" + strings.Repeat("12345,", values) + "1]\n",
		"block": strings.Repeat("- 12345\n", values),
		"json":  "[" + strings.Repeat("12345,", values) + "1]",
	} {
		before := heap(false)
		var err error
		if name == "json" {
			_, err = ParseJSON([]byte(text), jsontree.Options{})
		} else {
			_, err = Parse([]byte(text), Options{})
		}
		after := heap(false)
		if each := (after.TotalAlloc - before.TotalAlloc) / values; err != nil || each > 150 {
			t.Errorf("%s: %d bytes are allocated for each value, want at most 150 (%v)", name, each, err)
		}
	}
}

// A list grows as a slice does.
func TestAdd(t *testing.T) {
	list := ListOf(Pos{}, Node{Text: "0"})
	for i := 1; i < 100_000; i++ {
		list.Add(Node{Text: strconv.Itoa(i)})
	}
	before := heap(false).TotalAlloc
	list.Add(Node{Text: "100000"}, Node{Text: "100001"})
	allocated := heap(false).TotalAlloc - before
	for i, n := range list.Items() {
		if n.Text != strconv.Itoa(i) {
			t.Fatalf("%d is %q", i, n.Text)
		}
	}
	if n := len(list.Items()); n != 100_002 || allocated > 100_000 {
		t.Errorf("%d values, %d bytes for the last two", n, allocated)
	}
}

// What a tree takes beside its text, and what reading it takes from the heap in
// all, for each value and key.
func BenchmarkBytesANode(b *testing.B) {
	const values = 1_000_000
	for _, c := range []struct {
		name, first, each, last string
		nodes                   int
		json                    bool
	}{
		{"yaml/flow", "[", "1,", "1]", values, false},
		{"yaml/block", "", "- one\n", "", values, false},
		{"yaml/mappings", "", "- {a: 1, b: two}\n", "", 5 * values, false},
		{"yaml/parser", "--- &a\n", "- one\n", "", values, false},
		{"json/array", "[", "1,", "1]", values, true},
		{"json/objects", "[", `{"a":1},`, "1]", 3 * values, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			text := []byte(c.first + strings.Repeat(c.each, values) + c.last)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				before := heap(true)
				var d *Document
				var err error
				if c.json {
					d, err = ParseJSON(text, jsontree.Options{})
				} else {
					d, err = Parse(text, Options{MaxNodes: 10 * values})
				}
				if err != nil {
					b.Fatal(err)
				}
				all, kept := heap(false), heap(true)
				per := func(bytes uint64) float64 { return (float64(bytes) - float64(len(text))) / float64(c.nodes) }
				b.ReportMetric(per(kept.HeapAlloc-before.HeapAlloc), "B/node")
				b.ReportMetric(per(all.TotalAlloc-before.TotalAlloc), "allocated-B/node")
				runtime.KeepAlive(d)
			}
		})
	}
}

func heap(collect bool) (m runtime.MemStats) {
	if collect {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m
}

// A text of too many values is refused at one of them, not at its beginning.
func TestTooManyValues(t *testing.T) {
	for values, line := range map[int]int{30: 12, 15: 12} { // by what it looks like, and by what is read
		_, err := Parse([]byte("a:\n"+strings.Repeat("- 1\n", values)), Options{MaxNodes: 12})
		e, ok := err.(*Error)
		if !ok || e.Class != Size || e.Pos.Line < line-1 || e.Pos.Line > 2*line+2 {
			t.Errorf("%d values: %v", values, err)
		}
	}
}
