package spectest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/internal/golden"
	httpsys "github.com/thresh-dev/thresh/system/http"
)

// testdata/hurl.txt holds Hurl files and the documents that are made of them, with
// what is said of it, each part below a line of three equals signs.
func TestImportHurl(t *testing.T) {
	const name = "testdata/hurl.txt"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), "===\n")
	for i := 0; i+1 < len(parts); i += 2 {
		m := &imported{file: "a.hurl"}
		fromHurl(m, parts[i])
		got := m.String()
		for _, d := range m.list {
			got += d.String() + "\n"
		}
		if got != parts[i+1] && !golden.Update() {
			t.Errorf("%s\nbecomes\n%s\nwant\n%s", parts[i], got, parts[i+1])
		}
		parts[i+1] = got
		if m.list.HasErrors() {
			continue
		}
		doc := newDocument("a.spec.md", []byte(m.String()))
		set, _ := decodeSettings(campaign.Settings{}, func(string) string { return "" })
		for u := range doc.units() {
			for _, x := range doc.decodeUnit(u, set) {
				if len(x.faults) > 0 {
					t.Errorf("%s is refused: %v", x.c.label(), x.faults)
				}
			}
		}
	}
	if golden.Update() {
		if err := os.WriteFile(name, []byte(strings.Join(parts, "===\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// hurlAnswers are what the assertions of testdata/hurl-verdicts.txt are about.
var hurlAnswers = map[string][2]string{
	"/json": {"application/json", `{"id": 7, "f": 1.5, "name": "Ada Lovelace", "tags": ["a", "b", "c"], "empty": [], "eo": {}, "es": "", "nul": null, "t": true, "fa": false,
		"neg": -3, "big": 12345678901234567890, "e": 1000.0, "one": 1.0, "o": {"a": {"b": "deep"}, "odd key": 5},
		"items": [{"id": 1, "p": 10}, {"id": 2, "p": 20}, {"id": 3, "p": 30}], "date": "2026-11-24", "iso": "2026-11-24T10:00:00Z",
		"url": "http://h/x?q=a%20b&z=1", "b64": "aGVsbG8=", "html": "&lt;b&gt;", "ref": "order-42-x", "num": "17", "flt": "1.25", "uni": "h\u00e9llo",
		"uuid": "3fa85f64-5717-4562-b3fc-2c963f66afa6", "ip": "10.0.0.1", "ip6": "::1", "lines": "a\nb", "js": "{\"x\": 5}"}`},
	"/html":  {"text/html; charset=utf-8", "<!doctype html><html><head><title>My Shop</title></head><body><h1 class=x>Hi</h1><ul><li>one<li>two<li>three</ul><a href='/a'>A</a></body></html>"},
	"/text":  {"text/plain", "Hello, world\nline two\n"},
	"/empty": {"text/plain", ""},
	"/latin": {"text/plain; charset=iso-8859-1", "h\xe9llo"},
	"/arr":   {"application/json", `[{"a":1},{"a":2}]`},
	"/str":   {"application/json", `"just a string"`},
}

// Assertions that are imported have the verdicts that Hurl 8.0.1 gave.
func TestVerdictsOfHurl(t *testing.T) {
	text, err := os.ReadFile("testdata/hurl-verdicts.txt")
	if err != nil {
		t.Fatal(err)
	}
	base := hurlServer(t)
	t.Chdir(t.TempDir())
	k := newContract(nil)
	k.targets.HTTP = httpsys.OpenClient
	var doc strings.Builder
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for i, l := range lines {
		words := strings.SplitN(l, " ", 3)
		m := &imported{file: "a.hurl"}
		fromHurl(m, "GET "+base+words[1]+"\nHTTP *\n[Asserts]\n"+words[2]+"\n")
		if len(m.list) > 0 {
			t.Errorf("%s: %v", l, m.list)
		}
		doc.WriteString(strings.Replace(m.String(), "HURL-001", fmt.Sprintf("V-%03d", i), 1))
	}
	got, _ := play(t, k, doc.String(), nil)
	for i, g := range got {
		if words := strings.Fields(g); i >= len(lines) || !strings.HasPrefix(lines[i], words[1]) {
			t.Errorf("%s: %s", lines[min(i, len(lines)-1)], g)
		}
	}
	if len(got) != len(lines) {
		t.Errorf("%d verdicts of %d", len(got), len(lines))
	}
}

func hurlServer(t *testing.T) (base string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, a := w.Header(), hurlAnswers[r.URL.Path]
		h["X-One"], h["X-Two"], h["X-Num"] = []string{"1"}, []string{"a", "b"}, []string{"42"}
		h["Set-Cookie"] = []string{"sid=abc123; Path=/; HttpOnly; Max-Age=600; SameSite=Lax", "theme=dark; Secure; Domain=127.0.0.1"}
		h.Set("Content-Type", a[0])
		_, _ = w.Write([]byte(a[1]))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// A header that is to be in the answer is one of those that have its name.
func TestImportedHeaders(t *testing.T) {
	t.Chdir(t.TempDir())
	base := hurlServer(t)
	k := newContract(nil)
	k.targets.HTTP = httpsys.OpenClient
	for header, want := range map[string]string{"X-Two: a": "pass", "x-two: b": "pass", "X-Two: c": "fail", "X-One: 1": "pass", "X-Num: 42": "pass", "X-Num: 4": "fail", "X-None: a": "fail"} {
		m := &imported{file: "a.hurl"}
		fromHurl(m, "GET "+base+"/text\nHTTP 200\n"+header+"\n")
		if got, _ := play(t, k, m.String(), nil); len(got) != 1 || !strings.HasPrefix(got[0], "HURL-001 "+want) {
			t.Errorf("%s: %s, want %s", header, got, want)
		}
	}
}

func FuzzImportHurl(f *testing.F) {
	f.Add("GET http://x/{{a}}\nA: b\n[Query]\na: b\nHTTP 200\n[Asserts]\njsonpath \"$.a\" not == 3\nheader \"x\"\n{\"a\": {{b}}}\n")
	f.Add("POST x\n```\ny\n```\nHTTP *\n[Captures]\na: regex /x/ redact\nb: jsonpath\n[Options]\nretry: 3\nretry-interval: x\nfile,a;\n<a>\n")
	f.Fuzz(func(t *testing.T, text string) {
		m := &imported{file: "a.hurl"}
		fromHurl(m, text)
		for i, b := range blocks([]byte(m.String()), func() {}) {
			if !b.closed {
				t.Errorf("block %d is never closed", i)
			}
		}
	})
}

// Entries run one after the other, as Hurl runs them, and nothing behind one that
// fails.
func TestImportedHurlRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	for status, want := range map[string]string{
		"200": "POST /login|POST /orders|GET /nothing",
		"404": "POST /login",
	} {
		base, seen := shop(t)
		m := &imported{file: "a.hurl"}
		fromHurl(m, "POST {{base}}/login\nHTTP "+status+"\nX-Trace: trace/7\n[Captures]\ntoken: jsonpath \"$.access\"\n[Asserts]\ncookie \"sid\" == \"s1\"\njsonpath \"$.user.id\" == 12\n"+
			"POST {{base}}/orders\nAuthorization: Bearer {{token}}\n{\"user\": 12}\nHTTP 200\n[Asserts]\njsonpath \"$.order\" startsWith \"A-\"\njsonpath \"$.gone\" not exists\nbytes count != 0\n"+
			"GET {{base}}/nothing\nHTTP 401\n")
		c := soleCampaign(t, m.String(), map[string][]string{optVar: {"base=" + base}})
		list := c.results(t)
		if len(list) != 1 || (list[0].Status == "pass") != (status == "200") {
			t.Errorf("%s: %+v", status, list)
		}
		if got := strings.Join(*seen, "|"); got != want {
			t.Errorf("%s: the server has seen %s, want %s", status, got, want)
		}
	}
}
