package spectest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/spectest/stage"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/speclang"
	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/port/pyhost"
)

// Limits of a command. Its output is kept in memory.
const (
	maxOutput = 4 << 20
	maxFile   = 128 << 20
)

// tempVariable is the environment variable with the case's temporary folder.
const tempVariable = "THRESH_TMPDIR"

// ended is the result of a command.
type ended struct {
	exit           int64
	stdout, stderr []byte
	cwd            string
}

// The attachments that list the changes in the shared folder while a failing case ran, one name per
// line: changedNote if no other command ran there at the same time, else meanwhileNote.
const (
	changedNote   = "changed"
	meanwhileNote = "changed-meanwhile"
)

// runCLI runs a cli.run case.
func (x *executor) runCLI(ctx context.Context, c *Case) (failure *Failure, shown evidence, err error) {
	run := x.runCommand
	if c.cli.python {
		run = x.runPython
	}
	dir := x.cwd
	if c.cli.isolate {
		var remove func() error
		if dir, remove, err = x.c.contract.targets.Scratch(); err != nil {
			return nil, nil, err
		}
		defer func() { err = errors.Join(err, remove()) }()
		if err := stage.Copy(dir, x.cwd); err != nil {
			return &Failure{Category: Runtime, Message: diag.Reason(err)}, nil, nil
		}
	}
	var notes evidence
	var w *stage.Watch
	if !c.cli.isolate {
		w = x.c.contract.watches.Begin(dir)
		defer func() {
			if change := w.End(failure != nil); failure != nil {
				notes.addChange(change)
				shown = notes
			}
		}()
	}
	e, f, err := run(x.bound(ctx, "", dir, w), c, dir)
	if over := x.files.end(); over != nil {
		f, err = over, nil
	}
	if err != nil {
		return nil, nil, err
	}
	notes.add("stdout", e.stdout)
	notes.add("stderr", e.stderr)
	if f != nil {
		return f, notes, nil
	}
	if e.exit != c.cli.exit {
		return x.eval.beside(exitFailure(c, e.exit), c, e), notes, nil
	}
	return x.eval.judge(c, e), notes, nil
}

// addChange adds the changes in the folder that commands share.
func (e *evidence) addChange(c stage.Change) {
	list, name := c.Paths, changedNote
	if c.More {
		list = append(list, "...")
	}
	if c.Shared {
		name = meanwhileNote
	}
	e.add(name, []byte(strings.Join(list, "\n")))
}

func exitFailure(c *Case, exit int64) *Failure {
	return &Failure{
		Category: Assertion, Path: "exit_code", Op: "exit_code", exit: exit,
		Message: fmt.Sprintf("[case_id=%s] exit_code expected=%d actual=%d", c.ID, c.cli.exit, exit),
		Want:    fmt.Sprintf("exit code %d, not %d", c.cli.exit, exit),
	}
}

// subject implements subjects.
func (e *ended) subject(target string) (speclang.Value, *Failure) {
	switch target {
	case "stdout":
		return speclang.StringValue(validText(e.stdout)), nil
	case "stderr":
		return speclang.StringValue(validText(e.stderr)), nil
	case "stdout_path", "stdout_path_text":
	default:
		return speclang.Value{}, &Failure{Category: Schema, Message: "unknown assert target: " + target}
	}
	path := ""
	for l := range bytes.Lines(e.stdout) {
		if path = strings.TrimSpace(validText(l)); path != "" {
			break
		}
	}
	if path == "" {
		return speclang.Value{}, &Failure{Category: Assertion, Message: "expected stdout to contain a path", Want: "stdout to contain a path"}
	}
	full := path
	if !filepath.IsAbs(full) {
		full = filepath.Join(e.cwd, path)
	}
	if target == "stdout_path" {
		return speclang.StringValue(full), nil
	}
	data, err := readFile(full)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return speclang.Value{}, &Failure{Category: Assertion, Message: "expected path to exist: " + path, Want: "the path that stdout names to exist"}
	case err != nil:
		return speclang.Value{}, &Failure{Category: Runtime, Message: "the path that stdout names cannot be read: " + diag.Reason(err)}
	case !bytes.Equal(data, bytes.ToValidUTF8(data, nil)):
		return speclang.Value{}, &Failure{Category: Schema, Message: "the file that stdout names is not UTF-8 text"}
	}
	return speclang.StringValue(unixLines(string(data))), nil
}

// validText replaces each byte that is not UTF-8 with U+FFFD, so that the number of invalid bytes
// still shows.
func validText(b []byte) string { return string([]rune(string(b))) }

// environment is the environment of a case's command; temp is its folder.
func (x *executor) environment(c *Case, temp string) []string {
	if temp != "" {
		x.files.keepsIn(temp)
	}
	var env []string
	gone := func(name string) bool {
		return slices.ContainsFunc(c.cli.env, func(s setting) bool { return s.name == name })
	}
	allow := x.c.set.allow
	for _, kv := range x.c.contract.environ() {
		name, _, _ := strings.Cut(kv, "=")
		if name == "" || gone(name) || allow != nil && !slices.Contains(allow, name) {
			continue
		}
		env = append(env, kv)
	}
	for _, s := range c.cli.env {
		if s.absent {
			continue
		}
		value := s.value
		if filepath.IsLocal(value) && value != "." && x.isSetup(c, value) {
			value = filepath.Join(temp, value)
		}
		env = append(env, s.name+"="+value)
	}
	return append(env, tempVariable+"="+temp)
}

// isSetup reports whether a value names a setup file, or a folder that holds one.
func (x *executor) isSetup(c *Case, value string) bool {
	value = filepath.Clean(value)
	return slices.ContainsFunc(c.cli.files, func(f stage.File) bool {
		return f.Path == value || strings.HasPrefix(f.Path, value+string(filepath.Separator))
	})
}

// commandLane runs command lines, or shells, under one time limit.
type commandLane struct {
	runner process.Runner
	runs   int64

	next  func(temp string) process.Command // the command to start; temp is a folder for its files
	setup error                             // setup files could not be written

	shell, where string // the shell found last, and the PATH it was found on
}

// laneKind describes the commands of a lane.
type laneKind struct {
	limit time.Duration
	shell bool // its commands are shell scripts
}

func (x *executor) commandLane(ctx context.Context, kind laneKind) (*commandLane, error) {
	if l := x.commands[kind]; l != nil {
		return l, nil
	}
	l, err := x.openLane(ctx, kind)
	if err != nil {
		return nil, err
	}
	if x.commands == nil {
		x.commands = make(map[laneKind]*commandLane)
	}
	x.commands[kind] = l
	return l, nil
}

// cacheKey is the name under which a lane is cached for later campaigns of the run. That is safe
// because what a command leaves behind is removed before the next one.
func (k laneKind) cacheKey(cold bool) string {
	return fmt.Sprintf("spectest command %s %t %t", k.limit, k.shell, cold)
}

// openLane opens a lane; the caller closes it.
func (x *executor) openLane(ctx context.Context, kind laneKind) (*commandLane, error) {
	if kept, ok := x.session.cache.Take(kind.cacheKey(x.lane.Cold)); ok {
		return kept.(*commandLane), nil // nothing else is cached under this key
	}
	if x.c.contract.targets.Commands == nil {
		return nil, campaign.Fatal("command lines cannot be run: %w", errNoTarget)
	}
	l := &commandLane{}
	r, err := x.c.contract.targets.Commands(ctx, process.Plan{
		Command: l.command, PerCase: true, Shell: kind.shell, Input: "stdin", Dirs: []string{"tmp"}, Stdin: true, Timeout: kind.limit,
		Limits: process.Limits{Output: maxOutput, FileSize: maxFile}, Executor: process.Spawn,
	}, x.lane.Index, x.lane.Of, x.lane.Cold)
	if err != nil {
		return nil, fmt.Errorf("preparing to run commands: %w", err)
	}
	l.runner = r
	return l, nil
}

// Close implements [io.Closer].
func (l *commandLane) Close() error { return l.runner.Close() }

// command is called at every start, when the run folder is empty.
func (l *commandLane) command(p process.Paths) process.Command {
	if l.next == nil {
		return process.Command{} // before the first case
	}
	return l.next(filepath.Join(p.RunDir, "tmp"))
}

// run runs the next command.
func (l *commandLane) run(ctx context.Context, stdin []byte) (process.Result, error) {
	l.runs++
	return l.runner.Run(ctx, process.Case{Index: l.runs, RunID: strconv.FormatInt(l.runs, 10), Input: stdin, Confirm: true})
}

func (x *executor) runCommand(ctx context.Context, c *Case, dir string) (*ended, *Failure, error) {
	e := &ended{cwd: dir}
	path, err := x.program(c)
	if err != nil {
		return e, &Failure{Category: Runtime, Message: fmt.Sprintf("entrypoint %s: %v", quoteClipped(c.cli.command[0]), err)}, nil
	}
	l, err := x.commandLane(ctx, laneKind{limit: c.cli.timeout})
	if err != nil {
		return e, nil, err
	}
	l.setup = nil
	l.next = func(temp string) process.Command {
		l.setup = stage.Write(temp, c.cli.files)
		argv := x.c.set.program.Programs(slices.Concat(c.cli.command, c.cli.argv))
		return process.Command{Path: path, Argv: argv, Env: x.environment(c, temp), Dir: dir}
	}
	res, err := l.run(ctx, []byte(c.cli.stdin))
	if l.setup != nil {
		return e, &Failure{Category: Runtime, Message: "setup_files: " + diag.Reason(l.setup)}, nil
	}
	if err != nil {
		if ctx.Err() != nil {
			return e, nil, ctx.Err()
		}
		if startFault(err) {
			return e, &Failure{Category: Runtime, Message: "the command cannot be started: " + diag.Reason(err)}, nil
		}
		return e, nil, err
	}
	e.stdout, e.stderr, e.exit = res.Stdout, res.Stderr, int64(res.ExitCode)
	if res.Status == process.Signaled {
		e.exit = 128 + int64(res.Signal)
	}
	switch {
	case res.Status == process.TimedOut:
		return e, timedOut(c), nil
	case res.OutputLimit || res.StdoutSize > maxOutput || res.StderrSize > maxOutput:
		return e, tooMuch(), nil
	}
	return e, nil, nil
}

func timedOut(c *Case) *Failure {
	return &Failure{Category: Runtime, Message: fmt.Sprintf("the command did not end within %s and was killed", c.cli.timeout)}
}

func tooMuch() *Failure {
	return &Failure{Category: Runtime, Message: fmt.Sprintf("the command printed more than %d MiB", maxOutput>>20)}
}

// startFault reports whether the program itself is the reason that it does not start.
func startFault(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOEXEC) || errors.Is(err, syscall.E2BIG)
}

// program finds the executable of a command line: a name with a slash is relative to the command's
// start folder; any other is looked up on the PATH that the command will see.
func (x *executor) program(c *Case) (string, error) {
	return x.programIn(x.c.set.program.Program(c.cli.command[0]), x.environment(c, ""))
}

// runPython runs module:function in its own process.
func (x *executor) runPython(ctx context.Context, c *Case, dir string) (*ended, *Failure, error) {
	e := &ended{cwd: dir}
	if err := x.openPython(ctx); err != nil {
		return e, nil, err
	}
	r := c.cli
	cmd := pyhost.Command{
		Entrypoint: strings.TrimSpace(r.entry), Argv: r.argv, SearchPath: []string{dir, x.dir}, Dir: dir,
		Environ: func(temp string) []string { return x.environment(c, temp) },
		Stdin:   r.stdin, StdinIsTTY: r.tty, StubModules: r.stubs, BlockImports: r.blocks,
		HookBefore: r.before, HookAfter: r.after, HookKwargs: r.kwargs, WantExit: r.exit, Timeout: r.timeout,
		Case:   pyhost.HookCase{ID: c.ID, Type: c.Type, DocPath: filepath.Join(x.dir, filepath.Base(x.c.doc.path)), Raw: r.raw, Harness: r.harness},
		Limits: process.Limits{Output: maxOutput, FileSize: maxFile},
	}
	if r.hasTitle {
		cmd.Case.Title = &c.Title
	}
	for _, f := range r.files {
		cmd.SetupFiles = append(cmd.SetupFiles, pyhost.SetupFile{Path: f.Path, Text: f.Text})
	}
	res, err := x.python.Run(ctx, cmd)
	if err != nil {
		return e, nil, err
	}
	e.stdout, e.stderr, e.exit = res.Stdout, res.Stderr, res.ExitCode
	switch res.Ending {
	case pyhost.Signaled:
		e.exit = 128 + int64(res.Signal)
	case pyhost.TimedOut:
		return e, timedOut(c), nil
	case pyhost.OutputLimit:
		return e, tooMuch(), nil
	case pyhost.Raised:
		if res.Fault != nil && len(res.Fault.Traceback) > 0 {
			e.stderr = append(slices.Clone(e.stderr), res.Fault.Traceback...)
		}
		return e, raised(c, res), nil
	}
	return e, nil, nil
}

// pythonKey is the name under which Python hosts are cached for later campaigns of the run. Each
// case has its own process, so a host keeps no state of a case.
func (x *executor) pythonKey() string { return "spectest python " + x.c.set.python }

// openPython opens the lane's Python host if there is none yet.
func (x *executor) openPython(ctx context.Context) error {
	if x.python != nil {
		return nil
	}
	if kept, ok := x.session.cache.Take(x.pythonKey()); ok {
		x.python = kept.(pyhost.Commander) // nothing else is cached under this key
		x.told = x.python.Notes()
		return nil
	}
	if x.c.contract.targets.Python == nil {
		return campaign.Fatal("Python functions cannot be run: %w", errNoTarget)
	}
	p, err := x.c.contract.targets.Python(ctx, x.c.set.python)
	if err != nil {
		return err
	}
	x.python = p
	return nil
}

// raised is the failure of a command that ended in an exception. An exception of the program under
// test is a runtime failure, whatever its class; a failed assertion in a hook is an assertion
// failure.
func raised(c *Case, res pyhost.CommandResult) *Failure {
	f := &Failure{Category: Runtime, Path: string(res.Phase), Message: string(res.Phase)}
	if res.Fault == nil {
		return f
	}
	text := res.Fault.Class
	if res.Fault.Message != "" {
		text += ": " + res.Fault.Message
	}
	f.Message = text
	switch res.Phase {
	case pyhost.PhaseHookBefore, pyhost.PhaseHookAfter:
		f.Message = string(res.Phase) + ": " + text
		if res.Fault.Is("AssertionError") {
			f.Category, f.Want = Assertion, string(res.Phase)+" to hold: "+text
		}
	case pyhost.PhaseLoad:
		f.Message = fmt.Sprintf("entrypoint %s: %s", c.cli.entry, text)
		if res.Fault.Is("TypeError") { // it exists, but is not callable
			f.Category = Schema
		}
	case pyhost.PhaseExit:
		f.Category, f.Message = Schema, "the function's exit value is not an exit code: "+text
	}
	return f
}
