package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var updateScripts = flag.Bool("update", false, "write the expected outputs in testdata/script anew")

// TestScript runs the scripts of the command line, testdata/script/*.txtar,
// named <verb>_<topic>. Beside the commands of package testscript they have
//
//	exits CODE PROGRAM ARG...            run a program, which must end with the code
//	interrupted CODE GATE PROGRAM ARG... the same; once it writes to the named pipe GATE, it is interrupted
//	spec FILE TARGET [KEY=VALUE...]      write a FuzzSpec that runs the script TARGET
//	envsubst FILE...                     replace $WORK and other variables in files
//	capture NAME REGEXP FILE             set a variable to what the first group matches
//	mask FILE...                         take out of files what differs from run to run
//
// exits and interrupted leave what the program wrote in $WORK/out and
// $WORK/err as mask does, for cmp, and as it was for stdout and stderr.
//
// The condition [race] says that the race detector watches.
//
// $WORK holds the files of testdata/program: letters.sh, a program with two
// bugs, fixed.sh, the same without them, and seed, an input on which both pass.
//
// $EXAMPLES is the folder of the examples.
func TestScript(t *testing.T) {
	examples, err := filepath.Abs(filepath.Join("..", "..", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       *updateScripts,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("EXAMPLES", examples)
			e.Setenv("TERM", "dumb")
			e.Setenv("CI", "")
			e.Setenv("NO_COLOR", "")
			return os.CopyFS(e.WorkDir, os.DirFS(filepath.Join("testdata", "program")))
		},
		Condition: func(cond string) (bool, error) {
			if cond == "race" { // the race detector watches this program, and what it runs of itself
				return raced, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":       scriptExits,
			"interrupted": scriptInterrupted,
			"spec":        scriptSpec,
			"envsubst":    scriptEnvsubst,
			"capture":     scriptCapture,
			"mask":        scriptMask,
		},
	})
}

// usage ends a script that calls one of its commands wrongly.
func usage(ts *testscript.TestScript, wrong bool, text string) {
	if wrong {
		ts.Fatalf("usage: %s", text)
	}
}

func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) < 2, "exits CODE PROGRAM ARG...")
	ended(ts, args[0], ts.Exec(args[1], args[2:]...), ts.ReadFile("stdout"), ts.ReadFile("stderr"))
}

// ended holds a program that ended to the exit code that it was to have.
func ended(ts *testscript.TestScript, want string, err error, stdout, stderr string) {
	code := 0
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed):
		code = failed.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != want {
		ts.Fatalf("exit code %d, want %s", code, want)
	}
	for name, text := range map[string]string{"out": stdout, "err": stderr} {
		ts.Check(os.WriteFile(filepath.Join(ts.Getenv("WORK"), name), []byte(masked(ts, text)), 0o644))
	}
}

func scriptInterrupted(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) < 3, "interrupted CODE GATE PROGRAM ARG...")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cmd := exec.CommandContext(ctx, lookPath(ts, args[2]), args[3:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = []string{"PATH=" + ts.Getenv("PATH"), "HOME=" + ts.Getenv("HOME"), "TMPDIR=" + ts.Getenv("TMPDIR"), "TERM=dumb"}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	// Held open for writing as well, so that opening it does not wait and the
	// end of this test ends the reader.
	gate, err := os.OpenFile(ts.MkAbs(args[1]), os.O_RDWR, 0)
	ts.Check(err)
	defer gate.Close()
	ts.Check(cmd.Start())
	reached, done := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := gate.Read(make([]byte, 1))
		reached <- err
	}()
	go func() { done <- cmd.Wait() }()
	select {
	case err = <-reached:
		ts.Check(err)
		ts.Check(cmd.Process.Signal(os.Interrupt))
		err = <-done
	case <-done:
		fmt.Fprintf(ts.Stderr(), "%s", stderr.String())
		ts.Fatalf("%s ended before it wrote to %s", args[2], args[1])
	}
	ts.Stdout().Write(stdout.Bytes())
	ts.Stderr().Write(stderr.Bytes())
	ended(ts, args[0], err, stdout.String(), stderr.String())
}

// lookPath finds a program on the script's PATH.
func lookPath(ts *testscript.TestScript, name string) string {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path
		}
	}
	ts.Fatalf("no program %s", name)
	return ""
}

// scriptSpec writes a document of 40 cases of the file "seed". VALUE is JSON; a
// KEY with dots reaches into the objects of the document.
func scriptSpec(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) < 2, "spec FILE TARGET [KEY=VALUE...]")
	work := ts.Getenv("WORK")
	name := strings.TrimSuffix(filepath.Base(args[0]), ".json")
	e := edits{
		"campaign_id":                name,
		"target.agent_id":            name,
		"target.work_root_base":      filepath.Join(work, "work"),
		"target.command":             []string{"sh", filepath.Join(work, args[1]), "<input_path>", "<out_dir>"},
		"seed.path":                  filepath.Join(work, "seed"),
		"mutations.cases":            40,
		"mutations.rng_seed":         1,
		"outputs.out_dir":            "runs/<run_id>/out",
		"outputs.eval_dir":           "runs/<run_id>/eval",
		"execution":                  map[string]any{},
		"schema_version":             "llmfuzz.fuzzspec.v1",
		"target.timeout_s":           20,
		"mutations.max_ops_per_case": 1,
	}
	for _, arg := range args[2:] {
		key, value, ok := strings.Cut(arg, "=")
		usage(ts, !ok, "spec FILE TARGET [KEY=VALUE...]")
		var v any
		ts.Check(json.Unmarshal([]byte(value), &v))
		e[key] = v
	}
	doc := map[string]any{}
	for _, path := range slices.Sorted(maps.Keys(e)) { // an object before what is in it
		at, v := doc, e[path]
		keys := strings.Split(path, ".")
		for _, k := range keys[:len(keys)-1] {
			if at[k] == nil {
				at[k] = map[string]any{}
			}
			at = at[k].(map[string]any)
		}
		at[keys[len(keys)-1]] = v
	}
	text, err := json.MarshalIndent(doc, "", "  ")
	ts.Check(err)
	path := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
	ts.Check(os.WriteFile(path, append(text, '\n'), 0o644))
}

func scriptEnvsubst(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) < 1, "envsubst FILE...")
	for _, name := range args {
		text := regexp.MustCompile(`\$[A-Z]+\b`).ReplaceAllStringFunc(ts.ReadFile(name), func(v string) string {
			return ts.Getenv(v[1:])
		})
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o644))
	}
}

func scriptCapture(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) != 3, "capture NAME REGEXP FILE")
	re, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	m := re.FindStringSubmatch(ts.ReadFile(args[2]))
	if len(m) < 2 {
		ts.Fatalf("nothing in %s matches %s", args[2], args[1])
	}
	ts.Setenv(args[0], m[1])
}

func scriptMask(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) < 1, "mask FILE...")
	for _, name := range args {
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(masked(ts, ts.ReadFile(name))), 0o644))
	}
}

// volatile is what differs from run to run and from machine to machine, and
// what stands in its place.
var volatile = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`\br[0-9a-f]{8}-\d+\b`), "RUN"},
	{regexp.MustCompile(`\bcmp_[0-9a-f]{8}_s`), "cmp_SPEC_s"}, // made of the document, which holds the path of $WORK
	// The last line of a report, which is two if its figures are long.
	{regexp.MustCompile(`[\d.,]+/s( · |\n)[^·\n]+( · |\n)digest [0-9a-f]{16}( · |\n)run RUN`), "RATE · TIME · digest DIGEST · run RUN"},
	{regexp.MustCompile(`[^·\n]+( · |\n)digest [0-9a-f]{16}( · |\n)run RUN`), " TIME · digest DIGEST · run RUN"}, // of no case
	{regexp.MustCompile(`digest [0-9a-f]{64}\b`), "digest DIGEST"},
	{regexp.MustCompile(`"spec_sha256": "[0-9a-f]{64}"`), `"spec_sha256": "SHA256"`},
	// A long path of $WORK wraps the command line of a finding.
	{regexp.MustCompile(`(?s)\n  command  .*?\n  case `), "\n  command         COMMAND\n  case "},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z?`), "WHEN"},
}

// masked is text without what is volatile, and ready for cmp, which wants a
// last line that ends.
func masked(ts *testscript.TestScript, text string) string {
	text = strings.ReplaceAll(text, ts.Getenv("WORK"), "$WORK")
	for _, v := range volatile {
		text = v.pattern.ReplaceAllString(text, v.name)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}
