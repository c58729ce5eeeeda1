package operator_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/contracttest"
	"github.com/thresh-dev/thresh/contract/operator"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
	"github.com/thresh-dev/thresh/port/pyhost"
	"github.com/thresh-dev/thresh/system/python"
)

func needsPython(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3")
	}
	return path
}

// An oracle's verdicts are findings and what a policy learns from; the suite
// holds for rounds that depend on each other.
func TestContractWithOracle(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("needs sh")
	}
	dir := t.TempDir()
	place(t, dir, "seeds.jsonl", seeds)
	place(t, dir, "judge.sh", "#!/bin/sh\ncase $(cat) in\n  *the*) echo '{\"verdict\": \"PASS\", \"oracle_score\": 0.1}' ;;\n  *) exit 1 ;;\nesac\n")
	text := `{"schema_version": "thresh.operators.v1", "name": "oracle", "seeds": ["seeds.jsonl"], "children": 12, "policy": "exp3", "rounds": 3,
  "select": {"include": ["op_enc_hex", "op_enc_base64", "op_typo_*"]}, "duplicates": "near", "oracle": {"command": ["judge.sh", "<child>"]}}`
	path := filepath.Join(dir, "operators.json")
	list, found := front().Compile(t.Context(), campaign.Spec{Path: path, Data: []byte(text)}, settings())
	if found.HasErrors() || len(list) != 1 {
		t.Fatal(found)
	}
	contracttest.Run(t, contracttest.Fixture{
		Contract: front(), Spec: campaign.Spec{Path: path, Data: []byte(text)}, Findings: oracleFindings,
		UnknownKey: campaign.Spec{Path: path, Data: []byte(strings.Replace(text, `"rounds"`, `"round"`, 1))},
	})
}

// oracleFindings is how many operators hide a word from the oracle.
const oracleFindings = 2

func settings() campaign.Settings {
	return campaign.Settings{Read: os.ReadFile, Digest: func(p string) (string, error) {
		_, err := os.Stat(p)
		return "0", err
	}, List: func(dir string) ([]string, error) {
		entries, err := os.ReadDir(dir)
		var names []string
		for _, e := range entries {
			if e.Type().IsRegular() {
				names = append(names, e.Name())
			}
		}
		return names, err
	}}
}

func disk() operator.Disk { return operator.Disk{Read: os.ReadFile, List: settings().List} }

// Python operators give, for the same seeds, the children that python3 gives
// when it is run directly.
func TestPythonOperatorsAreUnchanged(t *testing.T) {
	py := needsPython(t)
	const script = `
import hashlib, json, random, sys
sys.path.insert(0, sys.argv[1])
import op_lex_swap_words as op
for i in range(60):
    rng = random.Random(int(hashlib.sha256(f"7:s:{i}".encode()).hexdigest()[:8], 16))
    r = op.apply(sys.argv[2], {"strength": 3, "surface": "PROMPT_TEXT", "constraints": {}, "metadata": {}}, rng)
    print(json.dumps([r["status"], r["child_text"], r["trace"]["params"]], sort_keys=True))
`
	const text = "Write a short letter to the board about the new office."
	want, err := exec.CommandContext(t.Context(), py, "-c", script, "testdata/python", text).Output()
	if err != nil {
		t.Fatal(err)
	}
	plugins := operator.LoadPlugins(t.Context(), []string{"testdata/python/op_lex_swap_words.py"}, disk(), python.OpenOperators)
	if plugins.Faults.HasErrors() || plugins.HostErr != nil {
		t.Fatal(plugins.Faults, plugins.HostErr)
	}
	var got bytes.Buffer
	derive := textop.NewDeriver(textop.RuleContract, bigInt(7))
	host, err := plugins.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	ctx := &textop.Context{Strength: 3, Surface: textop.PromptText}
	var calls []pyhost.OperatorCall
	for i := range 60 {
		calls = append(calls, mutator.Call(&plugins.Entries[0], text, ctx, derive.Seed(fmt.Sprintf("s:%d", i))))
	}
	err = host.Apply(t.Context(), calls, func(_ int, reply *pyhost.OperatorReply) error {
		a := mutator.Answer(&plugins.Entries[0], text, ctx, reply)
		var r struct {
			Trace struct {
				Params map[string]any `json:"params"`
			} `json:"trace"`
		}
		if err := json.Unmarshal(mutator.AppendResult(nil, &a.Result), &r); err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal([]any{a.Result.Status, a.Result.Child, r.Trace.Params})
		if err != nil {
			t.Fatal(err)
		}
		got.Write(append(line, '\n'))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := normal(t, want), normal(t, got.Bytes()); a != b {
		t.Errorf("python3 gives\n%s\nthe host gives\n%s", a, b)
	}
}

// normal is lines of JSON in one spelling.
func normal(t *testing.T, lines []byte) string {
	t.Helper()
	var out []string
	for line := range bytes.Lines(lines) {
		var v any
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(b))
	}
	return strings.Join(out, "\n")
}

// With several steps the generator goes on from operator to operator, also
// between those here and those in Python.
func TestGeneratorGoesOnAcrossHosts(t *testing.T) {
	t.Parallel() // mostly waits
	needsPython(t)
	plugins := operator.LoadPlugins(t.Context(), []string{"testdata/python/op_lex_swap_words.py", "testdata/operators/op_lex_first_word.star"}, disk(), python.OpenOperators)
	if plugins.Faults.HasErrors() || plugins.HostErr != nil {
		t.Fatal(plugins.Faults, plugins.HostErr)
	}
	r, _ := mutator.NewRegistry(plugins.Entries)
	m := mutator.New(r, mutator.Config{SeedBase: bigInt(3), Rule: textop.RuleContract, Steps: 3, Strength: textop.Range{Min: 2, Max: 2}, Policy: mutator.Uniform})
	seed := &mutator.Seed{ID: "s", Text: "Write a short letter to the board about the new office.", Surface: textop.PromptText}
	lines := func(batch int) string {
		host, err := plugins.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer host.Close()
		lane := m.NewLane(host)
		var out strings.Builder
		for i := 0; i < 60; i += batch {
			var jobs []mutator.Job
			for j := range batch {
				jobs = append(jobs, mutator.Job{Seed: seed, Index: int64(i + j), ID: mutator.TestcaseID(seed.ID, int64(i+j))})
			}
			err := lane.Make(t.Context(), jobs, func(c *mutator.Child) error {
				if len(c.Breaches) > 0 {
					t.Errorf("%s: %v", c.ID, c.Breaches)
				}
				out.Write(mutator.AppendChild(nil, c))
				out.WriteByte('\n')
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		return out.String()
	}
	if one, many := lines(1), lines(60); one != many {
		t.Errorf("children depend on what is made beside them:\n%s\n%s", one, many)
	}
}

// Operators that break the contract are told by file and line, and the children
// of the others are made.
func TestHostilePython(t *testing.T) {
	t.Parallel() // mostly waits
	needsPython(t)
	dir := t.TempDir()
	here, err := filepath.Abs("testdata/python")
	if err != nil {
		t.Fatal(err)
	}
	var seeds strings.Builder
	for _, first := range []string{"raise", "print", "global", "type", "end", "memory", "now", "fine"} {
		fmt.Fprintf(&seeds, "{\"id\": %q, \"text\": \"%s is the first word of this\", \"surface\": \"PROMPT_TEXT\"}\n", first, first)
	}
	place(t, dir, "seeds.jsonl", seeds.String())
	text := `{"schema_version": "thresh.operators.v1", "name": "hostile", "seeds": ["seeds.jsonl"], "operators": ["` + here + `"], "builtins": false,
  "select": {"include": ["op_lex_bad_habits"]}, "children": 3, "duplicates": "keep"}`
	list, found := front().Compile(t.Context(), campaign.Spec{Path: filepath.Join(dir, "operators.json"), Data: []byte(text)}, settings())
	if found.HasErrors() {
		t.Fatal(found)
	}
	c := list[0]
	state := c.Start(campaign.Facts{})
	exec, err := campaign.Solo(t.Context(), c, campaign.Lane{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Close()
	got := make(map[string]string)
	for i := range int64(24) {
		o, err := exec.Execute(t.Context(), state, campaign.Case{Index: i})
		if err != nil {
			t.Fatal(err)
		}
		if i%3 == 0 {
			breaches := o.Attached("breaches")
			if at := strings.Split(string(breaches), "\t"); len(at) > 2 && !strings.Contains(at[2], "op_lex_bad_habits.py:") {
				t.Errorf("case %d: no place: %s", i, breaches)
			}
			got[strings.Split(string(seeds.String()), "\n")[i/3][8:12]] = o.Verdict.String() + " " + o.Kind
		}
	}
	for first, want := range map[string]string{
		"rais": "fail exception", "prin": "fail prints", "glob": "fail global-random", "type": "fail exception", "end\"": "fail exception",
		"memo": "fail exception", "now\"": "fail nondeterministic", "fine": "pass ",
	} {
		if got[first] != want {
			t.Errorf("%s: %q, want %q", first, got[first], want)
		}
	}
}

// A file of seeds is a document by itself.
func TestSeedsAreADocument(t *testing.T) {
	for _, text := range []string{seeds, "\ufeff" + seeds} { // some editors write a byte order mark
		s := campaign.Spec{Path: "seeds.jsonl", Data: []byte(text)}
		if !front().Detect(s) {
			t.Fatal("seeds are not detected")
		}
		list, found := front().Compile(t.Context(), s, settings())
		if len(found) > 0 || len(list) != 1 {
			t.Fatal(found)
		}
		if campaign.TraitsOf(list[0]).Planned != 20 {
			t.Error("planned cases")
		}
	}
}

// Compile reports all errors of operators and seeds at once, with their positions.
func TestCompileTellsAll(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "seeds.jsonl", "{\"id\": \"a\", \"text\": \"x\"}\n{\"id\": \"a\", \"text\": \"y\"}\n{\"id\": \"b\"}\n")
	place(t, dir, "ops/op_a_b.star", "x = 1\n")
	place(t, dir, "ops/op_c_d.star", strings.Replace(twin, "ID", "op_enc_base64", 1))
	place(t, dir, "ops/op_e_f.star", strings.Replace(twin, "ID", "op_e_f", 1))
	place(t, dir, "ops/op_e_g.star", strings.Replace(twin, "ID", "op_e_f", 1))
	text := `{"schema_version": "thresh.operators.v1", "seeds": ["seeds.jsonl", "none.txt"], "operators": ["ops", "nowhere"], "select": {"include": ["op_enk_*"]}}`
	_, found := front().Compile(t.Context(), campaign.Spec{Path: filepath.Join(dir, "operators.json"), Data: []byte(text)}, settings())
	all := strings.ReplaceAll(found.Error(), dir, "")
	for _, want := range []string{
		"/ops/op_a_b.star:1:1: warning: OPERATOR_META is missing", "/ops: warning: 1 of 4 plug-ins is damaged and not used: op_a_b.star",
		"/ops/op_c_d.star:2:1: error: op_id: the id \"op_enc_base64\" is taken by a built-in operator",
		"/ops/op_e_g.star:2:1: error: op_id: the id \"op_e_f\" is taken by /ops/op_e_f.star:2:1",
		"/seeds.jsonl:2:1: error: the seed at /seeds.jsonl:1:1 has the id \"a\" too",
		"/seeds.jsonl:3:1: error: has no text",
		"none.txt cannot be read", "/nowhere: error: cannot be read",
		"warning: select.include[0]: \"op_enk_*\" matches no operator",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("nothing says %q in:\n%s", want, all)
		}
	}
}

const twin = `OPERATOR_META = {"op_id": "ID", "bucket_tags": ["PROMPT_INJECTION"], "surface_compat": ["PROMPT_TEXT"], "risk_level": "LOW", "strength_range": [1, 5]}
def apply(seed_text, ctx, rng): return ApplyResult("OK", seed_text + "!")
`

func TestChecklist(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "op_e_f.star", strings.Replace(twin, "ID", "op_e_f", 1))
	place(t, dir, "op_e_raises.star", strings.Replace(strings.Replace(twin, "ID", "op_e_raises", 1), `"!"`, "1", 1))
	plugins := operator.LoadPlugins(t.Context(), []string{dir}, disk(), nil)
	if plugins.Faults.HasErrors() {
		t.Fatal(plugins.Faults)
	}
	var kept []byte
	holds := func() string {
		checked, err := operator.CheckPlugins(t.Context(), plugins, func(path string) ([]byte, error) {
			if kept == nil {
				return nil, os.ErrNotExist
			}
			return kept, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for i := range checked {
			for box := range 7 {
				fmt.Fprint(&b, map[bool]string{true: "x", false: "-"}[checked[i].Holds(box)])
			}
			b.WriteByte(' ')
		}
		kept = checked[0].Snapshot
		return b.String()
	}
	if got := holds(); got != "xxxxx-- x-xxxx- " { // the first is longer than max_chars allows, the second raises
		t.Errorf("boxes %s", got)
	}
	if got := holds(); got != "xxxxx-x x-xxxx- " { // the snapshot is the first one's
		t.Errorf("boxes with a snapshot: %s", got)
	}
	kept = bytes.Replace(kept, []byte("!"), []byte("?"), 1)
	if got := holds(); got != "xxxxx-- x-xxxx- " {
		t.Errorf("boxes with another snapshot: %s", got)
	}
}
