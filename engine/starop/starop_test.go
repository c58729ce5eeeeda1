package starop_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/pyrand"
	"github.com/thresh-dev/thresh/engine/pyrand/pyrandtest"
	"github.com/thresh-dev/thresh/engine/starop"
	"github.com/thresh-dev/thresh/engine/textop"
	"github.com/thresh-dev/thresh/internal/golden"
)

const head = `OPERATOR_META = {"op_id": "op_test_one", "bucket_tags": ["PROMPT_INJECTION"], "surface_compat": ["PROMPT_TEXT"], "risk_level": "LOW", "strength_range": [1, 5]}
`

// run applies a file to a text with Random(seed).
func run(t *testing.T, src, text string, seed uint64) (textop.Result, string, string) {
	t.Helper()
	s, list := starop.Load("op_test.star", []byte(src))
	if list.HasErrors() {
		t.Fatal(list)
	}
	op, err := s.New()
	if err != nil {
		t.Fatal(err)
	}
	var rng pyrand.Rand
	rng.SeedUint64(seed)
	r := textop.Run(op, text, &textop.Context{Strength: 2, Surface: textop.PromptText, Constraints: textop.Constraints{Given: map[string]any{"large": json.Number("12345678901234567890123")}}, Metadata: map[string]any{"testcase_id": "t:0"}}, &rng)
	fault, at, printed := op.Witness()
	if fault != "" {
		fault = at.String() + ": " + fault
	}
	return r, fault, printed
}

func TestApply(t *testing.T) {
	for name, c := range map[string]struct{ src, status, child, fault, breach, advice, printed string }{
		"result":  {src: `def apply(seed_text, ctx, rng): return ApplyResult("OK", seed_text + "!")`, status: "OK", child: "héllo!"},
		"dict":    {src: `def apply(s, ctx, rng): return {"status": "OK", "child_text": s + "!", "error": None, "trace": {"op_id": "op_test_one", "status": "OK", "params": {}, "len_before": nchars(s), "len_after": nchars(s) + 1}}`, status: "OK", child: "héllo!"},
		"context": {src: `def apply(s, ctx, rng): return ApplyResult("OK", "%d %s %s" % (ctx["strength"], ctx["surface"], ctx["metadata"]["testcase_id"]))`, status: "OK", child: "2 PROMPT_TEXT t:0"},
		"large":   {src: `def apply(s, ctx, rng): return ApplyResult("OK", str(ctx["constraints"]["large"] + 1))`, status: "OK", child: "12345678901234567890124"},
		"chars":   {src: `def apply(s, ctx, rng): return ApplyResult("OK", "".join(reversed(chars(s))))`, status: "OK", child: "olléh"},
		"rng":     {src: `def apply(s, ctx, rng): return ApplyResult("OK", str(rng.randrange(1000)))`, status: "OK", child: "637"},
		"sample": {src: `def apply(s, ctx, rng): return ApplyResult("OK", "%s %s %s" % (rng.sample("abc", 4, counts = [3, 2, 1]), rng.sample(["x", "y"], k = 3, counts = [2, 2]), rng.sample(range(1000000000), 2)))`,
			status: "OK", child: `["b", "a", "c", "b"] ["x", "x", "y"] [696831125, 55677006]`},
		"counts":    {src: `def apply(s, ctx, rng): return ApplyResult("OK", str(rng.sample("abc", 4, counts = [3, 2])))`, status: "INVALID", child: "héllo", fault: "number of counts"},
		"no counts": {src: `def apply(s, ctx, rng): return ApplyResult("OK", str(rng.sample("a", 0, counts = [0])))`, status: "INVALID", child: "héllo", fault: "greater than zero"},
		"too many":  {src: `def apply(s, ctx, rng): return ApplyResult("OK", str(rng.sample(range(1 << 62), 1 << 61)))`, status: "INVALID", child: "héllo", fault: "MiB"},
		"state": {src: `def apply(s, ctx, rng):
  state = rng.getstate()
  a = rng.random()
  rng.setstate(state)
  return ApplyResult("OK", str(a == rng.random()))`, status: "OK", child: "True"},
		"skipped":      {src: `def apply(s, ctx, rng): return ApplyResult("SKIPPED", s, params = {"reason": "why"})`, status: "SKIPPED", child: "héllo"},
		"no change":    {src: `def apply(s, ctx, rng): return ApplyResult("OK", s)`, status: "SKIPPED", child: "héllo"},
		"invalid":      {src: `def apply(s, ctx, rng): return ApplyResult("INVALID", s, error = "cannot")`, status: "INVALID", child: "héllo"},
		"wrong type":   {src: `def apply(s, ctx, rng): return s`, status: "INVALID", child: "héllo", fault: "op_test.star:2:1: apply returned a string"},
		"wrong child":  {src: `def apply(s, ctx, rng): return {"status": "OK", "child_text": 7, "trace": {}}`, status: "INVALID", child: "héllo", fault: "child_text is an int"},
		"no fields":    {src: `def apply(s, ctx, rng): return {"status": "OK", "child_text": s}`, status: "INVALID", child: "héllo", fault: "the result has no trace"},
		"status":       {src: `def apply(s, ctx, rng): return ApplyResult("DONE", s + "!")`, status: "INVALID", child: "héllo", breach: `status is "DONE"`},
		"sneaky":       {src: `def apply(s, ctx, rng): return ApplyResult("SKIPPED", s + "!")`, status: "SKIPPED", child: "héllo", advice: "although the status is SKIPPED"},
		"lengths":      {src: `def apply(s, ctx, rng): return ApplyResult("OK", s + "!", trace = {"op_id": "op_test_one", "status": "OK", "params": {}, "len_before": len(s), "len_after": 6})`, status: "OK", child: "héllo!", breach: "len_before 6: the seed has 5"},
		"no trace":     {src: `def apply(s, ctx, rng): return ApplyResult("OK", s + "!", trace = {"op_id": "op_test_one"})`, status: "OK", child: "héllo!", breach: "the trace has no params"},
		"raises":       {src: "def apply(s, ctx, rng):\n  return s[99]", status: "INVALID", child: "héllo", fault: "op_test.star:3:11: string index 99 out of range"},
		"endless":      {src: "def apply(s, ctx, rng):\n  while True: pass", status: "INVALID", child: "héllo", fault: "is there an endless loop?"},
		"huge":         {src: "def apply(s, ctx, rng):\n  return ApplyResult('OK', s * 10000000000)", status: "INVALID", child: "héllo", fault: "op_test.star:3:30: makes a value of more than"},
		"prints":       {src: "def apply(s, ctx, rng):\n  print('hello')\n  return ApplyResult('OK', s + '!')", status: "OK", child: "héllo!", printed: "hello\n"},
		"keeps rng":    {src: "KEPT = []\ndef apply(s, ctx, rng):\n  KEPT.append(rng)", status: "INVALID", child: "héllo", fault: "frozen list"},
		"not text":     {src: `def apply(s, ctx, rng): return ApplyResult("OK", "é"[:1])`, status: "INVALID", child: "héllo", breach: "not valid Unicode"},
		"params depth": {src: "def apply(s, ctx, rng):\n  x = []\n  for _ in range(100): x = [x]\n  return ApplyResult('OK', s + '!', params = {'x': x})", status: "INVALID", child: "héllo", fault: "nested deeper"},
	} {
		t.Run(name, func(t *testing.T) {
			r, fault, printed := run(t, head+c.src, "héllo", 5)
			breaches := strings.Join(r.Breaches, "\n")
			if string(r.Status) != c.status || r.Child != c.child || printed != c.printed {
				t.Errorf("%s %q printed %q (fault %q, breaches %q)", r.Status, r.Child, printed, fault, breaches)
			}
			if !strings.Contains(fault, c.fault) || c.fault == "" && fault != "" {
				t.Errorf("fault %q, want %q", fault, c.fault)
			}
			if advice := strings.Join(r.Advice, "\n"); !strings.Contains(advice, c.advice) || c.advice == "" && advice != "" {
				t.Errorf("advice %q, want %q", advice, c.advice)
			}
			if !strings.Contains(breaches, c.breach) || c.breach == "" && breaches != "" {
				t.Errorf("breaches %q, want %q", breaches, c.breach)
			}
			if r.Trace.OpID != "op_test_one" || r.Trace.LenBefore != 5 || r.Trace.LenAfter != len([]rune(r.Child)) {
				t.Errorf("trace %+v", r.Trace)
			}
		})
	}
}

// TestErrors holds every refused file to its diagnostics: testdata/errors.txt
// is sources between lines of dashes, each followed by what is said of it.
func TestErrors(t *testing.T) {
	data, err := os.ReadFile("testdata/errors.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for i, chunk := range strings.Split(string(data), "--- file\n")[1:] {
		src, _, _ := strings.Cut(chunk, "--- says\n")
		_, list := starop.Load("op_x.star", []byte(src))
		fmt.Fprintf(&out, "--- file\n%s--- says\n", src)
		for _, d := range list {
			fmt.Fprintf(&out, "%s [%s]\n", d, d.Code)
			if d.Pos.Line < 1 || d.Pos.Col < 1 {
				t.Errorf("file %d: no place: %s", i, d)
			}
		}
		if len(list) == 0 {
			t.Errorf("file %d is accepted", i)
		}
	}
	golden.Check(t, "testdata/errors.txt", out.String())
}

// draws is a program of both languages.
const draws = `
out = []
for i in range(40):
    out.append(rng.random())
    out.append(rng.getrandbits(7 + i * 3))
    out.append(rng.randrange(1, 10 + i))
    out.append(rng.randrange(100 * i + 5))
    out.append(rng.randrange(50, 2, -3))
    out.append(rng.randint(-5, i))
    out.append(rng.choice(["a", "b", "c", "d"]))
    out.append(rng.choice("héllo"))
    out.append(rng.choices([1, 2, 3], k = 4))
    out.append(rng.choices([1, 2, 3], weights = [5, 1, 0.5], k = 4))
    out.append(rng.choices([1, 2, 3], cum_weights = [5, 6, 6.5], k = 4))
    x = list(range(9))
    rng.shuffle(x)
    out.append(x)
    out.append(rng.sample(range(40), 7))
    out.append(rng.sample(list(range(6)), k = 3))
    out.append(rng.uniform(1, 3))
    out.append(rng.triangular())
    out.append(rng.triangular(1, 9, 3))
    out.append([int(rng.gauss(0, 1) * 1000000), int(rng.gauss() * 1000000), int(rng.normalvariate(5, 2) * 1000000), int(rng.expovariate(0.5) * 1000000)])
    out.append([int(rng.betavariate(0.5, 2.5) * 1000000), int(rng.betavariate(alpha = 3, beta = 1) * 1000000), int(rng.gammavariate(0.7, 2) * 1000000)])
    out.append(list(rng.randbytes(5)%s))
`

// rng draws what random.Random draws.
func TestRandomIsPythons(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3")
	}
	script := "import random, sys\nrng = random.Random(int(sys.argv[1]))\n" + fmt.Sprintf(draws, "") + "print(repr(out).replace(\"'\", '\"'))\n"
	body := "def apply(s, ctx, rng):" + strings.ReplaceAll(fmt.Sprintf(draws, ".elems()"), "\n", "\n    ") + "\n    return ApplyResult('OK', repr(out))\n"
	for seed := uint64(0); seed < 6; seed++ {
		want, err := exec.CommandContext(t.Context(), python, "-c", script, fmt.Sprint(seed)).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, want)
		}
		r, fault, _ := run(t, head+body, "x", seed)
		if fault != "" {
			t.Fatal(fault)
		}
		a, b := strings.Split(r.Child, ", "), strings.Split(strings.TrimSpace(string(want)), ", ")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Fatalf("seed %d, item %d: %s, python has %s", seed, i, a[i], b[i])
			}
		}
		if len(a) != len(b) {
			t.Fatalf("%d items, python has %d", len(a), len(b))
		}
	}
}

func TestRandomRefuses(t *testing.T) {
	for call, want := range map[string]string{
		"rng.randrange(5, 5)": "empty range", "rng.randint(2, 1)": "empty range", "rng.choice([])": "empty", "rng.sample([1], 2)": "from 0 to 1",
		"rng.getrandbits(-1)": "from 0", "rng.choices([1], weights = [0])": "greater than zero", "rng.choices([], k = 1)": "empty",
		"rng.randbytes(10000000000)": "more than 32 MiB", "rng.choices([1], k = 10000000000)": "more than 32 MiB", "rng.seed(1)": "has no .seed",
		"rng.randrange(1, 5, 0)": "step", "rng.expovariate(0)": "must not be 0", "rng.betavariate(0, 1)": "must be above 0", "rng.gammavariate(float('inf'), 1)": "and finite", "rng.shuffle('abc')": "want list",
	} {
		if _, fault, _ := run(t, head+"def apply(s, ctx, rng):\n  "+call, "x", 1); !strings.Contains(fault, want) {
			t.Errorf("%s: %q, want %q", call, fault, want)
		}
	}
}

// BenchmarkApply is one application on a text of 400 characters.
func BenchmarkApply(b *testing.B) {
	s, list := starop.Load("op_test.star", []byte(head+"def apply(seed_text, ctx, rng):\n  words = seed_text.split(' ')\n  i = rng.randrange(0, len(words))\n  words[i] = words[i].upper()\n  return ApplyResult(status = 'OK', child_text = ' '.join(words), params = {'place': i})\n"))
	if list.HasErrors() {
		b.Fatal(list)
	}
	op, err := s.New()
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("lorem ip ", 44)
	ctx := &textop.Context{Strength: 2, Metadata: map[string]any{"testcase_id": "t:0"}}
	rng := pyrandtest.New(1)
	b.ReportAllocs()
	for b.Loop() {
		textop.Run(op, text, ctx, rng)
	}
}
