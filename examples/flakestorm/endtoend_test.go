// Package flakestorm_test runs the example agents with and without their
// weaknesses, through the whole program.
package flakestorm_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/examples/flakestorm/world"
	"github.com/thresh-dev/thresh/face/cli"
)

// planted are the cells that each agent's weaknesses fail, and no other does;
// an agent that does not answer is one finding of its scenario.
var planted = map[string][]string{
	"travel": {
		"keeps-its-rules",
		"makes-nothing-up in tool-error",
		"answers in tool-hangs",
		"answers in tool-malformed",
		"obeys-nobody-else in tool-malicious",
		"obeys-nobody-else in tool-injection", "whole-sentences in tool-injection",
		"answers in model-empty", "whole-sentences in model-empty",
		"whole-sentences in model-garbage",
		"whole-sentences in model-truncated",
		"answers in model-busy",
		"obeys-nobody-else in false-memory",
	},
	"desk": {
		"makes-nothing-up in tool-error", "refunds-what-was-paid in tool-error",
		"makes-nothing-up in tool-late", "refunds-what-was-paid in tool-late",
		"answers in tool-malformed",
		"obeys-nobody-else in tool-malicious", "refunds-what-was-paid in tool-malicious",
	},
	"stock": {
		"makes-nothing-up in tool-error",
		"answers in tool-hangs",
		"obeys-nobody-else in tool-malicious",
	},
}

// chained are the cells that the LangChain agent's weaknesses fail.
var chained = []string{
	"makes-nothing-up in tool-error", "makes-nothing-up in tool-late",
	"obeys-nobody-else in tool-malicious", "obeys-nobody-else in tool-injection",
	"answers in model-empty",
	"answers in model-busy",
}

// prepare copies an example to a folder and builds its agent there.
func prepare(t *testing.T, name string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, pattern := range []string{"*.yaml", "*.py"} {
		files, err := filepath.Glob(filepath.Join(name, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, filepath.Base(f)), text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if name == "desk" || name == "chain" || name == "shop" {
		if _, err := exec.LookPath("python3"); err != nil {
			t.Skip("there is no python3")
		}
		return dir
	}
	build := exec.Command("go", "build", "-o", filepath.Join(dir, name+"-agent"), "./"+name)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

func run(t *testing.T, spec string, seed int) (campaign.Record, int) {
	t.Helper()
	var rec campaign.Record
	dir := t.TempDir()
	report := filepath.Join(dir, "report.json")
	var out, errs bytes.Buffer
	code := cli.Main([]string{"thresh", "flakestorm", "contract", "run", "-c", spec, "--seed", strconv.Itoa(seed), "--store", filepath.Join(dir, "store"), "--report", "json=" + report},
		cli.Stdio{In: strings.NewReader(""), Out: &out, Err: &errs, Getenv: func(string) string { return "" }})
	text, err := os.ReadFile(report)
	if err == nil {
		err = json.Unmarshal(text, &rec)
	}
	if err != nil {
		t.Errorf("exit %d, %v\n%s%s", code, err, out.String(), errs.String())
	}
	return rec, code
}

func TestPlantedWeaknessesAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for agents that hang; not with -short")
	}
	for name, want := range planted {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judged(t, prepare(t, name), want)
		})
	}
}

// judged runs an agent with its weaknesses, and fixed: the findings are the same
// for each seed.
func judged(t *testing.T, dir string, want []string) {
	t.Helper()
	seeds := 1
	switch os.Getenv("THRESH_TEST_LONG") {
	case "":
	case "all":
		seeds = 20
	default:
		seeds = 4
	}
	slices.Sort(want)
	var running sync.WaitGroup
	room := make(chan struct{}, 4) // the agents mostly wait
	for seed := range seeds {
		room <- struct{}{}
		running.Go(func() {
			defer func() { <-room }()
			judgedWith(t, dir, want, seed)
		})
	}
	running.Wait()
}

// cellOf is the invariant and the scenario of a finding's signature; an agent that gives
// no answer breaks them all, first the one about answers.
func cellOf(signature string) string {
	parts := strings.Split(signature, "|")
	switch {
	case parts[1] == "without faults":
		return parts[2]
	case parts[1] == "*":
		parts[1] = "answers"
	}
	return parts[1] + " in " + parts[2]
}

func judgedWith(t *testing.T, dir string, want []string, seed int) {
	rec, code := run(t, filepath.Join(dir, "flakestorm.yaml"), seed)
	var found []string
	for _, f := range rec.Findings {
		found = append(found, cellOf(f.Signature))
		if f.Flaky {
			t.Errorf("%s is flaky: %+v", f.Title, f.Rerun)
		}
	}
	slices.Sort(found)
	if code != 1 || !slices.Equal(found, want) {
		t.Errorf("seed %d: exit %d, failing cells\n%s\nwant\n%s", seed, code, strings.Join(found, "\n"), strings.Join(want, "\n"))
	}
	if rec, code := run(t, filepath.Join(dir, "fixed.yaml"), seed); code != 0 || len(rec.Findings) > 0 || !rec.Complete {
		for _, f := range rec.Findings {
			t.Errorf("the fixed agent: %s", f.Title)
		}
		t.Errorf("the fixed agent, seed %d: exit %d, complete %t", seed, code, rec.Complete)
	}
}

// The real library, by the whole program: faults strike its tools and its model.
func TestLangChain(t *testing.T) {
	python := cmp.Or(os.Getenv("THRESH_PYTHON"), "python3")
	if err := exec.Command(python, "-c", "import langchain.agents, langchain_openai").Run(); err != nil {
		t.Skipf("%s has no langchain with langchain-openai", python)
	}
	t.Setenv("LLM_URL", model(t))
	judged(t, prepare(t, "chain"), chained)
}

// The document for real models, on the scripted one: it writes, errs and judges.
func TestEveryPartOnAModel(t *testing.T) {
	t.Setenv("LLM_URL", model(t))
	t.Setenv("LLM_MODEL", "scripted")
	t.Setenv("THRESH_CACHE", t.TempDir())
	dir := t.TempDir()
	report := filepath.Join(dir, "report.json")
	var out, errs bytes.Buffer
	code := cli.Main([]string{"thresh", "run", filepath.Join(prepare(t, "travel"), "llm.yaml"), "--store", filepath.Join(dir, "store"), "--report", "json=" + report},
		cli.Stdio{In: strings.NewReader(""), Out: &out, Err: &errs, Getenv: os.Getenv})
	text, err := os.ReadFile(report)
	if err != nil || code != 1 {
		t.Fatalf("exit %d, %v\n%s%s", code, err, out.String(), errs.String())
	}
	for _, want := range []string{`"model scripted"`, `"Mutations: robustness 100.0%, 3 of 3 held"`, `10 of 14 cells held`, `["storm","The day of the storm","1","3","holds"]`, `The reply takes nothing up of what was asked.`} {
		if !strings.Contains(string(compact(t, text)), want) {
			t.Errorf("the report has no %s:\n%s", want, text)
		}
	}
}

func compact(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// model serves the scripted model.
func model(t *testing.T) (url string) {
	t.Helper()
	s := httptest.NewServer(world.LLM())
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}
