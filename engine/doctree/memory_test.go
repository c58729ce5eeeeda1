package doctree

import (
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// A node has 64 bytes: documents may have five millions of them.
func TestSizeOfNode(t *testing.T) {
	if n, m := unsafe.Sizeof(Node{}), unsafe.Sizeof(Member{}); n > 64 || m > 128 {
		t.Errorf("a node has %d bytes and a member %d, want at most 64 and 128", n, m)
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
