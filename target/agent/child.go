package agent

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
	"github.com/thresh-dev/thresh/engine/process"
	"github.com/thresh-dev/thresh/target/lineage"
)

const (
	// grace is what a program gets to end by itself before it is killed.
	grace = time.Second
	// tailSize is how much of what it writes is kept.
	tailSize = 16 << 10
)

// program is how a child is started.
type program struct {
	argv   []string
	dir    string
	env    []string // added to that of Thresh
	limits process.Limits
	talks  bool // its standard input and output are ours to talk over
}

// child is a program that runs beside Thresh, a process group of its own. What
// it starts and puts into other groups and sessions ends with it as well.
type child struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser // of one that talks
	stdout io.ReadCloser
	output *tail
	gone   chan struct{} // closed when it has ended
	end    string        // how, then
}

// startChild starts a program. The goroutine that starts it keeps its thread:
// the kernel kills the child when that thread ends, as it does with Thresh.
func startChild(p program) (*child, error) {
	path, err := lookup(p.argv[0], p.dir)
	if err != nil {
		return nil, err
	}
	c := &child{output: &tail{}, gone: make(chan struct{})}
	c.cmd = &exec.Cmd{Path: path, Args: p.argv, Dir: p.dir, Env: append(os.Environ(), p.env...),
		Stderr: c.output, SysProcAttr: attributes(), WaitDelay: grace}
	var theirs []io.Closer
	if p.talks {
		in, err := c.cmd.StdinPipe()
		if err != nil {
			return nil, fmt.Errorf("make a pipe: %w", err)
		}
		r, w, err := os.Pipe()
		if err != nil {
			return nil, fmt.Errorf("make a pipe: %w", err)
		}
		c.stdin, c.stdout, c.cmd.Stdout = in, r, w
		theirs = append(theirs, w)
	} else {
		c.cmd.Stdout = c.output
	}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := c.cmd.Start()
		for _, f := range theirs {
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			started <- err
			return
		}
		// The program has hardly been loaded yet, and has no children.
		family, err := lineage.New(c.cmd.Process.Pid)
		if errors.Is(err, syscall.ESRCH) {
			err = nil // it has ended already
		}
		if err != nil {
			killGroup(c.cmd.Process.Pid)
		}
		started <- err
		// WaitDelay has cut the output of what outlives it; that is no error here.
		if err := c.cmd.Wait(); c.cmd.ProcessState == nil {
			c.end = err.Error()
		} else {
			c.end = c.cmd.ProcessState.String()
		}
		killGroup(c.cmd.Process.Pid)
		family.Sweep()
		close(c.gone)
	}()
	if err := <-started; err != nil {
		if c.stdout != nil {
			c.stdout.Close()
		}
		return nil, diag.Environment("start the agent %s: %w", p.argv[0], err)
	}
	if err := limit(c.cmd.Process.Pid, p.limits); err != nil {
		c.kill()
		return nil, diag.Environment("limit the agent %s: %w", p.argv[0], err)
	}
	return c, nil
}

// lookup finds an executable: in dir if the name has a slash, else on PATH.
func lookup(name, dir string) (string, error) {
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
		return "", diag.WithHint(diag.Environment("find the agent's program %s: %w", name, err),
			"give its path, relative to the document, or a name that is on PATH")
	}
	return path, nil
}

// alive reports whether the child has not ended.
func (c *child) alive() bool {
	select {
	case <-c.gone:
		return false
	default:
		return true
	}
}

// endsWithin waits a moment for a child's end to be known.
func (c *child) endsWithin(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c.gone:
		return true
	case <-t.C:
	case <-ctx.Done():
	}
	return !c.alive()
}

// stop asks a child to end, then makes it.
func (c *child) stop() {
	if c.stdin != nil {
		c.stdin.Close()
	}
	terminate(c.cmd.Process.Pid)
	if !c.endsWithin(context.Background(), grace) {
		c.kill()
	}
	if c.stdout != nil {
		c.stdout.Close()
	}
}

func (c *child) kill() {
	killGroup(c.cmd.Process.Pid)
	<-c.gone
}

// tail keeps the end of what is written to it.
type tail struct {
	mu    sync.Mutex
	kept  []byte
	fresh int // bytes of kept that take has not returned
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - tailSize; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	t.fresh = min(t.fresh+len(p), len(t.kept))
	return len(p), nil
}

// take is what was written since it was called last.
func (t *tail) take() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := string(t.kept[len(t.kept)-t.fresh:])
	t.fresh = 0
	return strings.ToValidUTF8(text, "�")
}

// last is the end of all, as a clause of an error: its last lines.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(t.kept), "�")), "\n")
	text := strings.Join(lines[max(0, len(lines)-5):], "\n")
	if text == "" {
		return "; it wrote nothing"
	}
	return "; it wrote last:\n" + text
}
