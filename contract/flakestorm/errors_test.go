package flakestorm_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm"
	"github.com/thresh-dev/thresh/internal/golden"
)

// testdata/errors.md holds documents that are refused or doubtful, one a
// section, each with all that a check says of it:
//
//	### what is wrong
//	the document, in a fence of five tildes
//	what is said, in a fence of five backticks
var errorSection = regexp.MustCompile("(?ms)^### ([^\n]*)\n\n~~~~~yaml\n(.*?)^~~~~~\n\n`````\n(.*?)^`````\n")

func TestErrors(t *testing.T) {
	const name = "testdata/errors.md"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	told := ""
	seen := 0
	nothing := func(path string) ([]byte, error) { // but the datasets
		if text, err := os.ReadFile(filepath.Join("testdata/datasets", filepath.Base(path))); err == nil {
			return text, nil
		}
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	}
	out := errorSection.ReplaceAllStringFunc(string(text), func(section string) string {
		m := errorSection.FindStringSubmatch(section)
		seen++
		camps, list := flakestorm.New(flakestorm.Targets{}).Compile(t.Context(), campaign.Spec{Path: "doc.yaml", Data: []byte(m[2])}, campaign.Settings{
			Check: true, Read: nothing, List: func(string) ([]string, error) { return nil, fs.ErrNotExist },
		})
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
		if !golden.Update() && b.String() != m[3] {
			t.Errorf("%s:\n%swant\n%s", m[1], b.String(), m[3])
		}
		return "### " + m[1] + "\n\n~~~~~yaml\n" + m[2] + "~~~~~\n\n`````\n" + b.String() + "`````\n"
	})
	if golden.Update() {
		if err := os.WriteFile(name, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if want := strings.Count(string(text), "\n### "); seen != want {
		t.Errorf("%d sections of %d are understood", seen, want)
	}
	elsewhere := []string{"option", "method", "negate", "per", "file"} // TestOptions; words beside codes
	for _, code := range codes(t) {
		if !strings.Contains(told, "[flakestorm."+code+"]") && !slices.Contains(elsewhere, code) {
			t.Errorf("no section of %s gives rise to %s", name, code)
		}
	}
}

var codeUse = regexp.MustCompile(`(?:(?:fail|warn|doubt)\([^"\n]*?|report\(diag\.[A-Z][a-z]+, [^"\n]*?|unknown\([^"\n]*?|Code(?:, [a-z.A-Z]+)? ?[:=]+ ?"flakestorm\.|Code: "flakestorm\.)"?([a-z]+(?:-[a-z]+)*)"`)

// codes are the codes that the sources use.
func codes(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, pattern := range []string{"*.go", "config/*.go", "record/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range codeUse.FindAllStringSubmatch(string(text), -1) {
				if !slices.Contains(list, m[1]) {
					list = append(list, m[1])
				}
			}
		}
	}
	if len(list) < 30 {
		t.Fatalf("only %d codes found: %q", len(list), list)
	}
	return list
}

func TestOptions(t *testing.T) {
	for _, tc := range []struct {
		name, value, want string
	}{
		{flakestorm.OptPhase, "mutations", `--phase must be one of mutation, chaos, contract, replay, got "mutations"`},
		{flakestorm.OptProfile, "api_outge", `no profile is called "api_outge"`},
		{flakestorm.OptProfile, "high_latency", "--chaos and --chaos-profile act in the phases mutation and chaos, and neither is run"},
		{flakestorm.OptRuns, "none", `--runs-per-cell must be a number from 1 to 1000, got "none"`},
		{flakestorm.OptPhase, "contract", "there is no contract to check"},
		{flakestorm.OptPhase, "replay", "there is no session to replay"},
		{flakestorm.OptOnly, "true", "--replay-only needs --replay"},
		{flakestorm.OptInstall, "errors_test.go", "--requirements is for an agent that Thresh starts"},
	} {
		text := "agent: {endpoint: \"http://localhost:1/\"}\ngolden_prompts: [hi]\ninvariants: [{type: completes}]\n"
		if tc.name == flakestorm.OptRuns {
			text += "contract: {name: c, invariants: [{id: a, type: completes}], chaos_matrix: [{name: x}]}\n"
		}
		options := map[string][]string{tc.name: {tc.value}}
		if tc.value == "high_latency" {
			options[flakestorm.OptPhase] = []string{flakestorm.PhaseContract}
		}
		_, list := flakestorm.New(flakestorm.Targets{}).Compile(t.Context(), campaign.Spec{Path: "doc.yaml", Data: []byte(text)}, campaign.Settings{Options: options, Read: os.ReadFile})
		if !list.HasErrors() || !strings.Contains(list.Error(), tc.want) {
			t.Errorf("--%s %s: %v, want %s", tc.name, tc.value, list, tc.want)
		}
	}
}
