//go:build unix

package python

import (
	"bytes"
	"cmp"
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

// The host's files in the order in which they are joined. Systems have their own list, because a
// fork copies the page tables of all memory in use.
var (
	hostOrder   = []string{"wire", "fault", "zygote", "command", "operators", "tools", "agent"}
	systemOrder = []string{"wire", "fault", "zygote", "system"}
)

// Time limits for our own code, not the user's. They are long because the machine may be busy, and
// reaching one is an error because something may be broken.
const (
	startLimit = 60 * time.Second // for the start of an interpreter
	orderLimit = 30 * time.Second // for the zygote's answer to an order
)

// zygote is a warm interpreter that can fork a child, and kill it with everything it has started.
type zygote struct {
	path    string // interpreter
	version string
	cmd     *exec.Cmd
	link    link
	stderr  bounded
	mark    lineage.Mark
	exited  chan struct{} // closed when cmd has been waited for
	// subreaper: the zygote adopts orphans. Otherwise they are found by their mark.
	subreaper bool
	// operations are those of the preloaded object.
	operations []operationNote
	class      bool // each child first makes an object and reports that
}

// preloadVariable tells the host which user code to load before it forks.
const preloadVariable = "THRESH_PYTHON_LOADS"

// bindNow has the dynamic loader resolve all functions at once; otherwise each child would resolve
// those that the zygote has not called. The host removes the variable before it loads anything.
const bindNow = "LD_BIND_NOW=thresh"

// preload is what the warm interpreter loads before it forks.
type preload struct {
	Dir  string `json:"dir"`
	Home string `json:"home"` // working folder
	File string `json:"file"`
	Name string `json:"name"`
	at   string // position in the document
}

// operationNote is an operation of the preloaded object.
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

// note is a frame from the zygote.
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

func startZygote(ctx context.Context, path, hashSeed string, load *preload) (*zygote, error) {
	ours, theirs, err := socketpair()
	if err != nil {
		return nil, err
	}
	remote := os.NewFile(uintptr(theirs), "host")
	boot, _ := hostFiles.ReadFile("host/boot.py") // it is embedded
	z := &zygote{path: path, link: link{fd: ours}, exited: make(chan struct{})}
	z.cmd = exec.Command(path, "-c", string(boot))
	z.cmd.Env = hostEnvironment(os.Environ(), hashSeed)
	if load != nil {
		setting, _ := json.Marshal(load) // texts can be written
		z.cmd.Env = append(z.cmd.Env, preloadVariable+"="+string(setting))
	}
	z.cmd.ExtraFiles = []*os.File{remote}
	z.cmd.Stdout, z.cmd.Stderr = &z.stderr, &z.stderr
	z.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	z.cmd.WaitDelay = time.Second // a child may hold the descriptor
	err = z.cmd.Start()
	remote.Close() // our end must see the close of the only other copy
	if err != nil {
		unix.Close(ours)
		return nil, missing("start %s: %w", path, err)
	}
	go func() {
		defer close(z.exited)
		z.cmd.Wait() // the link shows how it ended
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

// handshake sends the host's source and waits for its first note.
func (z *zygote) handshake(ctx context.Context, order []string, at string) error {
	var source bytes.Buffer
	for _, name := range order {
		text, _ := hostFiles.ReadFile("host/" + name + ".py") // it is embedded
		source.Write(text)
	}
	deadline := time.Now().Add(startLimit)
	err := z.link.write(append(fmt.Appendf(nil, "%08x", source.Len()), source.Bytes()...), deadline)
	var first note
	if err == nil || errors.Is(err, errClosed) { // a Python that is too old does not read it all
		first, err = z.readNote(ctx, deadline)
	}
	if err != nil {
		z.kill()
		<-z.exited // all its output has been read
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

// hostEnvironment returns the zygote's environment: ours without variables that would make an
// interpreter behave unusually, and with a hash seed. User code gets its own environment.
func hostEnvironment(environ []string, hashSeed string) []string {
	drop := []string{"PYTHONINSPECT", "PYTHONSTARTUP", "PYTHONVERBOSE", "PYTHONDEBUG", "PYTHONUNBUFFERED", "PYTHONTRACEMALLOC", "PYTHONPROFILEIMPORTTIME"}
	ours := cmp.Or(hashSeed, "0") // keeps the order of sets the same on every lane and in every run
	list := slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, value, _ := strings.Cut(entry, "=")
		if name == "PYTHONHASHSEED" && hashSeed == "" && value != "" && value != "random" {
			ours = ""
		}
		return slices.Contains(drop, name)
	})
	if ours != "" {
		list = append(list, "PYTHONHASHSEED="+ours)
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

// readNote waits for the next note. After an error the zygote is unusable.
func (z *zygote) readNote(ctx context.Context, deadline time.Time) (note, error) {
	for gone := false; ; {
		if n, ok, err := z.pendingNote(); ok || err != nil {
			return n, err
		}
		if gone {
			return note{}, fmt.Errorf("%w: it ended", errHost)
		}
		if err := ctx.Err(); err != nil {
			return note{}, err
		}
		left := time.Until(deadline)
		if left <= 0 {
			return note{}, fmt.Errorf("%w: no answer", errHost)
		}
		// Short waits suffice instead of a wake-up: this runs at starts, not in cases.
		poll := []unix.PollFd{{Fd: int32(z.link.fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, milliseconds(min(left, 100*time.Millisecond))); err != nil && err != unix.EINTR {
			return note{}, fmt.Errorf("wait for the Python host: %w", err)
		}
		if poll[0].Revents != 0 {
			gone = z.link.fill() != nil
		}
	}
}

// pendingNote returns a note that has already been read, if any.
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

// fork has the zygote fork a child with the given descriptors for stdin, stdout, stderr and its
// channel. If that fails, the waits of its session report it.
func (z *zygote) fork(fds [4]int) error {
	if err := unix.Sendmsg(z.link.fd, []byte("F"), unix.UnixRights(fds[:]...), nil, 0); err != nil {
		return fmt.Errorf("%w: %w", errHost, err)
	}
	return nil
}

// killChild has the zygote kill the child and its process group; the note of the child's end
// arrives as usual.
func (z *zygote) killChild() error {
	if _, err := unix.Write(z.link.fd, []byte("K")); err != nil {
		return fmt.Errorf("%w: %w", errHost, err)
	}
	return nil
}

// kill kills the zygote and all its descendants.
func (z *zygote) kill() {
	z.cmd.Process.Kill()
	z.mark.Sweep()
}

func (z *zygote) close() {
	z.kill()
	<-z.exited
	unix.Close(z.link.fd)
}

// printed returns what the interpreter printed, for errors.
func (z *zygote) printed() string {
	if text := strings.TrimSpace(z.stderr.String()); text != "" {
		return ": " + text
	}
	return ""
}

// bounded keeps the first 4,096 bytes written to it.
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
