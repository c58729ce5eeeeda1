package spectest

import (
	"os"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
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
		if got != parts[i+1] && !*update {
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
	if *update {
		if err := os.WriteFile(name, []byte(strings.Join(parts, "===\n")), 0o644); err != nil {
			t.Fatal(err)
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
