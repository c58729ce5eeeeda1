package speclang_test

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/speclang"
)

func parse(t testing.TB, text string) *jsontree.Node {
	t.Helper()
	d, err := jsontree.Parse([]byte(text), jsontree.Python())
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return &d.Root
}

func compile(t testing.TB, text string) *speclang.Program {
	t.Helper()
	return speclang.Compile(speclang.FormOfJSON(parse(t, text), nil), speclang.Options{})
}

// host answers as the machine did on which the vectors were measured.
func host() speclang.Host {
	return speclang.Host{PathExists: func(path string) bool { return path == "/" || path == "" || path == "." }}
}

func limits(n *jsontree.Node) speclang.Limits {
	l := speclang.DefaultLimits()
	set := func(key string, to *int) {
		if v := n.Get(key); v != nil {
			*to = int(v.Int().Int64())
		}
	}
	set("max_steps", &l.Steps)
	set("max_nodes", &l.Nodes)
	set("max_literal_bytes", &l.LiteralBytes)
	return l
}

func TestVectors(t *testing.T) {
	file, err := os.Open("testdata/vectors.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	count := 0
	for lines.Scan() {
		c := parse(t, lines.Text())
		id := c.Get("id").Text
		if id == "SL-301" {
			continue // depends on the stack of the machine it was measured on
		}
		count++
		subject := speclang.OfJSON(c.Get("subject"))
		p := speclang.Compile(speclang.FormOfJSON(c.Get("expr"), nil), speclang.Options{})
		number := func(key string) int { return int(c.Get(key).Int().Int64()) }
		if p.Nodes != number("nodes") || p.LiteralBytes != number("literal_bytes") {
			t.Errorf("%s: %d nodes and %d bytes, want %d and %d", id, p.Nodes, p.LiteralBytes, number("nodes"), number("literal_bytes"))
		}
		got := p.Eval(subject, limits(c.Get("limits")), host())
		want := c.Get("result")
		kind := want.Get("kind").Text
		if (got.Err != nil) != (kind == "error") {
			t.Errorf("%s: error %v, want a result of kind %s", id, got.Err, kind)
			continue
		}
		switch kind {
		case "error":
			if string(got.Err.Category) != want.Get("category").Text || got.Steps != number("steps_at_error") {
				t.Errorf("%s: %s after %d steps, want %s after %d", id, got.Err.Category, got.Steps, want.Get("category").Text, number("steps_at_error"))
			}
			if message := want.Get("message").Text; strings.Contains(message, "spec_lang") && !strings.HasPrefix(got.Err.Message, message) {
				t.Errorf("%s: %q, want %q", id, got.Err.Message, message)
			}
			continue
		case "closure":
			if got.Value.Kind() != speclang.Closure {
				t.Errorf("%s: %s, want a closure", id, got.Value.JSON())
			}
		case "value":
			if value := speclang.OfJSON(want.Get("value")); got.Value.JSON() != value.JSON() || got.Value.TypeName() != want.Get("type").Text {
				t.Errorf("%s: %s %s, want %s %s", id, got.Value.TypeName(), got.Value.JSON(), want.Get("type").Text, value.JSON())
			}
		}
		if got.Steps != number("steps") || got.Truthy() != c.Get("truthy").Bool {
			t.Errorf("%s: %d steps, truthy %v; want %d, %v", id, got.Steps, got.Truthy(), number("steps"), c.Get("truthy").Bool)
		}
	}
	if count < 150 {
		t.Errorf("only %d vectors", count)
	}
}
