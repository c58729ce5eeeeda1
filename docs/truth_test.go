package docs_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/internal/golden"
)

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// Every relative link leads to a file, and to a heading of it where it says so.
func TestLinks(t *testing.T) {
	list := pages(t)
	if len(list) < 10 {
		t.Errorf("only %d pages found", len(list))
	}
	for _, p := range list {
		text := fence.ReplaceAllString(p.text, "")
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			to, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
				continue
			}
			file := p.path
			if to != "" {
				file = path.Join(path.Dir(p.path), to)
			}
			data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
			if info, serr := os.Stat(filepath.Join(root, filepath.FromSlash(file))); serr == nil && info.IsDir() && anchor == "" {
				continue
			}
			if err != nil {
				t.Errorf("%s: link %s: %v", p.path, m[1], err)
				continue
			}
			if anchor != "" && !slices.Contains(headings(string(data)), anchor) {
				t.Errorf("%s: link %s: %s has no such heading (%v)", p.path, m[1], file, headings(string(data)))
			}
		}
	}
}

var heading = regexp.MustCompile(`(?m)^#+ (.+)$`)

// headings is the anchors of a page, as code hosts make them.
func headings(text string) []string {
	var list []string
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		var b strings.Builder
		for _, r := range strings.ToLower(m[1]) {
			switch {
			case r == ' ':
				b.WriteByte('-')
			case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_':
				b.WriteRune(r)
			}
		}
		list = append(list, b.String())
	}
	return list
}

// verb is one command of the program with the flags that its help names.
type verb struct {
	words []string
	help  string
	flags []string
}

var (
	helpGroup = regexp.MustCompile(`(?m)^[A-Z][^\n]*:\n((?:  [a-z][\w+-]* .*\n)+)`)
	helpVerb  = regexp.MustCompile(`(?m)^  ([a-z][\w+-]*) `)
	helpFlag  = regexp.MustCompile(`(?m)^ +(?:-\w, +)?--([\w-]+)`)
	flagName  = regexp.MustCompile("(?:^|[\\s`(\"'|\\[])--([a-z][a-z-]*)")
)

// everyVerb is what verbs found, once it has walked the help: some hundred processes.
var everyVerb []verb

// verbs walks the program's help.
func verbs(t *testing.T) []verb {
	t.Helper()
	if everyVerb == nil {
		everyVerb = verbsBelow(t)
	}
	return everyVerb
}

func verbsBelow(t *testing.T, words ...string) []verb {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), thresh(t), append([]string{"help"}, words...)...).Output()
	if err != nil {
		t.Fatalf("thresh help %s: %v", strings.Join(words, " "), err)
	}
	v := verb{words: words, help: string(out)}
	for _, m := range helpFlag.FindAllStringSubmatch(v.help, -1) {
		v.flags = append(v.flags, m[1])
	}
	list := []verb{v}
	commands, _, _ := strings.Cut(v.help, "\nFlags:")
	if _, after, ok := strings.Cut(commands, "\nExamples:"); ok {
		_, commands, _ = strings.Cut(after, "\n\n")
		commands = "\n" + commands + "\n"
	}
	for _, group := range helpGroup.FindAllStringSubmatch(commands, -1) {
		for _, m := range helpVerb.FindAllStringSubmatch(group[1], -1) {
			if m[1] == "help" || m[1] == "completion" || m[1] == "thresh" {
				continue
			}
			list = append(list, verbsBelow(t, append(slices.Clone(words), m[1])...)...)
		}
	}
	return list
}

// firstCell is that of a table's row.
var firstCell = regexp.MustCompile(`(?m)^\| .*? \|`)

// Flags of other programs that the pages show.
var foreignFlags = []string{"update", "bind", "ignore-missing", "clean", "snapshot", "skip"}

// Every verb has its place in the pages, and every flag that they name exists.
func TestVerbsAndFlags(t *testing.T) {
	all := verbs(t)
	if len(all) < 15 {
		t.Fatalf("only %d verbs found in the help: %v", len(all), all)
	}
	flags := make(map[string]bool)
	var text strings.Builder
	for _, p := range pages(t) {
		text.WriteString(p.text)
	}
	for _, v := range all {
		for _, f := range v.flags {
			flags[f] = true
		}
		name := strings.Join(append([]string{"thresh"}, v.words...), " ")
		if !regexp.MustCompile(regexp.QuoteMeta(name) + `([^\w+-]|$)`).MatchString(text.String()) {
			t.Errorf("no page speaks of %q", name)
		}
	}
	for _, p := range pages(t) {
		if p.path == "bench/README.md" {
			continue // its flags are those of bench/run
		}
		text := p.text
		if strings.HasPrefix(p.path, "docs/coming-from-") {
			text = firstCell.ReplaceAllString(text, "") // the other tool's words
		}
		for _, m := range flagName.FindAllStringSubmatch(text, -1) {
			if !flags[m[1]] && !slices.Contains(foreignFlags, m[1]) {
				hint := diag.DidYouMean(m[1], slices.Sorted(maps.Keys(flags)))
				t.Errorf("%s: no command has a flag --%s %s", p.path, m[1], hint)
			}
		}
	}
	for _, v := range all { // the examples in help texts must be commands as well
		for _, m := range regexp.MustCompile(`(?m)^  thresh ((?:fuzzspec )?[a-z][\w+-]*)`).FindAllStringSubmatch(v.help, -1) {
			if !slices.ContainsFunc(all, func(o verb) bool { return strings.Join(o.words, " ") == m[1] }) {
				t.Errorf("the help of thresh %s speaks of %q, which is not a command", strings.Join(v.words, " "), m[0])
			}
		}
	}
}

// Every flag of every verb is spoken of somewhere in the pages.
func TestFlagsAreExplained(t *testing.T) {
	var text strings.Builder
	for _, p := range pages(t) {
		text.WriteString(p.text)
	}
	for _, v := range verbs(t) {
		for _, f := range v.flags {
			if f != "help" && f != "version" && !regexp.MustCompile(`--`+f+`([^\w-]|$)`).MatchString(text.String()) {
				t.Errorf("thresh %s: no page explains --%s", strings.Join(v.words, " "), f)
			}
		}
	}
}

var testName = regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w*)`")

// A test that a page points to exists.
func TestNamedTestsExist(t *testing.T) {
	known := make(map[string]bool)
	decl := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err := filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, "_test.go") {
			return err
		}
		text, err := os.ReadFile(p)
		for _, m := range decl.FindAllSubmatch(text, -1) {
			known[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages(t) {
		for _, m := range testName.FindAllStringSubmatch(p.text, -1) {
			if !known[m[1]] {
				t.Errorf("%s: there is no test %s %s", p.path, m[1], diag.DidYouMean(m[1], slices.Sorted(maps.Keys(known))))
			}
		}
	}
}

// Every package that a page names exists.
func TestNamedPackagesExist(t *testing.T) {
	name := regexp.MustCompile("`((?:campaign|contract|engine|target|run|store|report|diag|internal|cmd|examples|bench)(?:/[a-z0-9]+)+)`")
	for _, p := range pages(t) {
		for _, m := range name.FindAllStringSubmatch(p.text, -1) {
			if info, err := os.Stat(filepath.Join(root, filepath.FromSlash(m[1]))); err != nil || !info.IsDir() && p.path != "bench/README.md" {
				t.Errorf("%s: there is no package %s", p.path, m[1])
			}
		}
	}
}

// The table of rules in fuzzspec.md is made from the rules and from the inputs
// that the contract's own tests refuse.
func TestRuleTable(t *testing.T) {
	var inputs []struct{ Want []string }
	text, err := os.ReadFile(filepath.Join(root, "contract", "fuzzspec", "testdata", "errors.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &inputs); err != nil {
		t.Fatal(err)
	}
	var rules []struct{ Code, Level, Stricter string }
	if text, err = os.ReadFile(filepath.Join(root, "contract", "fuzzspec", "testdata", "rules.json")); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &rules); err != nil {
		t.Fatal(err)
	}
	example := make(map[string]string)
	said := regexp.MustCompile(`: (?:error|warning): (.*) \[([a-z.-]+)\]$`)
	for _, in := range inputs {
		for _, line := range in.Want {
			if m := said.FindStringSubmatch(line); m != nil && example[m[2]] == "" {
				example[m[2]] = m[1]
			}
		}
	}
	var b strings.Builder
	b.WriteString("| code | level | for example | refused by `thresh check` alone, because |\n|---|---|---|---|\n")
	for _, r := range rules {
		if example[r.Code] == "" {
			t.Errorf("no refused input shows %s", r.Code)
		}
		shown := "`` " + strings.ReplaceAll(example[r.Code], "|", "\\|") + " ``"
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.Code, r.Level, shown, r.Stricter)
	}
	generated(t, "docs/fuzzspec.md", "rules", b.String())
}

// generated compares what stands between two comments of a page with text, or
// puts it there.
func generated(t *testing.T, path, name, text string) {
	t.Helper()
	p := pageNamed(t, path)
	begin, end := "<!-- "+name+": made by go test ./docs -update -->\n", "<!-- end of "+name+" -->"
	before, rest, ok := strings.Cut(p.text, begin)
	now, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for %s: %q and %q", path, name, begin, end)
	}
	if now == text {
		return
	}
	if !golden.Update() {
		t.Fatalf("%s: %s is out of date; go test ./docs -update mends it", path, name)
	}
	if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(path)), []byte(before+begin+text+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
