package spectest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/contracttest"
)

const suiteDocument = `# Suite

` + "```yaml spec-test" + `
- id: HOLDS
  type: text.file
  assert: [{target: text, must: [{contain: ["Suite"]}]}]
- id: FAILS
  type: text.file
  assert: [{target: text, must: [{regex: ["Su[a-h]te"]}]}]
- id: BROKEN
  type: text.file
  assert: [{target: text, must: {contain: ["x"]}}]
- id: RUNS
  type: cli.run
  harness: {entrypoint: "echo a"}
  argv: ["b"]
  assert: [{target: stdout, must: [{contain: ["a b"]}]}]
- id: MISSES
  type: cli.run
  harness: {entrypoint: "echo a"}
  assert: [{target: stdout, can: [{contain: ["c"]}, {json_type: ["list"]}]}]
- id: ENDS
  type: cli.run
  harness: {entrypoint: "sh -c 'exit 3'"}
- id: SKIPPED
  type: text.file
  requires: {capabilities: ["no.such"], when_missing: skip}
` + "```" + `
`

func TestContract(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "suite.spec.md")
	write(t, path, []byte(suiteDocument))
	contracttest.Run(t, contracttest.Fixture{
		Contract:   newContract(nil).Contract,
		Spec:       campaign.Spec{Path: path, Data: []byte(suiteDocument)},
		Findings:   4,
		UnknownKey: campaign.Spec{Path: path, Data: []byte(strings.Replace(suiteDocument, "  assert:", "  asert:", 1))},
	})
}

// discoveryCase is a folder as the Python runner's conformance script saw it.
type discoveryCase struct {
	Label   string            `json:"label"`
	Files   map[string]string `json:"files"`
	Args    []string          `json:"args"`
	Single  string            `json:"single"`
	Exit    int               `json:"exit_code"`
	Results []struct {
		ID, Status string
		Category   *string
	} `json:"report_results"`
}

// Folders that are judged otherwise on purpose, with what they come to.
var discoveryDeviations = map[string]struct{ results, why string }{
	"unclosed":                  {"a.spec.md:1 fail schema", "a block that is never closed is told, not dropped"},
	"warn leak to next cli":     {"T pass, C fail assertion", "no case sees what another has printed"},
	"stdout leak after failure": {"T1 fail runtime, T2 fail assertion", "no case sees what another has printed; an exception of the program is not a fault of the case"},
}

func TestDiscovery(t *testing.T) {
	data, err := os.ReadFile("testdata/discovery.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Cases []discoveryCase }
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	sut, err := os.ReadFile("testdata/sut.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all.Cases {
		t.Run(d.Label, func(t *testing.T) {
			if strings.Contains(d.Label, "leak") {
				needPython(t)
			}
			root := t.TempDir()
			t.Chdir(root)
			write(t, "sut.py", sut)
			var paths []string
			for name, text := range d.Files {
				write(t, filepath.Join("cases", name), []byte(text))
				paths = append(paths, filepath.Join("cases", name))
			}
			disc := Discovery{Pattern: DefaultPattern, Formats: []string{"md"}}
			for i := 0; i+1 < len(d.Args); i += 2 {
				switch d.Args[i] {
				case "--case-formats":
					if disc.Formats, err = Formats(d.Args[i+1]); err != nil {
						if d.Exit == 0 {
							t.Fatal(err)
						}
						return
					}
				case "--case-file-pattern":
					disc.Pattern = d.Args[i+1]
				}
			}
			if disc.Pattern == "" {
				return // the command line refuses it
			}
			paths = disc.Order("cases", paths)
			if d.Single != "" {
				paths = []string{filepath.Join("cases", d.Single)}
			}
			var got []string
			for _, p := range paths {
				got = append(got, runDocument(t, p)...)
			}
			want := make([]string, 0, len(d.Results))
			for _, r := range d.Results {
				want = append(want, strings.TrimSpace(r.ID+" "+r.Status+" "+str(r.Category)))
			}
			if dev, ok := discoveryDeviations[d.Label]; ok {
				want = strings.Split(dev.results, ", ")
			} else if d.Results == nil && d.Exit == 1 { // the reference gives up; here the block fails
				if len(got) != 1 || !strings.HasSuffix(got[0], " fail schema") {
					t.Errorf("got %q, want one schema failure", got)
				}
				return
			}
			for i := range got { // messages name the place of a case without id
				got[i] = strings.TrimPrefix(got[i], "cases/")
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// runDocument runs a document and gives "id status category" of every case.
func runDocument(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	camps, list := newContract(nil).Compile(t.Context(), campaign.Spec{Path: path, Data: data}, campaign.Settings{Options: map[string][]string{}})
	if list.HasErrors() {
		t.Fatal(list)
	}
	var out []string
	for _, x := range camps {
		c, ok := campaign.As[*Campaign](x)
		if !ok {
			t.Fatal("not a campaign of this contract")
		}
		for _, r := range c.results(t) {
			out = append(out, r.ID+" "+r.verdict())
		}
	}
	return out
}

func TestAssertHealth(t *testing.T) {
	data, err := os.ReadFile("testdata/assert_health.json")
	if err != nil {
		t.Fatal(err)
	}
	type finding struct{ Code, Message, Path string }
	var all struct {
		Trees []struct {
			Assert      json.RawMessage
			Diagnostics []finding
			ErrorText   *string `json:"error_text"`
		}
		Patterns []struct {
			Pattern     string
			Diagnostics []finding
		}
	}
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	tree := func(text []byte) []finding {
		n, _, fault := newDocument("a.json", text).tree(0, len(text))
		if fault != nil {
			t.Fatal(fault)
		}
		var list []finding
		for _, s := range diagnose(n) {
			list = append(list, finding{s.code, s.message, s.path})
		}
		return list
	}
	for _, x := range all.Trees {
		if got := tree(x.Assert); !slices.Equal(got, x.Diagnostics) {
			t.Errorf("%s: %q, want %q", x.Assert, got, x.Diagnostics)
		}
	}
	for _, x := range all.Patterns {
		text, err := json.Marshal([]any{map[string]any{"target": "text", "must": []any{map[string]any{"regex": []string{x.Pattern}}}}})
		if err != nil {
			t.Fatal(err)
		}
		got := tree(text)
		same := len(got) == len(x.Diagnostics)
		for i := range got {
			same = same && got[i].Code == x.Diagnostics[i].Code && got[i].Message == x.Diagnostics[i].Message
		}
		if !same {
			t.Errorf("%q: %q, want %q", x.Pattern, got, x.Diagnostics)
		}
	}
}

// The official cases are other people's text; a folder with them is named by
// the environment.
func TestOfficialCases(t *testing.T) {
	dir := os.Getenv("THRESH_SPECTEST_CASES")
	if dir == "" {
		t.Skip("THRESH_SPECTEST_CASES names no folder with the official cases")
	}
	needPython(t)
	root := t.TempDir()
	write(t, filepath.Join(root, "spec_runner", "conformance_fixtures.py"), []byte(`def main(argv):
    print('{"ok": true, "source": "x"}' if "--json" in argv else "usage: x")
    return 0
`))
	list, err := filepath.Glob(filepath.Join(dir, "*.spec.md"))
	if err != nil || len(list) == 0 {
		t.Fatalf("no documents in %s: %v", dir, err)
	}
	for i := range list {
		if list[i], err = filepath.Abs(list[i]); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(root)
	cases := 0
	for _, p := range list {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		camps, diags := newContract(nil).Compile(t.Context(), campaign.Spec{Path: p, Data: data}, campaign.Settings{Options: map[string][]string{OptExpect: {"true"}}})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		for _, x := range camps {
			c, _ := campaign.As[*Campaign](x)
			for _, r := range c.results(t) {
				if cases++; !r.Expected {
					t.Errorf("%s: %s", r.ID, r.Why)
				}
			}
		}
	}
	if cases != 33 {
		t.Errorf("%d cases, want 33", cases)
	}
}

func needPython(t *testing.T) {
	t.Helper()
	if _, err := lookPython(); err != nil {
		t.Skipf("needs python3: %v", err)
	}
}

// Cases may share parts by aliases and merge keys as often as they like: what
// they stand for is counted once a case, not multiplied.
func TestSharedParts(t *testing.T) {
	const n = 3000
	var b strings.Builder
	b.WriteString("```yaml spec-test\n- &base\n  id: A-0\n  type: text.file\n  assert:\n    - &group\n      target: text\n      must:\n" +
		strings.Repeat("        - contain: [\"id: A-0\", \"text.file\", \"assert\"]\n", 10))
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "- {<<: *base, id: A-%d, assert: [*group]}\n", i)
	}
	b.WriteString("```\n")
	camps, list := newContract(nil).Compile(t.Context(), campaign.Spec{Path: "a.spec.md", Data: []byte(b.String())}, campaign.Settings{Options: map[string][]string{}})
	if len(list) > 0 || len(camps) != 1 {
		t.Fatal(list)
	}
	c, _ := campaign.As[*Campaign](camps[0])
	for i := range int64(n) {
		if cs := c.Case(i); cs.fault != nil || cs.ID != fmt.Sprintf("A-%d", i) || len(cs.tree.children) != 1 {
			t.Fatalf("case %d: %+v", i, cs)
		}
	}
}

// A document that gives its memory back as it goes is the same document, with
// line ends of any kind.
func TestRelease(t *testing.T) {
	for _, end := range []string{"\n", "\r\n", "\r"} {
		var b strings.Builder
		for i := range 4000 {
			fmt.Fprintf(&b, "## C-%[1]d\n\n%[2]s\n\n```yaml spec-test\nid: C-%[1]d\ntype: text.file\nassert: [{target: text, must: [{contain: [C-%[1]d]}]}]\n```\n\n", i, strings.Repeat("text ", 50))
		}
		data := []byte(strings.ReplaceAll(b.String(), "\n", end))
		released := 0
		compile := func(release func()) *Campaign {
			camps, list := newContract(nil).Compile(t.Context(), campaign.Spec{Path: "a.spec.md", Data: data, Release: release}, campaign.Settings{Options: map[string][]string{}})
			if list.HasErrors() || len(camps) != 1 {
				t.Fatal(list)
			}
			c, _ := campaign.As[*Campaign](camps[0])
			return c
		}
		plain, lean := compile(nil), compile(func() { released++ })
		if plain.id != lean.id || lean.Planned() != 4000 || released < 5 {
			t.Errorf("%q: %d cases, released %d times, %v and %v", end, lean.Planned(), released, plain.id, lean.id)
		}
		for _, i := range []int64{0, 1, 1000, 3999} {
			if a, b := plain.Case(i), lean.Case(i); a.ID != b.ID || a.From != b.From || a.From != int(i)*10+5 {
				t.Errorf("%q: case %d: %s in line %d, and %s in line %d", end, i, a.ID, a.From, b.ID, b.From)
			}
		}
	}
}

// A pattern means what it means to a shell and to Python.
func TestPatternOfOthers(t *testing.T) {
	d := Discovery{Pattern: "[!r]*.spec.md", Formats: []string{"md"}}
	if got := d.Order("x", []string{"x/a.spec.md", "x/r.spec.md", "x/!.spec.md"}); !slices.Equal(got, []string{"x/!.spec.md", "x/a.spec.md"}) {
		t.Errorf("%q", got)
	}
}
