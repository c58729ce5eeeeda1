//go:build unix

package python

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/port/pyhost"
	"github.com/thresh-dev/thresh/system/lineage"
)

//go:embed host/*.py
var hostFiles embed.FS

// The files of the host in the order in which they are joined, those for a system apart:
// a fork copies the tables of all memory that there is.
var (
	hostOrder   = []string{"wire", "fault", "zygote", "command", "operators", "tools", "agent"}
	systemOrder = []string{"wire", "fault", "zygote", "system"}
)

// Waits for our own code, not for the user's. They are long, because the
// machine may be busy, and end in an error, because it may be broken.
const (
	startLimit = 60 * time.Second // for an interpreter to start
	orderLimit = 30 * time.Second // for the zygote to do what it is told
)

// zygote is a warm interpreter and what can be asked of it: to fork a child,
// and to kill it with all that it has started.
type zygote struct {
	path    string // interpreter
	version string
	cmd     *exec.Cmd
	link    link
	stderr  bounded
	mark    lineage.Mark
	exited  chan struct{} // closed when cmd has been waited for
	// subreaper: orphans come to the zygote. Without, they are found by mark.
	subreaper bool
	// operations are those of what was loaded beforehand.
	operations []operationNote
	class      bool // each child makes an object first, and says so
}

// preloadVariable tells the host what of the user it loads before it forks.
const preloadVariable = "THRESH_PYTHON_LOADS"

// bindNow has the loader look up all functions at once: what the zygote has not called,
// each child would look up anew. The host removes it before it loads anything.
const bindNow = "LD_BIND_NOW=thresh"

// preload is what the warm interpreter loads before it forks.
type preload struct {
	Dir  string `json:"dir"`
	Home string `json:"home"` // where it runs
	File string `json:"file"`
	Name string `json:"name"`
	at   string // where a document names it
}

// operationNote is an operation of what was loaded.
type operationNote struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Arguments   []argumentNote `json:"arguments"`
}

type argumentNote struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Required bool   `json:"required"`
}

// note is a frame of the zygote.
type note struct {
	Python     string          `json:"python"`
	Executable string          `json:"executable"`
	Subreaper  bool            `json:"subreaper"`
	Operations []operationNote `json:"operations"`
	Class      bool            `json:"class"`
	Fault      *pyhost.Fault   `json:"fault"`
	Refused    string          `json:"refused"`
	Status     *int            `json:"status"`
	Leftovers  int             `json:"leftovers"`
}

// errHost is wrapped by errors of a zygote that is of no further use.
var errHost = errors.New("the Python host is gone")

func startZygote(ctx context.Context, path string, load *preload) (*zygote, error) {
	ours, theirs, err := socketpair()
	if err != nil {
		return nil, err
	}
	remote := os.NewFile(uintptr(theirs), "host")
	boot, err := hostFiles.ReadFile("host/boot.py")
	if err != nil {
		return nil, fmt.Errorf("read the embedded host: %w", err)
	}
	z := &zygote{path: path, link: link{fd: ours}, exited: make(chan struct{})}
	z.cmd = exec.Command(path, "-c", string(boot))
	z.cmd.Env = hostEnvironment(os.Environ())
	if load != nil {
		setting, err := json.Marshal(load)
		if err != nil {
			return nil, fmt.Errorf("say what Python is to load: %w", err)
		}
		z.cmd.Env = append(z.cmd.Env, preloadVariable+"="+string(setting))
	}
	z.cmd.ExtraFiles = []*os.File{remote}
	z.cmd.Stdout, z.cmd.Stderr = &z.stderr, &z.stderr
	z.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	z.cmd.WaitDelay = time.Second // for a child that holds the descriptor
	err = z.cmd.Start()
	remote.Close() // ours must see the end of the only other copy
	if err != nil {
		unix.Close(ours)
		return nil, missing("start %s: %w", path, err)
	}
	go func() {
		defer close(z.exited)
		z.cmd.Wait() // how it ended is seen by its link
	}()
	order, at := hostOrder, ""
	if load != nil {
		order = systemOrder
		if load.at != "" {
			at = load.at + ": "
		}
	}
	if err := z.handshake(ctx, order, at); err != nil {
		z.close()
		return nil, err
	}
	return z, nil
}

// handshake sends the host and waits until it is there.
func (z *zygote) handshake(ctx context.Context, order []string, at string) error {
	var source bytes.Buffer
	for _, name := range order {
		text, err := hostFiles.ReadFile("host/" + name + ".py")
		if err != nil {
			return fmt.Errorf("read the embedded host: %w", err)
		}
		source.Write(text)
	}
	deadline := time.Now().Add(startLimit)
	err := z.link.write(append(fmt.Appendf(nil, "%08x", source.Len()), source.Bytes()...), deadline)
	var first note
	if err == nil || errors.Is(err, errClosed) { // one that is too old does not read it all
		first, err = z.readNote(ctx, deadline)
	}
	if err != nil {
		z.kill()
		<-z.exited // all that it had to say has been read
		return missing("start the Python host in %s: %w%s", z.path, err, z.printed())
	}
	z.version = first.Python
	if first.Fault != nil {
		return diag.Environment("%sload the system: %s%s", at, first.Fault, z.printed())
	}
	if olderVersion(first.Python, oldest) {
		return missing("%s is Python %s, older than %s", z.path, first.Python, oldest)
	}
	z.path, z.subreaper, z.operations, z.class = first.Executable, first.Subreaper, first.Operations, first.Class
	z.mark, err = lineage.New(z.cmd.Process.Pid)
	if err != nil {
		return fmt.Errorf("mark the Python host: %w", err)
	}
	return nil
}

// hostEnvironment is the environment of the zygote: ours, less what would make
// an interpreter behave unlike a program's. User code gets its own.
func hostEnvironment(environ []string) []string {
	drop := []string{"PYTHONINSPECT", "PYTHONSTARTUP", "PYTHONVERBOSE", "PYTHONDEBUG", "PYTHONUNBUFFERED", "PYTHONTRACEMALLOC", "PYTHONPROFILEIMPORTTIME"}
	seeded := false
	list := slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, value, _ := strings.Cut(entry, "=")
		seeded = seeded || name == "PYTHONHASHSEED" && value != "" && value != "random"
		return slices.Contains(drop, name)
	})
	if !seeded { // sets have the same order on every lane and in every run
		list = append(list, "PYTHONHASHSEED=0")
	}
	return append(list, bindNow)
}

func olderVersion(version, than string) bool {
	a, b := strings.Split(version, "."), strings.Split(than, ".")
	for i := range b {
		x, _ := strconv.Atoi(at(a, i))
		y, _ := strconv.Atoi(b[i])
		if x != y {
			return x < y
		}
	}
	return false
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}

// readNote waits for the next note. Any error means that the zygote is of no use.
func (z *zygote) readNote(ctx context.Context, deadline time.Time) (note, error) {
	for {
		if n, ok, err := z.pendingNote(); ok || err != nil {
			return n, err
		}
		if err := ctx.Err(); err != nil {
			return note{}, err
		}
		left := time.Until(deadline)
		if left <= 0 {
			return note{}, fmt.Errorf("%w: no answer", errHost)
		}
		// Short waits instead of a wake-up: this is for starts, not for cases.
		poll := []unix.PollFd{{Fd: int32(z.link.fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, milliseconds(min(left, 100*time.Millisecond))); err != nil && err != unix.EINTR {
			return note{}, fmt.Errorf("wait for the Python host: %w", err)
		}
		if poll[0].Revents != 0 {
			if err := z.link.fill(); err != nil && len(z.link.buf) == 0 {
				return note{}, fmt.Errorf("%w: it ended", errHost)
			}
		}
	}
}

// pendingNote is a note that has been read already.
func (z *zygote) pendingNote() (n note, ok bool, err error) {
	frame, err := z.link.take()
	if frame == nil || err != nil {
		return n, false, err
	}
	if err := json.Unmarshal(frame, &n); err != nil {
		return n, false, fmt.Errorf("%w: it wrote %.200q", errHost, frame)
	}
	return n, true, nil
}

// fork has a child made with the given descriptors for stdin, stdout, stderr and
// its channel. If it cannot be made, the waits of its session say so.
func (z *zygote) fork(fds [4]int) error {
	if err := unix.Sendmsg(z.link.fd, []byte("F"), unix.UnixRights(fds[:]...), nil, 0); err != nil {
		return fmt.Errorf("%w: %w", errHost, err)
	}
	return nil
}

// killChild has the child and its process group killed; the note of its end
// comes as always.
func (z *zygote) killChild() error {
	if _, err := unix.Write(z.link.fd, []byte("K")); err != nil {
		return fmt.Errorf("%w: %w", errHost, err)
	}
	return nil
}

// kill ends the zygote and everything below it.
func (z *zygote) kill() {
	z.cmd.Process.Kill()
	z.mark.Sweep()
}

func (z *zygote) close() {
	z.kill()
	<-z.exited
	unix.Close(z.link.fd)
}

// printed is what the interpreter printed, for errors.
func (z *zygote) printed() string {
	if text := strings.TrimSpace(z.stderr.String()); text != "" {
		return ": " + text
	}
	return ""
}

// bounded keeps the first bytes that are written to it.
type bounded struct {
	mu  sync.Mutex
	buf []byte
}

func (b *bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.buf = append(b.buf, p[:min(len(p), 4096-min(4096, len(b.buf)))]...)
	return len(p), nil
}

func (b *bounded) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.buf)
}
