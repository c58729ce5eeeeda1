package systemfile

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/internal/golden"
	"github.com/thresh-dev/thresh/port/sut"
)

func decode(file string, text []byte) (*sut.Plan, diag.List) {
	d, root := parse(file, text)
	return d.decode(root), d.List
}

const shop = `
schema: thresh.system.v1
name: shop
kind: http
command: [python3, shop.py, "{port}"]
per: worker
ready: "http://127.0.0.1:{port}/health"
url: "http://127.0.0.1:{port}"
headers: {Authorization: "Bearer ${SHOP_KEY}"}
openapi: /openapi.json
operations:
  refund: {method: POST, path: "/orders/{order}/refund", json: {amount: "{amount}"}, returns: "$.left", rejects: [409, 422]}
input: {operation: parse, body: raw}
reply: "$.choices[0].message.content"
reset: {operation: reset}
limits: {timeout: 5s, rate: 50/s, concurrency: 4, retries: 2}
`

// A program starts in the folder that dir names, and its digest is that of the program there.
func TestDir(t *testing.T) {
	const text = `{schema: thresh.system.v1, kind: mcp, command: [python3, serve.py]%s}`
	for dir, want := range map[string]string{"": "a/b", ", dir: ..": "a", ", dir: sub": "a/b/sub", ", dir: /srv": "/srv"} {
		var read []string
		p, list := Load("a/b/x.yaml", func(string) ([]byte, error) { return fmt.Appendf(nil, text, dir), nil }, func(name string) (string, error) {
			read = append(read, name)
			return "", fs.ErrNotExist
		})
		if len(list) > 0 || p.StartDir() != want || p.Dir != "a/b" || fmt.Sprint(read) != fmt.Sprintf("[%s/python3 %[1]s/serve.py]", want) {
			t.Errorf("%s: %s, %v, %v", dir, p.StartDir(), read, list)
		}
	}
	if _, list := decode("x.yaml", []byte(`{schema: thresh.system.v1, kind: mcp, url: "http://h", dir: ..}`)); len(list) != 1 || list[0].Code != "system.conflict" {
		t.Error(list)
	}
}

func TestTheFileOfTheDesign(t *testing.T) {
	p, list := decode("dir/shop.yaml", []byte(shop))
	if len(list) > 0 {
		t.Fatal(list)
	}
	o := p.Operations[0]
	got := fmt.Sprint(p.Name, p.Kind, p.Dir, p.Command, p.Per, p.Ready.URL, p.URL, p.Headers, p.OpenAPI, p.Input, p.Reply, p.Reset, p.Limits, p.ResetBy(), p.Shared())
	want := "shop http dir [python3 shop.py {port}] worker http://127.0.0.1:{port}/health http://127.0.0.1:{port} [[Authorization Bearer ${SHOP_KEY}]] /openapi.json" +
		" {parse } $.choices[0].message.content {operation reset} {5s {50 1s} 4 2} operation false"
	if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") && squash(got) != squash(want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if o.Name != "refund" || o.Method != "POST" || string(o.JSON) != `{"amount": "{amount}"}` && string(o.JSON) != `{"amount":"{amount}"}` ||
		fmt.Sprint(o.Rejects) != "[409 422]" || fmt.Sprint(argumentNames(o.Arguments)) != "[order amount]" {
		t.Errorf("%+v %s", o, o.JSON)
	}
	if p.Limits.Timeout != 5*time.Second {
		t.Error(p.Limits)
	}
}

// Words that YAML takes for something else are names here.
func TestWordsAsWritten(t *testing.T) {
	p, list := decode("x", []byte("schema: thresh.system.v1\nname: 1\nkind: http\nurl: http://x\noperations: {no: {path: /, query: {on: true, 2: 3}}}\ninput: {operation: no}\n"))
	if len(list) > 0 {
		t.Fatal(list)
	}
	if o := p.Operations[0]; p.Name != "1" || o.Name != "no" || fmt.Sprint(o.Query) != "[[on true] [2 3]]" {
		t.Errorf("%q %+v", p.Name, o)
	}
}

func squash(s string) string { return strings.ReplaceAll(s, " ", "") }

// Every refused input has a line in testdata/errors.yaml: documents between
// lines of dashes, and below each, as comments, what is said of it.
func TestErrors(t *testing.T) {
	const expected = "testdata/errors.yaml"
	text, err := os.ReadFile(expected)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	codes := make(map[string]bool)
	for i, doc := range strings.Split(string(text), "\n=====\n") {
		doc, _, _ = strings.Cut(doc, "\n### ")
		doc = strings.TrimSpace(doc) + "\n"
		_, list := decode("x.yaml", []byte(doc))
		if i > 0 {
			out.WriteString("\n=====\n")
		}
		out.WriteString(doc)
		if len(list) == 0 {
			t.Errorf("document %d is taken", i)
		}
		for _, d := range list {
			codes[d.Code] = true
			fmt.Fprintf(&out, "### %s %s\n", d.Code, d)
		}
	}
	golden.Check(t, expected, out.String())
	for _, code := range []string{"syntax", "missing-key", "unknown-key", "duplicate-key", "type", "empty", "range", "unknown-word", codeValue, codeConflict, codeName} {
		if !codes["system."+code] {
			t.Errorf("no document is refused as %s", code)
		}
	}
}

func TestIdentity(t *testing.T) {
	files := map[string]string{
		"d/s.yaml": "schema: thresh.system.v1\nkind: driver\ncommand: [python3, drv.py]\n", "d/drv.py": "1",
		"d/w.yaml": "schema: thresh.system.v1\nkind: wasm\nentry: m.wasm\n", "d/m.wasm": "m",
	}
	read := func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}
	digest := func(name string) (string, error) { b, err := read(name); return "sum of " + string(b), err }
	load := func(name string) *sut.Plan {
		t.Helper()
		p, list := Load(name, read, digest)
		if p == nil {
			t.Fatal(list)
		}
		return p
	}
	s, w := load("d/s.yaml"), load("d/w.yaml")
	if s.Unknown != "" || string(w.Module) != "m" {
		t.Errorf("%q %q", s.Unknown, w.Module)
	}
	files["d/drv.py"], files["d/m.wasm"] = "2", "n"
	if load("d/s.yaml").Digest == s.Digest || load("d/w.yaml").Digest == w.Digest {
		t.Error("another program, the same identity")
	}
	delete(files, "d/m.wasm")
	files["d/p.yaml"] = "schema: thresh.system.v1\nkind: python\nentry: m.py:f\n"
	files["d/o.yaml"] = "schema: thresh.system.v1\nkind: http\nurl: http://x\nopenapi: m.json\n"
	for name, want := range map[string]string{
		"d/w.yaml": "d/w.yaml:3:8: error: entry: m.wasm cannot be read",
		"d/p.yaml": "d/p.yaml:3:8: error: entry: m.py cannot be read",
		"d/o.yaml": "d/o.yaml:4:10: error: openapi: m.json cannot be read",
	} {
		if p, list := Load(name, read, digest); p != nil || !strings.Contains(list.Render(diag.Style{}), want) {
			t.Errorf("%v, not %s", list, want)
		}
	}
	files["d/h.yaml"] = "schema: thresh.system.v1\nkind: http\nurl: http://x\noperations: {a: {path: /}}\n"
	if p := load("d/h.yaml"); !strings.Contains(p.Unknown, "runs elsewhere") || !p.Shared() {
		t.Errorf("%q", p.Unknown)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(shop)
	f.Add("schema: thresh.system.v1\nkind: wasm\nentry: m\noperations: {a: }")
	f.Fuzz(func(t *testing.T, text string) {
		p, list := decode("x", []byte(text))
		if (p == nil) != list.HasErrors() {
			t.Errorf("a plan %v with %v", p, list)
		}
		if p != nil {
			for _, o := range p.Operations {
				if o.JSON != nil && !json.Valid(o.JSON) {
					t.Errorf("no JSON: %q", o.JSON)
				}
			}
		}
	})
}
