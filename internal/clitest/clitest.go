// Package clitest tests the command line, in this process or in others: with lists of command lines
// and what they print ([Commands]), and with scripts where files have to be made, programs
// started or runs stored in between: face/cli/testdata/script/*.txtar,
// named <verb>_<topic>. Package cli runs them, each command in a separate process.
// Packages below run some of them within their test process, so that their tests fail when
// visible behaviour changes; package cli runs those only in CI. Only tests import it.
//
// Besides the commands of package testscript, scripts have
//
//	exits CODE PROGRAM ARG...            run a program, which must exit with CODE
//	interrupted CODE GATE PROGRAM ARG... the same, but interrupt it once it writes to the named pipe GATE
//	spec FILE TARGET [KEY=VALUE...]      write a FuzzSpec that runs the script TARGET
//	envsubst FILE...                     replace $WORK and other variables in files
//	capture NAME REGEXP FILE             set a variable to what the first group matches
//	mask FILE...                         remove from files what differs from run to run
//
// exits and interrupted write the program's output to $WORK/out and $WORK/err, masked, for cmp,
// and keep it unchanged for stdout and stderr.
//
// The condition [race] is true under the race detector, [long] if tests may take long.
//
// $WORK holds the files of testdata/program: letters.sh, a program with two
// bugs, fixed.sh, the same without them, and seed, an input on which both pass.
//
// $EXAMPLES is the folder of the examples.
package clitest

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

	"github.com/thresh-dev/thresh/face/cli"
	"github.com/thresh-dev/thresh/internal/testproc"
)

// Main runs the tests of a package. The test program is also thresh, for scripts and for the
// programs they start.
func Main(m testscript.TestingM) {
	// What documents call {thresh} is the program itself, which go test gives flags alone. So are
	// targets of the demonstration, and the process that tries a case that killed a run.
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		thresh()
	}
	testproc.Ready(8)
	testscript.Main(m, map[string]func(){"thresh": thresh})
}

func thresh() { os.Exit(cli.Main(os.Args, cli.System())) }

// Processes runs scripts, with every command in its own process, or updates their expected outputs:
// all scripts in CI and under the race detector, otherwise those that no package below runs.
func Processes(t *testing.T, update bool) {
	p := params(t)
	p.UpdateScripts = update
	files, err := filepath.Glob(filepath.Join(scripts(t), "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts: ", err)
	}
	elsewhere := below(t)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		if by := elsewhere[name]; by != "" && !update && !Raced && os.Getenv("THRESH_CI") == "" {
			t.Run(name, func(t *testing.T) { t.Skip(by + " runs it in its own process: set THRESH_CI=1 to run it here too") })
			continue
		}
		p.Files = append(p.Files, file)
	}
	testscript.Run(t, p)
}

var hereCall = regexp.MustCompile(`clitest\.Here\(t,([^)]*)\)`)

// below returns the scripts that packages run by [Here], with the files that name them.
func below(t *testing.T) map[string]string {
	names := map[string]string{}
	for _, dir := range []string{"app", "contract/*", "report", "run"} {
		files, _ := filepath.Glob(filepath.Join(root(t), filepath.FromSlash(dir), "scripts_linux_test.go")) // the pattern is sound
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, call := range hereCall.FindAllSubmatch(text, -1) {
				for _, name := range regexp.MustCompile(`\w+`).FindAllString(string(call[1]), -1) {
					names[name], _ = filepath.Rel(root(t), file)
				}
			}
		}
	}
	return names
}

// Here runs the scripts of these names, with the commands of thresh in this process. It skips them
// under the race detector: package cli runs the concurrent ones there.
func Here(t *testing.T, names ...string) {
	if Raced {
		t.Skip("scripts are looked over for races by package cli")
	}
	p := params(t)
	for _, name := range names {
		p.Files = append(p.Files, filepath.Join(scripts(t), name+".txtar"))
	}
	p.Cmds["exits"] = scriptCalls
	testscript.RunT(inOrder{t}, p)
}

// inOrder runs scripts one after another, because a process has one working directory.
type inOrder struct{ *testing.T }

func (t inOrder) Parallel()     {}
func (t inOrder) Verbose() bool { return testing.Verbose() }
func (t inOrder) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { f(inOrder{t}) })
}

// root is the root folder of the module.
func root(t *testing.T) string {
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	t.Fatal("no go.mod here or above: ", err)
	return ""
}

func scripts(t *testing.T) string { return filepath.Join(root(t), "face", "cli", "testdata", "script") }

func params(t *testing.T) testscript.Params {
	examples, program := filepath.Join(root(t), "examples"), os.DirFS(filepath.Join(root(t), "face", "cli", "testdata", "program"))
	work := folder(t)
	return testscript.Params{
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		WorkdirRoot:         work,
		Setup: func(e *testscript.Env) error {
			if work != "" {
				e.Defer(func() { _ = os.RemoveAll(e.WorkDir) }) // processes that still run may hold something open until the end
			}
			e.Setenv("EXAMPLES", examples)
			e.Setenv("TERM", "dumb")
			e.Setenv("CI", "")
			e.Setenv("NO_COLOR", "")
			e.Setenv("GOGC", os.Getenv("GOGC"))
			return os.CopyFS(e.WorkDir, program)
		},
		Condition: func(cond string) (bool, error) {
			if cond == "race" { // the race detector watches this program, and copies of it that it starts
				return Raced, nil
			}
			if cond == "long" {
				return testproc.Long(), nil
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
	}
}

// folder makes the folder of scripts if temporary files are in memory; "": testscript makes one.
// Both paths have the same length, because tables reserve space for paths and expected outputs
// depend on the length of $WORK.
func folder(t *testing.T) string {
	const disk, memory = "/tmp/go-test-script", "/dev/shm/go-scripts"
	if kept := flag.Lookup("testwork"); os.TempDir() != filepath.Dir(memory) || kept != nil && kept.Value.String() == "true" {
		t.Setenv("GOTMPDIR", filepath.Dir(disk))
		return ""
	}
	work, err := os.MkdirTemp(filepath.Split(memory))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(work); err != nil {
			t.Error(err)
		}
	})
	return work
}

// usage ends a script that calls one of its commands incorrectly.
func usage(ts *testscript.TestScript, wrong bool, text string) {
	if wrong {
		ts.Fatalf("usage: %s", text)
	}
}

func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) < 2, "exits CODE PROGRAM ARG...")
	ended(ts, args[0], ts.Exec(args[1], args[2:]...), ts.ReadFile("stdout"), ts.ReadFile("stderr"))
}

// scriptCalls is scriptExits, with thresh in this process.
func scriptCalls(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) < 2, "exits CODE PROGRAM ARG...")
	if args[1] != "thresh" {
		scriptExits(ts, neg, args)
		return
	}
	ts.Check(ts.Exec("cat")) // standard input from the script
	in := ts.ReadFile("stdout")
	was, err := os.Getwd()
	ts.Check(err)
	for _, k := range []string{"HOME", "PATH", "TMPDIR", "TERM", "THRESH_CACHE", "LEAKED_KEY", "MORE", "SKIP"} { // for programs that it starts
		old := os.Getenv(k)
		ts.Check(os.Setenv(k, ts.Getenv(k)))
		defer func() { ts.Check(os.Setenv(k, old)) }()
	}
	ts.Check(os.Chdir(ts.MkAbs(".")))
	defer func() { ts.Check(os.Chdir(was)) }()
	var out, errs bytes.Buffer
	code := cli.Main(args[1:], cli.Stdio{In: strings.NewReader(in), Out: &out, Err: &errs, Getenv: ts.Getenv})
	if want := args[0]; strconv.Itoa(code) != want {
		ts.Fatalf("%s\n%s\nexit code %d, want %s", &out, &errs, code, want)
	}
	if open := testproc.OpenBelow(ts.Getenv("WORK")); len(open) > 0 { // a server runs the same code for days
		ts.Fatalf("left open: %q", open)
	}
	shown(ts, &out, &errs)
	written(ts, out.String(), errs.String())
}

// ended checks the exit code of a program that ended.
func ended(ts *testscript.TestScript, want string, err error, stdout, stderr string) {
	code := 0
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		code = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != want {
		ts.Fatalf("exit code %d, want %s", code, want)
	}
	written(ts, stdout, stderr)
}

// written stores a program's output for cmp.
func written(ts *testscript.TestScript, stdout, stderr string) {
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
	// Held open for writing as well, so that opening does not block and the end of this test ends the
	// reader.
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
	case err = <-done:
		fmt.Fprintf(ts.Stderr(), "%s", stderr.String())
		ts.Fatalf("%s ended before it wrote to %s: %v", args[2], args[1], err)
	}
	shown(ts, &stdout, &stderr)
	ended(ts, args[0], err, stdout.String(), stderr.String())
}

// shown stores a program's output for stdout and stderr.
func shown(ts *testscript.TestScript, stdout, stderr *bytes.Buffer) {
	_, err := ts.Stdout().Write(stdout.Bytes())
	ts.Check(err)
	_, err = ts.Stderr().Write(stderr.Bytes())
	ts.Check(err)
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

// scriptSpec writes a document with 40 cases of the file "seed". VALUE is JSON; a KEY with dots
// reaches into nested objects.
func scriptSpec(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) < 2, "spec FILE TARGET [KEY=VALUE...]")
	work := ts.Getenv("WORK")
	name := strings.TrimSuffix(filepath.Base(args[0]), ".json")
	e := map[string]any{
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
	for _, path := range slices.Sorted(maps.Keys(e)) { // an object precedes its content
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

// volatile lists what differs from run to run or between machines, with replacements.
var volatile = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`\br[0-9a-f]{8}-\d+\b`), "RUN"},
	{regexp.MustCompile(`\bcmp_[0-9a-f]{8}_s`), "cmp_SPEC_s"}, // derived from the document, which contains the path of $WORK
	// The last line of a report; long figures break it into two.
	{regexp.MustCompile(`[\d.,]+/s( · |\n)[^·\n]+( · |\n)digest [0-9a-f]{16}( · |\n)run RUN`), "RATE · TIME · digest DIGEST · run RUN"},
	{regexp.MustCompile(`[^·\n]+( · |\n)digest [0-9a-f]{16}( · |\n)run RUN`), " TIME · digest DIGEST · run RUN"}, // a run without cases
	{regexp.MustCompile(`digest [0-9a-f]{64}\b`), "digest DIGEST"},
	{regexp.MustCompile(`"spec_sha256": "[0-9a-f]{64}"`), `"spec_sha256": "SHA256"`},
	// A long path of $WORK wraps the command line of a finding.
	{regexp.MustCompile(`(?s)\n  command  .*?\n  case `), "\n  command         COMMAND\n  case "},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z?`), "WHEN"},
}

// masked is text without volatile parts, ending in a line end, as cmp requires.
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
