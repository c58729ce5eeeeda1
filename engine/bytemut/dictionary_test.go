package bytemut_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/bytemut"
	"github.com/thresh-dev/thresh/internal/golden"
)

func TestDictionary(t *testing.T) {
	entries, list := bytemut.ParseDictionary("ok.dict", []byte(strings.Join([]string{
		"# a comment", "", `"GET "`, `  end = "\x0D\x0a" # trailing`, `magic@2="\x7fELF\\\""`, "\"tab\there\"\r", "plain=\"é\"",
	}, "\n")))
	if len(list) > 0 {
		t.Fatal(list)
	}
	want := `[{Name: Level:0 Value:GET } {Name:end Level:0 Value:` + "\r\n" + `} {Name:magic Level:2 Value:` + "\x7f" + `ELF\"} {Name: Level:0 Value:tab` + "\t" + `here} {Name:plain Level:0 Value:é}]`
	var parts []string
	for _, e := range entries {
		parts = append(parts, fmt.Sprintf("{Name:%s Level:%d Value:%s}", e.Name, e.Level, e.Value))
	}
	if got := "[" + strings.Join(parts, " ") + "]"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := len(bytemut.Tokens(entries, 1)); got != 4 {
		t.Errorf("%d tokens up to level 1, want 4", got)
	}
}

// TestDictionaryErrors shows every refusal as a user sees it.
func TestDictionaryErrors(t *testing.T) {
	data, err := os.ReadFile("testdata/errors.dict")
	if err != nil {
		t.Fatal(err)
	}
	entries, list := bytemut.ParseDictionary("errors.dict", data)
	if len(entries) != 1 {
		t.Errorf("%d entries were kept, want the 1 that is right", len(entries))
	}
	golden.Check(t, "testdata/errors.dict.golden", list.Render(diag.Style{}))
}

func FuzzDictionary(f *testing.F) {
	f.Add([]byte(`a@1="\x00"`))
	f.Add([]byte("\"\\"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, list := bytemut.ParseDictionary("x", data)
		for _, e := range entries {
			if len(e.Value) == 0 {
				t.Errorf("entry %q is empty", e.Name)
			}
		}
		for _, d := range list {
			if d.Pos.Col < 1 || d.Pos.Col > len(d.Source)+1 {
				t.Errorf("column %d is outside %q", d.Pos.Col, d.Source)
			}
		}
	})
}
