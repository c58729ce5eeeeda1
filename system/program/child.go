package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/system/lineage"
)

// grace is how long a program may take to end by itself before it is killed.
const grace = time.Second

// Spec describes how to start a child.
type Spec struct {
	Noun  string // name for messages: "agent", "system"
	Argv  []string
	Dir   string
	Env   []string // added to Thresh's environment
	Talks bool     // we talk to it over its standard input and output
	// Watch is called with every line that Output receives; nil: nobody watches.
	Watch func(line string)
}

// Child is a program that runs beside Thresh in its own process group. Processes that it starts end
// with it, even in other groups and sessions.
type Child struct {
	Stdin  io.WriteCloser // of one that talks
	Stdout *os.File       // of one that talks
	Output *Tail          // standard error, and standard output of one that does not talk

	cmd  *exec.Cmd
	gone chan struct{} // closed when the child has ended
	end  string        // how it ended, once gone is closed
}

// Start starts a program. The goroutine that starts it keeps its thread, because the kernel kills
// the child when that thread ends, and thereby also when Thresh ends.
func Start(p Spec) (*Child, error) {
	path, err := Lookup(p.Noun, p.Argv[0], p.Dir)
	if err != nil {
		return nil, err
	}
	c := &Child{Output: &Tail{watch: p.Watch}, gone: make(chan struct{})}
	c.cmd = &exec.Cmd{Path: path, Args: p.Argv, Dir: p.Dir, Env: append(os.Environ(), p.Env...),
		SysProcAttr: attributes(), WaitDelay: grace}
	var ours, theirs []*os.File
	pipe := func() (r, w *os.File) {
		r, w, e := os.Pipe()
		if e != nil {
			err = errors.Join(err, fmt.Errorf("make a pipe: %w", e))
			return nil, nil
		}
		return r, w
	}
	said, says := pipe()
	ours, theirs = append(ours, said), append(theirs, says)
	c.cmd.Stderr, c.cmd.Stdout = says, says
	if p.Talks {
		stdin, write := pipe()
		read, stdout := pipe()
		ours, theirs = append(ours, write, read), append(theirs, stdin, stdout)
		c.Stdin, c.Stdout = write, read
		c.cmd.Stdin, c.cmd.Stdout = stdin, stdout
	}
	if err != nil {
		closeAll(append(ours, theirs...))
		return nil, err
	}
	started := make(chan error)
	go c.watch(started, theirs)
	if err := <-started; err != nil {
		closeAll(ours)
		return nil, diag.Environment("start the %s %s: %w", p.Noun, p.Argv[0], err)
	}
	c.Output.follow(said)
	return c, nil
}

// watch starts the program and waits for its end.
func (c *Child) watch(started chan<- error, theirs []*os.File) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := c.cmd.Start()
	closeAll(theirs)
	if err != nil {
		started <- err
		return
	}
	// The program has just been loaded and has no children yet.
	family, err := lineage.New(c.cmd.Process.Pid)
	if errors.Is(err, syscall.ESRCH) {
		err = nil // the program has already ended
	}
	if err != nil {
		killGroup(c.cmd.Process.Pid)
	}
	started <- err
	if err := c.cmd.Wait(); c.cmd.ProcessState == nil {
		c.end = err.Error()
	} else {
		c.end = c.cmd.ProcessState.String()
	}
	killGroup(c.cmd.Process.Pid)
	family.Sweep()
	close(c.gone)
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// State returns how the child ended; nil while it runs.
func (c *Child) State() *os.ProcessState {
	if c.Alive() {
		return nil
	}
	return c.cmd.ProcessState
}

// Failed returns the child if it has ended with an error, otherwise nil.
func (c *Child) Failed() *Child {
	if state := c.State(); state == nil || state.Success() {
		return nil
	}
	return c
}

// End describes how the child ended.
func (c *Child) End() string {
	if c.Alive() {
		return "it has not ended"
	}
	return c.end
}

// Lookup finds an executable: relative to dir if the name has a slash, else on PATH.
func Lookup(noun, name, dir string) (string, error) {
	at, err := name, error(nil)
	if strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name) {
		at, err = filepath.Abs(filepath.Join(dir, name))
	}
	path := ""
	if err == nil {
		path, err = exec.LookPath(at)
	}
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", diag.WithHint(diag.Environment("find the %s's program %s: %w", noun, name, err),
			"give its path, relative to the document, or a name that is on PATH")
	}
	return path, nil
}

// Alive reports whether the child has not ended.
func (c *Child) Alive() bool {
	select {
	case <-c.gone:
		return false
	default:
		return true
	}
}

// EndsWithin waits up to d for the child's end and reports whether it has ended.
func (c *Child) EndsWithin(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c.gone:
		return true
	case <-t.C:
	case <-ctx.Done():
	}
	return !c.Alive()
}

// Stop asks a child to end and kills it if it does not.
func (c *Child) Stop() {
	if c.Stdin != nil {
		c.Stdin.Close()
	}
	terminate(c.cmd.Process.Pid)
	if !c.EndsWithin(context.Background(), grace) {
		c.Kill()
	}
	if c.Stdout != nil {
		c.Stdout.Close()
	}
}

// Kill kills a child at once and waits for its end.
func (c *Child) Kill() {
	killGroup(c.cmd.Process.Pid)
	<-c.gone
}

// Attached runs a program on this process's standard streams, with additional variables, and
// returns its exit code. When the context ends, it interrupts the program.
func Attached(ctx context.Context, argv, env []string) (code int, err error) {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.Env, c.WaitDelay = append(os.Environ(), env...), 10*grace
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	err = c.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return max(1, exit.ExitCode()), nil
	}
	if err != nil {
		return 0, diag.Environment("starting %s: %w", argv[0], err)
	}
	return 0, nil
}

// tailSize is how many bytes of a program's output are kept: a report that quotes the longest text
// given to a program must keep its beginning.
const tailSize = 64 << 10

// Tail keeps the last tailSize bytes of a program's output.
type Tail struct {
	mu    sync.Mutex
	from  syscall.RawConn // can be read without blocking
	chunk []byte          // read buffer
	kept  []byte
	fresh int    // bytes of kept that Take has not returned
	line  []byte // current line, for watch
	watch func(line string)
}

func (t *Tail) add(p []byte) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - tailSize; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	t.fresh = min(t.fresh+len(p), len(t.kept))
	if t.watch == nil {
		return
	}
	for _, b := range p {
		if b == '\n' {
			t.watch(strings.TrimSuffix(string(t.line), "\r"))
			t.line = t.line[:0]
		} else if len(t.line) < tailSize {
			t.line = append(t.line, b)
		}
	}
}

// Take returns what was written since the last call.
func (t *Tail) Take() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sync()
	text := string(t.kept[len(t.kept)-t.fresh:])
	t.fresh = 0
	return strings.ToValidUTF8(text, "\uFFFD")
}

// Last returns the last lines of the output as a clause of an error.
func (t *Tail) Last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sync()
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(t.kept), "\uFFFD")), "\n")
	text := strings.Join(lines[max(0, len(lines)-5):], "\n")
	if text == "" {
		return "; it wrote nothing"
	}
	return "; it wrote last:\n" + text
}
