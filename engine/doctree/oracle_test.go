package doctree_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/internal/testproc"
)

var rounds = flag.Int("oracle", testproc.Times(3000, 1000), "generated texts to compare with PyYAML")

// ask returns PyYAML's answers in the form of show.
func ask(t *testing.T, texts []string) []any {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not here to be asked")
	}
	if exec.Command(python, "-c", "import yaml").Run() != nil {
		t.Skip("python3 has no PyYAML")
	}
	var in bytes.Buffer
	e := json.NewEncoder(&in)
	for _, s := range texts {
		if err := e.Encode(s); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(python, "testdata/oracle.py")
	cmd.Stdin = &in
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("python3: %v: %s", err, complaint.String())
	}
	var answers []any
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var v any
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, v)
	}
	if len(answers) != len(texts) {
		t.Fatalf("%d answers to %d texts", len(answers), len(texts))
	}
	return answers
}

// show is a tree as testdata/oracle.py writes it.
func show(n *doctree.Node) any {
	members := func() []any {
		list := []any{}
		for i := range n.Members() {
			list = append(list, []any{show(&n.Members()[i].Key), show(&n.Members()[i].Value)})
		}
		return list
	}
	switch n.Kind {
	case doctree.Null:
		return []any{"null"}
	case doctree.Bool:
		return []any{"bool", n.Text}
	case doctree.Int:
		return []any{"int", n.Text}
	case doctree.Float:
		return []any{"float", n.Text}
	case doctree.Binary:
		return []any{"binary", hex.EncodeToString([]byte(n.Text))}
	case doctree.Date:
		return []any{"date", n.Text}
	case doctree.Time:
		return []any{"time", n.Text}
	case doctree.Seq:
		list := []any{}
		for i := range n.Items() {
			list = append(list, show(&n.Items()[i]))
		}
		return []any{"seq", list}
	case doctree.Map:
		return []any{"map", members()}
	case doctree.Set:
		list := []string{}
		for i := range n.Members() {
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			if err := e.Encode(show(&n.Members()[i].Key)); err != nil {
				panic(err)
			}
			list = append(list, strings.ReplaceAll(strings.TrimSpace(b.String()), `","`, `", "`))
		}
		slices.Sort(list)
		out := []any{}
		for _, s := range list {
			out = append(out, s)
		}
		return []any{"set", out}
	case doctree.Pairs:
		if len(n.Members()) == 0 {
			return []any{"seq", []any{}}
		}
		return []any{"pairs", members()}
	}
	return []any{"str", n.Text}
}

type pick struct{ *rand.Rand }

func (r pick) of(list ...string) string { return list[r.IntN(len(list))] }

// scalar draws what might be taken for something else than a string.
func (r pick) scalar() string {
	if r.IntN(3) == 0 {
		var b strings.Builder
		for range 1 + r.IntN(6) {
			b.WriteString(r.of("0", "1", "7", "8", "9", "12", "_", ".", "-", "+", "e", "E", ":", ":3", "x", "b", "o", "0x", "0b", "inf", "nan", "e+5", "E-2", ":59", ":60"))
		}
		return b.String()
	}
	return r.of("on", "Off", "YES", "no", "y", "n", "true", "TRUE", "tRue", "null", "~", "Null", "nULL", "", "1:30", "190:20:30.15", "017", "0o17", "018", "1e3", "1.e+3", "1_000", "0x_F", "-0b11",
		".inf", "-.INF", "+.inf", ".NaN", "2020-01-01", "2020-13-01", "2001-2-3", "2001-12-14t21:59:43.10-05:00", "2001-12-15 2:59:43.1", "2001-12-14 21:59:43 Z", "2001-12-14 21:59:43 +1", "2001-12-14 24:00:00",
		"2001-1-1 1:00:00.1234567", "<<", "=", "=x", "!!str 5", "!!int 0x1F", "!!int x", "!!int 1_0", "!!int 1e3", "!!float 3", "!!float x", "!!bool on", "!!bool x", "!!null x", "!!binary aGk=", "!!binary a", "!!binary aGkx", "!!binary aG=k=", "!!binary aG==k", "!!binary a===", "!!binary a-G_k=x", "!!timestamp 2020-01-01", "!!timestamp x",
		"!foo x", "!!python/tuple [1]", "!!omap [a: 1, b: 2]", "!!pairs [a: 1, a: 2]", "!!omap [1]", "!!set {a, b}", "!!set [a]", "!!map [a]", "!!seq {a}", "!!str [a]",
		"'on'", `"017"`, `"\x41\u00e9\n"`, "word", "two words", "a#b", "a #b", "a:b", "http://x/y?z=1", "-", "- -", "-1", "--1", "+12", "-0", "0", "00", "0_", "0_7", "_1", "1__", "1.5", "1_0.2_5", "-.5", ".5", "5.", ".", "..", "1e400", "1.0e+400", "[]", "{}", "é", "😀")
}

func (r pick) flow(depth int) string {
	if depth == 0 || r.IntN(2) == 0 {
		if s := r.scalar(); !strings.ContainsAny(s, ",") {
			return s
		}
		return "a"
	}
	var parts []string
	list := r.IntN(2) == 0
	for range r.IntN(4) {
		s := r.flow(depth - 1)
		if !list {
			s = r.of("a", "b", "c", "on", "1", "1.0", "true", "<<", "=", "[x]", "2020-01-01", "null", r.scalar()) + ": " + s
		}
		parts = append(parts, s)
	}
	if list {
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (r pick) text() string {
	var b strings.Builder
	switch r.IntN(4) {
	case 0:
		b.WriteString(r.scalar() + "\n")
	case 1:
		b.WriteString(r.flow(3) + "\n")
	case 2:
		for range 1 + r.IntN(5) {
			b.WriteString(r.of("a", "b", "c", "d", "on", "1", "<<", "? x\n", "'q'", "é") + r.of(":", ": ", ":  ") + r.of("", "", "&a ", "&b ", "*a #", "*b #", "|\n  text\n #", ">-\n  folded\n  text\n #", "\n  k: v\n  l: ", "\n  - ", "\n- ") + r.flow(2) + "\n")
		}
	default:
		b.WriteString("base: &a {x: 1, y: 2}\nmore: &b {y: 3, z: 4}\n")
		for range 1 + r.IntN(3) {
			b.WriteString(r.of("m", "n") + ":\n")
			for range 1 + r.IntN(4) {
				b.WriteString("  " + r.of("<<: *a", "<<: *b", "<<: [*a, *b]", "<<: [*b, {q: 1, x: 0}]", "<<: x", "<<: [x]", "x: 9", "y: 8", "w: *a", "v: [*b, *a]", `"<<": 1`, "<<: {}") + "\n")
			}
		}
	}
	if r.IntN(12) == 0 {
		b.WriteString(r.of("---\nx\n", "...\n", "]", "\t- x", "'", "  bad: [\n", "*nope\n", "%YAML 1.1\n", "# comment\n", "\x07", "---\n"))
	}
	return b.String()
}

// differs reports whether a text has what the two parsers are known to read
// differently: a tab before a continued plain scalar, a colon without a space
// before the end of a flow entry, and tags of what is merged and thus never
// constructed.
func differs(text string) bool {
	for _, s := range []string{"\n\t", ":,", ":]", ":}"} {
		if strings.Contains(text, s) {
			return true
		}
	}
	return strings.Contains(text, "<<") && strings.Contains(text, "!!")
}

func TestAgainstPyYAML(t *testing.T) {
	r := pick{rand.New(rand.NewPCG(3, uint64(*rounds)))}
	texts := make([]string, *rounds)
	for i := range texts {
		texts[i] = r.text()
	}
	answers := ask(t, texts)
	read, lines := 0, 0
	for i, text := range texts {
		answer := answers[i].([]any)
		if differs(text) {
			continue
		}
		d, err := doctree.Parse([]byte(text), doctree.Options{})
		if (err == nil) != (answer[0] != "error") {
			t.Errorf("%q: %v; PyYAML: %v", text, err, answer)
			continue
		}
		if err != nil {
			line := int(answer[1].(float64))
			if e := err.(*doctree.Error); line != 0 && e.Class != doctree.Key && e.Pos.Line != line {
				lines++
			}
			continue
		}
		read++
		if got := show(&d.Root); fmt.Sprint(got) != fmt.Sprint(answers[i]) {
			t.Errorf("%q: %v; PyYAML: %v", text, got, answers[i])
		}
	}
	t.Logf("%d texts compared, %d accepted, %d refused at another line", len(texts), read, lines)
}
