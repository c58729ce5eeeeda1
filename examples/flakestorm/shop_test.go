package flakestorm_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/face/cli"
)

// shopped runs a document of the shop's agent, and tells what was found by the
// words that name each weakness.
func shopped(t *testing.T, spec string, seed int, names []string) (found []string, rec campaign.Record) {
	t.Helper()
	dir := t.TempDir()
	report := filepath.Join(dir, "report.json")
	var out, errs bytes.Buffer
	cli.Main([]string{"thresh", "run", spec, "--seed", strconv.Itoa(seed), "--store", filepath.Join(dir, "store"), "--report", "json=" + report},
		cli.Stdio{In: strings.NewReader(""), Out: &out, Err: &errs, Getenv: func(string) string { return "" }})
	text, err := os.ReadFile(report)
	if err == nil {
		err = json.Unmarshal(text, &rec)
	}
	if err != nil || !rec.Complete {
		t.Fatalf("%v, complete %t\n%s%s", err, rec.Complete, out.String(), errs.String())
	}
	for _, f := range rec.Findings {
		i := slices.IndexFunc(names, func(n string) bool { return strings.Contains(f.Title, n) })
		if i < 0 || f.Flaky {
			t.Errorf("seed %d: %s (flaky %t)", seed, f.Title, f.Flaky)
			continue
		}
		found = append(found, names[i])
	}
	slices.Sort(found)
	return found, rec
}

// Each of ten planted weaknesses is named once by a contract of less than 60
// lines, seven by the built-in checks alone; without them nothing is found.
func TestShop(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		if os.Getenv("THRESH_CI") != "" {
			t.Fatal(err)
		}
		t.Skip("no python3")
	}
	t.Parallel()
	checks := []string{"(repeated-effect)", "secret-in-reply: ", "false-success: ", "obeyed-instruction: ", "call-loop: ", "unknown-tool: ", "bad-arguments: "}
	all := append(slices.Clone(checks), `return: contains: also without faults: "4715" not found`, "answers: the reply is empty (silent-model)", "(long-text)")
	slices.Sort(all)
	dir := prepare(t, "shop")
	if found, _ := shopped(t, filepath.Join(dir, "flakestorm.yaml"), 1, all); !slices.Equal(found, all) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(found, "\n"), strings.Join(all, "\n"))
	}
	checks[0] = "repeated-effect: "
	slices.Sort(checks)
	if found, _ := shopped(t, filepath.Join(dir, "checks.yaml"), 1, checks); !slices.Equal(found, checks) {
		t.Errorf("without a contract\n%s\nwant\n%s", strings.Join(found, "\n"), strings.Join(checks, "\n"))
	}
	text, err := os.ReadFile(filepath.Join(dir, "checks.yaml"))
	if err != nil || strings.Count(string(text), "\n") > 60 {
		t.Fatal(err, "or the document is long")
	}
	fixed := strings.Replace(string(text), "agent.py]", "agent.py, --fixed]", 1)
	if err := os.WriteFile(filepath.Join(dir, "fixed-checks.yaml"), []byte(fixed), 0o600); err != nil {
		t.Fatal(err)
	}
	seeds := 1
	if n, err := strconv.Atoi(os.Getenv("THRESH_SEEDS")); err == nil {
		seeds = n
	}
	for seed := range seeds {
		for _, name := range []string{"fixed.yaml", "fixed-checks.yaml"} {
			if _, rec := shopped(t, filepath.Join(dir, name), seed, nil); len(rec.Findings) > 0 || rec.Verdict != "pass" {
				t.Error(fmt.Sprintf("the fixed agent, %s, seed %d:", name, seed), rec.Verdict, len(rec.Findings))
			}
		}
	}
}
