//go:build unix

package python

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/internal/testproc"
	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/port/pyhost"
)

// patience is the limit of cases that are to end by themselves.
const patience = 60 * time.Second

// Wrappers on PATH take longer to start than most tests to run.
func TestMain(m *testing.M) {
	testproc.Ready(8)
	os.Exit(m.Run())
}

func python(t testing.TB) string {
	t.Helper()
	path, err := Interpreter("")
	if err != nil {
		t.Skipf("no Python here: %v", err)
	}
	return path
}

// code returns a folder with the Python files of testdata, where an interpreter
// may write its caches.
func code(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// bench runs commands of one module of testdata.
type bench struct {
	t      testing.TB
	module string
	dir    string
	c      *commander
}

func openBench(t testing.TB, module string) *bench {
	t.Helper()
	dir := code(t)
	c, err := OpenCommander(context.Background(), python(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return &bench{t: t, module: module, dir: dir, c: c.(*commander)}
}

func (b *bench) run(edit func(*pyhost.Command), argv ...string) pyhost.CommandResult {
	b.t.Helper()
	cmd := pyhost.Command{
		Entrypoint: b.module + ":main", Argv: argv, SearchPath: []string{b.dir}, Timeout: patience,
		Environ: func(temp string) []string { return append(os.Environ(), "TEMP_OF_CASE="+temp) },
	}
	if edit != nil {
		edit(&cmd)
	}
	res, err := b.c.Run(b.t.Context(), cmd)
	if err != nil {
		b.t.Fatalf("%v: %v", argv, err)
	}
	return res
}

func (b *bench) prints(want string, edit func(*pyhost.Command), argv ...string) {
	b.t.Helper()
	res := b.run(edit, argv...)
	if res.Ending != pyhost.Finished || res.Phase != pyhost.PhaseDone || string(res.Stdout) != want {
		b.t.Errorf("%v: %s in %s (%v), printed %q %q, want %q", argv, res.Ending, res.Phase, res.Fault, res.Stdout, res.Stderr, want)
	}
}

func TestExitCodes(t *testing.T) {
	b := openBench(t, "prog")
	for _, tc := range []struct {
		verb, value string
		code        int64
		class       string // of the fault, if it is not an exit code
	}{
		{"give", "None", 0, ""}, {"give", "0", 0, ""}, {"give", "3", 3, ""}, {"give", "True", 1, ""}, {"give", "'3'", 3, ""},
		{"give", "3.9", 3, ""}, {"give", "-1", -1, ""}, {"give", "256", 256, ""}, {"give", "2**70", 0, "OverflowError"},
		{"give", "'x'", 0, "ValueError"}, {"give", "[]", 0, "TypeError"}, {"give", "float('nan')", 0, "ValueError"},
		{"exit", "None", 0, ""}, {"exit", "4", 4, ""}, {"exit", "True", 1, ""}, {"exit", "'message'", 0, "ValueError"},
	} {
		res := b.run(nil, tc.verb, tc.value)
		if tc.class != "" {
			if res.Ending != pyhost.Raised || res.Phase != pyhost.PhaseExit || !res.Fault.Is(tc.class) {
				t.Errorf("%s %s: %s in %s, fault %v", tc.verb, tc.value, res.Ending, res.Phase, res.Fault)
			}
		} else if res.Ending != pyhost.Finished || res.ExitCode != tc.code {
			t.Errorf("%s %s: %s with %d, fault %v", tc.verb, tc.value, res.Ending, res.ExitCode, res.Fault)
		}
	}
}

func TestExceptions(t *testing.T) {
	b := openBench(t, "prog")
	res := b.run(nil, "raise", "ValueError", "boom")
	f := res.Fault
	if res.Ending != pyhost.Raised || res.Phase != pyhost.PhaseMain || f.Class != "ValueError" || f.Message != "boom" || filepath.Base(f.File) != "prog.py" {
		t.Errorf("%+v", res)
	}
	if line := lineOf(t, filepath.Join(b.dir, "prog.py"), "raise getattr"); f.Line != line {
		t.Errorf("line %d, want %d", f.Line, line)
	}
	if strings.Contains(f.Traceback, "thresh host") || !strings.Contains(f.Traceback, "do_raise") {
		t.Errorf("traceback: %s", f.Traceback)
	}
	res = b.run(nil, "library")
	if f := res.Fault; f.Class != "json.decoder.JSONDecodeError" || !f.Is("ValueError") || f.Line != lineOf(t, filepath.Join(b.dir, "prog.py"), `json.loads("{")`) {
		t.Errorf("%v", f)
	}
	if res := b.run(nil, "raise", "KeyboardInterrupt", ""); res.Fault == nil || res.Fault.Class != "KeyboardInterrupt" {
		t.Errorf("%+v", res)
	}
}

func lineOf(t *testing.T, file, text string) int {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(data), "\n") {
		if strings.Contains(line, text) {
			return i + 1
		}
	}
	t.Fatalf("%q is not in %s", text, file)
	return 0
}

func TestEntrypoints(t *testing.T) {
	b := openBench(t, "prog")
	for _, tc := range []struct{ entry, class, message string }{
		{"prog", "ValueError", "invalid entrypoint (expected module:attr): prog"},
		{":main", "ValueError", "invalid entrypoint (expected module:attr): :main"},
		{"prog:nope", "AttributeError", "entrypoint attribute not found: prog:nope"},
		{"prog:seen.append", "AttributeError", "entrypoint attribute not found: prog:seen.append"},
		{"prog:not_callable", "TypeError", "entrypoint is not callable: prog:not_callable"},
		{"no_such:main", "ModuleNotFoundError", "No module named 'no_such'"},
		{"broken:main", "SyntaxError", ""},
	} {
		res := b.run(func(c *pyhost.Command) { c.Entrypoint = tc.entry }, "echo")
		if res.Ending != pyhost.Raised || res.Phase != pyhost.PhaseLoad || res.Fault.Class != tc.class || tc.message != "" && res.Fault.Message != tc.message {
			t.Errorf("%s: %s in %s: %v", tc.entry, res.Ending, res.Phase, res.Fault)
		}
		if tc.class == "SyntaxError" && (filepath.Base(res.Fault.File) != "broken.py" || res.Fault.Line != 2) {
			t.Errorf("%s: at %s:%d", tc.entry, res.Fault.File, res.Fault.Line)
		}
	}
	b.prints("hi\n", func(c *pyhost.Command) { c.Entrypoint = " prog : main " }, "echo", "hi")
}

func TestSurroundings(t *testing.T) {
	b := openBench(t, "prog")
	set := func(entries ...string) func(*pyhost.Command) {
		return func(c *pyhost.Command) { c.Environ = func(string) []string { return entries } }
	}
	b.prints("'a=b'\n", set("X=a=b", "PATH=/bin:/usr/bin"), "env", "X")
	b.prints("None\n", set("PATH=/bin:/usr/bin"), "env", "HOME")
	b.prints("a=b", set("X=a=b", "PATH=/bin:/usr/bin"), "child_env", "X")
	b.prints("unset", set("PATH=/bin:/usr/bin"), "child_env", "PYTHONHASHSEED")
	b.prints("False ''\n", nil, "stdin")
	b.prints("True 'a\\r\\nb'\n", func(c *pyhost.Command) { c.Stdin, c.StdinIsTTY = "a\r\nb", true }, "stdin")
	b.prints("text", func(c *pyhost.Command) { c.Stdin = "text" }, "stdin_fd")
	b.prints("c ''\na/b.txt 'x'\n", func(c *pyhost.Command) {
		c.SetupFiles = []pyhost.SetupFile{{Path: "a/b.txt", Text: "x"}, {Path: "c"}}
	}, "files")
	b.prints("\u00e9\u20ac\\ud800\n", nil, "unicode")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b.prints(dir+" ['prog', 'cwd']\n", func(c *pyhost.Command) { c.Dir = dir }, "cwd")
	for _, path := range []string{"../out", "c/d"} {
		res := b.run(func(c *pyhost.Command) { c.SetupFiles = []pyhost.SetupFile{{Path: "c"}, {Path: path}} }, "files")
		if res.Ending != pyhost.Raised || res.Phase != pyhost.PhaseSetup || !res.Fault.Is("OSError") {
			t.Errorf("%s: %+v", path, res)
		}
	}
	if runtime.GOOS == "linux" { // the fourth is that of the listing itself
		b.prints("[0, 1, 2, 3, 200]\n0 1 2 3 ", func(c *pyhost.Command) { c.Stdin = "x" }, "fds")
	}
}

func TestCaptureOfDescriptors(t *testing.T) {
	b := openBench(t, "prog")
	res := b.run(nil, "levels")
	if got := string(res.Stdout); got != "python\ndescriptor\nchild\nno newline" {
		t.Errorf("stdout %q", got)
	}
	if got := string(res.Stderr); got != "err\nunended" {
		t.Errorf("stderr %q", got)
	}
}

func TestImports(t *testing.T) {
	b := openBench(t, "prog")
	block := func(names ...string) func(*pyhost.Command) {
		return func(c *pyhost.Command) { c.BlockImports = names }
	}
	stub := func(names ...string) func(*pyhost.Command) {
		return func(c *pyhost.Command) { c.StubModules = names }
	}
	b.prints("missing xml.dom\n", block("xml"), "import", "xml.dom")
	b.prints("missing xml.dom\n", block("xml.dom"), "from", "xml", "dom")
	b.prints("imported\n", block("xml.dom"), "from", "xml", "sax")
	b.prints("imported module\n", block("jso"), "import", "json")
	b.prints("xml\n", block("xml"), "importlib", "xml")
	b.prints("imported SimpleNamespace\n", stub("no_such"), "import", "no_such")
	b.prints("missing no_such\n", stub("no_such.sub"), "import", "no_such.sub")
	b.prints("imported\n", stub("openai"), "from", "openai", "OpenAI")
	b.prints("missing no_such\n", func(c *pyhost.Command) { c.StubModules, c.BlockImports = []string{"no_such"}, []string{"no_such"} }, "import", "no_such")
}

func TestHooks(t *testing.T) {
	b := openBench(t, "prog")
	report := filepath.Join(t.TempDir(), "report")
	hooked := func(edit func(*pyhost.Command)) func(*pyhost.Command) {
		return func(c *pyhost.Command) {
			c.HookBefore, c.HookAfter, c.HookKwargs = "prog:before", "prog:after", json.RawMessage(`{"a":1}`)
			c.Case = pyhost.HookCase{ID: "X", Type: "cli.run", DocPath: "/docs/x.md", Harness: json.RawMessage(`{"k":1}`)}
			c.Environ = func(temp string) []string { return append(os.Environ(), "REPORT="+report) }
			if edit != nil {
				edit(c)
			}
		}
	}
	b.prints("before X cli.run x.md ['k'] ['a'] True\n'yes'\n", hooked(nil), "env", "HOOKED")
	var seen struct {
		Exit   int `json:"exit_code"`
		Stdout string
		Path   string `json:"stdout_path"`
		Seen   string
		Kwargs map[string]int
	}
	data, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &seen); err != nil || !strings.HasSuffix(seen.Stdout, "'yes'\n") || !strings.HasPrefix(seen.Path, "before X") || seen.Kwargs["a"] != 1 {
		t.Errorf("hook_after saw %s (%v)", data, err)
	}
	if !strings.HasPrefix(seen.Seen, "before X") {
		t.Errorf("ctx.capture gave %q", seen.Seen)
	}
	os.Remove(report)
	if res := b.run(hooked(nil), "give", "2"); res.ExitCode != 2 || res.Ending != pyhost.Finished {
		t.Errorf("%+v", res)
	}
	if _, err := os.Stat(report); err == nil {
		t.Error("hook_after was called although the exit code is not the one that was wanted")
	}
	res := b.run(hooked(func(c *pyhost.Command) { c.HookAfter = "prog:after_fails" }), "echo", "out")
	if res.Ending != pyhost.Raised || res.Phase != pyhost.PhaseHookAfter || !res.Fault.Is("AssertionError") || !strings.HasSuffix(string(res.Stdout), "out\n") {
		t.Errorf("%+v", res)
	}
	res = b.run(hooked(func(c *pyhost.Command) { c.HookKwargs = json.RawMessage(`{"case":1}`) }), "echo", "out")
	if res.Phase != pyhost.PhaseHookBefore || !res.Fault.Is("TypeError") {
		t.Errorf("%+v", res)
	}
}

func TestCasesAreStrangers(t *testing.T) {
	b := openBench(t, "prog")
	for range 2 {
		b.prints("1 False\n", nil, "state")
	}
	b.prints("None\n", nil, "env", "LEFT")
	b.prints("", nil, "files")
}

func TestInterpreters(t *testing.T) {
	t.Setenv("THRESH_PYTHON", "/no/such/python")
	_, err := OpenCommander(t.Context(), "")
	if diag.ExitCode(err) != diag.ExitEnvironment || !strings.Contains(diag.Hint(err), "3.8") || !strings.Contains(err.Error(), "THRESH_PYTHON") {
		t.Errorf("%v (hint %q)", err, diag.Hint(err))
	}
	old := filepath.Join(t.TempDir(), "python3")
	script := "#!/bin/sh\nprintf '00000012{\"python\":\"3.6.9\"}' >&3\n"
	if err := os.WriteFile(old, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err = OpenCommander(t.Context(), old); err == nil || !strings.Contains(err.Error(), "Python 3.6.9, older than 3.8") {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(old, []byte("#!/bin/sh\necho broken installation >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err = OpenCommander(t.Context(), old); diag.ExitCode(err) != diag.ExitEnvironment || !strings.Contains(err.Error(), "broken installation") {
		t.Errorf("%v", err)
	}
}

func TestCancel(t *testing.T) {
	b := openBench(t, "hostile")
	ctx, cancel := context.WithCancel(t.Context())
	ready := filepath.Join(t.TempDir(), "ready")
	go func() { // the case says that it runs by opening a pipe
		if f, err := os.OpenFile(ready, os.O_RDONLY, 0); err == nil {
			f.Close()
		}
		cancel()
	}()
	cmd := pyhost.Command{Entrypoint: "hostile:main", Argv: []string{"loop"}, SearchPath: []string{b.dir}, Timeout: patience}
	if err := mkfifo(ready); err != nil {
		t.Skipf("no named pipes: %v", err)
	}
	cmd.Argv = []string{"open_and_loop", ready}
	if _, err := b.c.Run(ctx, cmd); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	b.prints("fine\n", nil, "fine")
}

func TestNotes(t *testing.T) {
	b := openBench(t, "prog")
	if notes := b.c.Notes(); !slices.ContainsFunc(notes, func(n string) bool { return strings.HasPrefix(n, "Python 3.") }) {
		t.Errorf("%q", notes)
	}
}

func BenchmarkCommand(b *testing.B) {
	x := openBench(b, "prog")
	for b.Loop() {
		x.run(func(c *pyhost.Command) { c.Limits = process.Limits{AddressSpace: 1 << 30} }, "give", "0")
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cases/s")
}
