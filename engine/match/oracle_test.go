package match_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/engine/match"
	"github.com/thresh-dev/thresh/internal/testproc"
)

var rounds = flag.Int("oracle", testproc.Times(3000, 1000), "generated patterns to compare with python3")

// question is a pattern, the names of its flags and the texts to search.
type question struct {
	pattern  string
	flags    []string
	subjects []string
	found    int // how many of them, from the first, have a match
}

// ask puts questions to CPython's re. A nil answer is a pattern that it refuses.
func ask(t *testing.T, questions []question) [][]bool {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not here to be asked")
	}
	var in bytes.Buffer
	e := json.NewEncoder(&in)
	for _, q := range questions {
		if err := e.Encode([]any{q.pattern, q.flags, q.subjects}); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(python, "testdata/oracle.py")
	cmd.Stdin = &in
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("python3 does not run: %v: %s", err, complaint.String())
	}
	var answers [][]bool
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var list []bool
		if json.Unmarshal(lines.Bytes(), &list) != nil {
			list = nil
		}
		answers = append(answers, list)
	}
	if len(answers) != len(questions) {
		t.Fatalf("%d answers to %d questions", len(answers), len(questions))
	}
	return answers
}

// pick draws patterns from a grammar that is a little larger than Python's.
type pick struct{ *rand.Rand }

func (r pick) of(list ...string) string { return list[r.IntN(len(list))] }

func (r pick) atom(depth int) string {
	if depth == 0 || r.IntN(3) > 0 {
		return r.of("a", "b", "c", "é", "É", "K", "s", "ſ", "I", "ß", "Σ", "\n", " ", ".", `\d`, `\w`, `\s`, `\W`, `\D`, `\S`, `\b`, `\B`, "^", "$", `\A`, `\Z`,
			"[ab]", "[^ab]", "[a-cé]", `[\w.]`, `[^\s]`, `[\W\d]`, `[^\Wb]`, `[]a]`, `[a-]`, `[À-þ]`, `\1`, `\2`, "(?P=n)", `\x61`, `\u0131`, `\n`, `\.`, "-", "_", "😀", "٣", "{", "}", "]", `\07`, `\141`, `[\b]`)
	}
	inner := r.pattern(depth - 1)
	return r.of("(", "(", "(?:", "(?P<n>", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:", "(?-i:", "(?s:", "(?m:", "(?a:", "(?x:", "(?(1)", "(?(n)") + inner + ")"
}

func (r pick) sequence(depth int) string {
	var b strings.Builder
	for range r.IntN(4) {
		b.WriteString(r.atom(depth))
		b.WriteString(r.of("", "", "", "", "", "*", "+", "?", "{2}", "{1,2}", "{,2}", "{2,}", "{,}", "*?", "+?", "??", "*+", "?+", "{1,2}+", "{2,1}", "{a"))
	}
	return b.String()
}

func (r pick) pattern(depth int) string {
	p := r.sequence(depth)
	for r.IntN(4) == 0 {
		p += "|" + r.sequence(depth)
	}
	return p
}

func (r pick) subject() string {
	var b strings.Builder
	for range r.IntN(9) {
		b.WriteString(r.of("a", "a", "b", "b", "c", "A", "B", "é", "É", "k", "\u212a", "s", "S", "ſ", "i", "I", "ı", "İ", "ß", "ẞ", "σ", "ς", "Σ", "\n", " ", "\x1c", "1", "٣", "²", "Ⅷ", "_", ".", "-", "😀", "{", "\u0301", "\u200d"))
	}
	return b.String()
}

func TestAgainstPython(t *testing.T) {
	r := pick{rand.New(rand.NewPCG(1, uint64(*rounds)))}
	questions := make([]question, *rounds)
	for i := range questions {
		q := &questions[i]
		q.pattern = r.of("", "", "", "", "(?i)", "(?m)", "(?s)", "(?a)", "(?ai)") + r.pattern(3)
		q.flags = []string{}
		if r.IntN(5) == 0 {
			q.flags = append(q.flags, r.of("I", "M", "S", "A", "X"))
		}
		for range 12 {
			q.subjects = append(q.subjects, r.subject())
		}
	}
	answers := ask(t, questions)
	accepted := 0
	for i, q := range questions {
		o := match.Options{Timeout: time.Minute}
		for _, f := range q.flags {
			switch f {
			case "I":
				o.IgnoreCase = true
			case "M":
				o.Multiline = true
			case "S":
				o.DotAll = true
			case "A":
				o.ASCII = true
			case "X":
				o.Verbose = true
			}
		}
		p, err := match.Compile(q.pattern, o)
		if (err == nil) != (answers[i] != nil) {
			t.Errorf("%q %v: %v; Python accepts it: %v", q.pattern, q.flags, err, answers[i] != nil)
			continue
		}
		if err != nil {
			continue
		}
		accepted++
		for k, s := range q.subjects {
			got, err := p.Search(s)
			if err != nil || got != answers[i][k] {
				t.Errorf("%q %v in %q: %v, %v; Python: %v", q.pattern, q.flags, s, got, err, answers[i][k])
			}
		}
	}
	t.Logf("%d patterns compared, %d accepted", len(questions), accepted)
}
