package fresnelfir_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/contracttest"
	"github.com/thresh-dev/thresh/contract/fresnelfir"
	"github.com/thresh-dev/thresh/system/wasm"
)

func read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// faulty is the example with faults of its own: a withdrawn article is not
// locked, readers may publish, and a postcondition that does not hold.
func faulty(t testing.TB) string {
	t.Helper()
	text := read(t, "../../examples/fresnelfir/article.json")
	for _, e := range [][2]string{
		{`, { "target": ["article", "locked"], "value": true }`, ``},
		{`["and", ["is", "actor", "Editor"], ["eq", ["field", "article", "state"], "review"]]`, `["eq", ["field", "article", "state"], "review"]`},
		{`"postcondition": ["eq", ["field", "article", "state"], "live"]`, `"postcondition": ["eq", ["field", "article", "state"], "draft"]`},
	} {
		if !strings.Contains(text, e[0]) {
			t.Fatalf("the example does not hold %s", e[0])
		}
		text = strings.Replace(text, e[0], e[1], 1)
	}
	return text
}

func TestContract(t *testing.T) {
	text := faulty(t)
	contracttest.Run(t, contracttest.Fixture{
		Contract:   fresnelfir.New(nil),
		Spec:       campaign.Spec{Path: "article.json", Data: []byte(text)},
		Findings:   3,
		UnknownKey: campaign.Spec{Path: "article.json", Data: []byte(strings.Replace(text, `"epoch_size"`, `"epochsize"`, 1))},
	})
}

func TestContractWithModule(t *testing.T) {
	dir := t.TempDir()
	text := read(t, "../../examples/fresnelfir/article.json")
	path := filepath.Join(dir, "article.json")
	if err := os.WriteFile(filepath.Join(dir, "article.wasm"), []byte(read(t, "../../examples/fresnelfir/faulty/article/withdrawing-never-ends.wasm")), 0o644); err != nil {
		t.Fatal(err)
	}
	engine, err := wasm.NewEngine("")
	if err != nil {
		t.Fatal(err)
	}
	contracttest.Run(t, contracttest.Fixture{
		Contract:   fresnelfir.New(engine.Open),
		Spec:       campaign.Spec{Path: path, Data: []byte(text)},
		Findings:   1,
		UnknownKey: campaign.Spec{Path: path, Data: []byte(strings.Replace(text, `"epoch_size"`, `"epochsize"`, 1))},
		Options:    map[string][]string{"budget": {"300"}},
	})
}

func TestModuleOption(t *testing.T) {
	text := read(t, "../../examples/fresnelfir/article.json")
	for _, c := range []struct {
		name, entry, option string
		want                string // the code of what is wrong; "" for nothing
	}{
		{"none there", "missing.wasm", "", ""},
		{"none wanted", "missing.wasm", "none", ""},
		{"one that is asked for and is not there", "article.wasm", "elsewhere.wasm", "fresnelfir.module-unread"},
		{"outside of the folder", "../article.wasm", "", "fresnelfir.entry"},
		{"anywhere on the disk", "/etc/passwd", "", "fresnelfir.entry"},
	} {
		set := campaign.Settings{Read: os.ReadFile, Options: map[string][]string{}}
		if c.option != "" {
			set.Options["module"] = []string{c.option}
		}
		engine, err := wasm.NewEngine("")
		if err != nil {
			t.Fatal(err)
		}
		_, diags := fresnelfir.New(engine.Open).Compile(t.Context(), campaign.Spec{Path: filepath.Join(t.TempDir(), "m.json"), Data: []byte(strings.Replace(text, `"entry": "article.wasm"`, `"entry": "`+c.entry+`"`, 1))}, set)
		got := ""
		if len(diags) > 0 {
			got = diags[0].Code
		}
		if got != c.want {
			t.Errorf("%s: %v, want %q", c.name, diags, c.want)
		}
	}
}
