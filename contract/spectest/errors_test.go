package spectest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/internal/golden"
)

// testdata/errors.md holds documents that are refused or doubtful, one a
// section, each with all that a check says of it:
//
//	### what is wrong
//	the document, in a fence of five tildes
//	what is said, in a fence of five backticks
//
// Lines of the document are counted from its own first.
var errorSection = regexp.MustCompile("(?ms)^### ([^\n]*)\n\n~~~~~([a-z.]*)\n(.*?)^~~~~~\n\n`````\n(.*?)^`````\n")

func TestErrors(t *testing.T) {
	const name = "testdata/errors.md"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	told := ""
	seen := 0
	out := errorSection.ReplaceAllStringFunc(string(text), func(section string) string {
		m := errorSection.FindStringSubmatch(section)
		seen++
		file := "doc.spec.md"
		if m[2] != "" {
			file = "doc.spec." + m[2]
		}
		k := newContract(nil)
		camps, list := k.Compile(t.Context(), campaign.Spec{Path: file, Data: []byte(m[3])}, campaign.Settings{Check: true, Options: map[string][]string{}})
		if list.HasErrors() && camps != nil {
			t.Errorf("%s: campaigns come along with errors", m[1])
		}
		var b strings.Builder
		for _, d := range list {
			b.WriteString(d.String() + " [" + d.Code + "]\n")
			if d.Pos.Line < 1 || d.Pos.Col < 1 || d.Message == "" {
				t.Errorf("%s: no place or message: %+v", m[1], d)
			}
		}
		told += b.String()
		if b.Len() == 0 {
			t.Errorf("%s: nothing is said", m[1])
		}
		if !golden.Update() && b.String() != m[4] {
			t.Errorf("%s:\n%swant\n%s", m[1], b.String(), m[4])
		}
		return "### " + m[1] + "\n\n~~~~~" + m[2] + "\n" + m[3] + "~~~~~\n\n`````\n" + b.String() + "`````\n"
	})
	if golden.Update() {
		if err := os.WriteFile(name, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := strings.Count(string(text), "\n### "); seen != want {
		t.Errorf("%d sections of %d are understood", seen, want)
	}
	elsewhere := []string{
		"safe-mode",               // depends on a setting; TestSafeMode
		"not-proposed",            // of accept; TestAccept
		"more",                    // of a thousand others; TestManyFaultsAreBounded
		"cannot", "method", "url", // words beside codes
	}
	for _, code := range codes(t) {
		if slices.Contains(elsewhere, code) {
			continue
		}
		if !strings.Contains(told, "[spectest."+code+"]") {
			t.Errorf("no section of %s gives rise to %s", name, code)
		}
	}
}

var codeUse = regexp.MustCompile(`(?s)\b(?:schema|warn|fail|problem|tell|trivial)\([^"]*?"([a-z][a-z-]+|AH00\d)"`)

// codes are the codes that the package's source uses.
func codes(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]bool)
	var list []string
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range codeUse.FindAllStringSubmatch(string(text), -1) {
			if !found[m[1]] {
				found[m[1]] = true
				list = append(list, m[1])
			}
		}
	}
	if len(list) < 25 {
		t.Fatalf("only %d codes found: %q", len(list), list)
	}
	return list
}

// A run goes on where a check refuses: the case fails, the others are run.
func TestFaultsAreFailuresOfTheirCase(t *testing.T) {
	doc := "```yaml spec-test\nid: BAD\ntype: text.file\nharness: [x]\n```\n```yaml spec-test\nid: [\n```\n```yaml spec-test\nid: GOOD\ntype: text.file\n```\n"
	path := filepath.Join(t.TempDir(), "a.spec.md")
	write(t, path, []byte(doc))
	got := strings.Join(runDocument(t, path), "|")
	if !strings.HasPrefix(got, "BAD fail schema|") || !strings.HasSuffix(got, "|GOOD pass") || strings.Count(got, "fail schema") != 2 {
		t.Error(got)
	}
}
