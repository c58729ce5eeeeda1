package speclang_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/speclang"
	"github.com/thresh-dev/thresh/internal/testproc"
)

var rounds = flag.Int("oracle", testproc.Times(5000, 1000), "generated calls to compare with python3")

// question is a builtin with operands as JSON texts.
type question struct {
	symbol   string
	operands []string
}

// answer is Python's str() of the result, or the category of the error.
type answer struct{ Text, Error string }

func ask(t *testing.T, questions []question) []answer {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not here to be asked")
	}
	var in bytes.Buffer
	e := json.NewEncoder(&in)
	for _, q := range questions {
		if err := e.Encode([]any{q.symbol, q.operands}); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(python, "-W", "ignore", "testdata/oracle.py")
	cmd.Stdin = &in
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("python3 does not run: %v: %s", err, complaint.String())
	}
	var answers []answer
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		n := parse(t, lines.Text())
		var a answer
		if v := n.Get("error"); v != nil {
			a.Error = v.Text
		} else {
			a.Text = n.Get("text").Text
		}
		answers = append(answers, a)
	}
	if len(answers) != len(questions) {
		t.Fatalf("%d answers to %d questions", len(answers), len(questions))
	}
	return answers
}

type pick struct{ *rand.Rand }

func (r pick) of(list ...string) string { return list[r.IntN(len(list))] }

func (r pick) str() string {
	var b strings.Builder
	for range r.IntN(6) {
		b.WriteString(r.of("a", "b", "A", "B", "ß", "ŉ", "ﬁ", "İ", "ı", "Σ", "σ", "ς", "Ω", "'", `\"`, `\\`, `\n`, `\t`, `\u0000`, `\u001c`, `\u0085`, `\u00a0`, `\u00ad`, `\u200b`, `\u3000`, `\ud800`, `\ud83d\ude00`, "é", " ", ".", ":", "1", "ΐ", "ᾳ", "ǆ", "ǅ", `\u0301`, "Ⴀ", "ꭰ", "Ꭰ"))
	}
	return `"` + b.String() + `"`
}

func (r pick) value(depth int) string {
	if depth > 0 && r.IntN(3) == 0 {
		var parts []string
		if r.IntN(2) == 0 {
			for range r.IntN(4) {
				parts = append(parts, r.value(depth-1))
			}
			return "[" + strings.Join(parts, ",") + "]"
		}
		for range r.IntN(4) {
			parts = append(parts, r.of(`"a"`, `"b"`, `"1"`, `"True"`, `"None"`, `"1.0"`, r.str())+":"+r.value(depth-1))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	switch r.IntN(4) {
	case 0:
		return r.str()
	case 1:
		return r.of("0", "1", "-1", "2", "1.0", "0.0", "-0.0", "0.1", "0.2", "1e16", "1e-5", "123456789012345678", "9007199254740993", "9007199254740992.0", "9223372036854775807", "-9223372036854775808", "4611686018427387904",
			"1e400", "NaN", "-Infinity", "123456789012345678901234567890", "1e22", "1.5", fmt.Sprint(r.Float64()), fmt.Sprint(r.Int64()), "1"+strings.Repeat("0", 400))
	}
	return r.of("null", "true", "false", `"a"`, `"ab"`, `"1"`, `"number"`, `" LIST "`, `"dict"`, `"null"`, `""`, `"[1, 2.50]"`, `"{\"a\": 1}"`, `"nope"`, `"a|b"`, `"^a"`)
}

func TestAgainstPython(t *testing.T) {
	r := pick{rand.New(rand.NewPCG(7, uint64(*rounds)))}
	one := []string{"not", "len", "trim", "lower", "upper", "json_parse"}
	two := []string{"contains", "starts_with", "ends_with", "regex_match", "eq", "neq", "in", "json_type", "has_key", "get", "add", "sub"}
	questions := make([]question, *rounds)
	for i := range questions {
		if r.IntN(3) == 0 {
			questions[i] = question{r.of(one...), []string{r.value(2)}}
		} else {
			questions[i] = question{r.of(two...), []string{r.value(2), r.value(2)}}
		}
		if r.IntN(4) == 0 && len(questions[i].operands) == 2 {
			questions[i].operands[1] = questions[i].operands[0]
		}
	}
	for i, a := range ask(t, questions) {
		q := questions[i]
		if strings.Contains(q.operands[0], "NaN") && (q.symbol == "eq" || q.symbol == "neq" || q.symbol == "in") {
			continue // Python's lists compare objects before values, and its json module makes one NaN
		}
		// Operands come in as the value of variables would: through the subject.
		subject := speclang.OfJSON(parse(t, "["+strings.Join(q.operands, ",")+"]"))
		text := `["` + q.symbol + `"`
		for k := range q.operands {
			text += fmt.Sprintf(`, ["get", ["subject"], %d]`, k)
		}
		got := compile(t, text+"]").Eval(subject, speclang.DefaultLimits(), host())
		switch {
		case got.Err != nil && string(got.Err.Category) != a.Error:
			t.Errorf("%v: %s %v; Python: %+v", q, got.Err.Category, got.Err, a)
		case got.Err == nil && (a.Error != "" || got.Value.Text() != a.Text):
			t.Errorf("%v: %q; Python: %+v", q, got.Value.Text(), a)
		}
	}
}

// Every character's case, printability and blankness, asked in a few long texts.
func TestEveryCharacter(t *testing.T) {
	var questions []question
	var chunk []rune
	flush := func() {
		var texts []string
		for _, c := range chunk {
			texts = append(texts, "x"+string(c)+"y"+string(c))
		}
		encoded, err := json.Marshal(strings.Join(texts, "|"))
		if err != nil {
			t.Fatal(err)
		}
		questions = append(questions, question{"lower", []string{string(encoded)}}, question{"upper", []string{string(encoded)}})
		chunk = chunk[:0]
	}
	for c := rune(1); c < 0x20000; c++ {
		if 0xd800 <= c && c <= 0xdfff {
			continue
		}
		if chunk = append(chunk, c); len(chunk) == 512 {
			flush()
		}
	}
	flush()
	different := 0
	for i, a := range ask(t, questions) {
		q := questions[i]
		got := compile(t, fmt.Sprintf(`["%s", ["subject"]]`, q.symbol)).Eval(speclang.OfJSON(parse(t, q.operands[0])), speclang.DefaultLimits(), host())
		gotParts, wantParts := strings.Split(got.Value.Text(), "|"), strings.Split(a.Text, "|")
		parts := strings.Split(parse(t, q.operands[0]).Text, "|")
		if len(parts) != len(wantParts) || len(parts) != len(gotParts) {
			continue // the chunk with the separator itself
		}
		for k := range parts {
			if gotParts[k] != wantParts[k] {
				different++
				t.Logf("%s of %q: %q; Python: %q", q.symbol, parts[k], gotParts[k], wantParts[k])
			}
		}
	}
	// The two know different versions of Unicode, which add a few letters each.
	if different > 40 {
		t.Errorf("%d characters differ", different)
	}
}
