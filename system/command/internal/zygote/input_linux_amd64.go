package zygote

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// pathArgs gives the argument of a system call that is a path, and the one that is the folder it is
// relative to; -1: the working folder.
var pathArgs = map[uint64]struct{ dir, path int }{
	unix.SYS_OPEN: {-1, 0}, unix.SYS_STAT: {-1, 0}, unix.SYS_LSTAT: {-1, 0}, unix.SYS_ACCESS: {-1, 0},
	unix.SYS_READLINK: {-1, 0}, unix.SYS_STATFS: {-1, 0}, unix.SYS_TRUNCATE: {-1, 0}, unix.SYS_CREAT: {-1, 0},
	unix.SYS_GETXATTR: {-1, 0}, unix.SYS_LGETXATTR: {-1, 0}, unix.SYS_LISTXATTR: {-1, 0},
	unix.SYS_LLISTXATTR: {-1, 0}, unix.SYS_UNLINK: {-1, 0}, unix.SYS_RENAME: {-1, 0}, unix.SYS_CHMOD: {-1, 0},
	unix.SYS_LINK: {-1, 0},

	unix.SYS_OPENAT: {0, 1}, unix.SYS_NEWFSTATAT: {0, 1}, unix.SYS_READLINKAT: {0, 1},
	unix.SYS_FACCESSAT: {0, 1}, unix.SYS_FACCESSAT2: {0, 1}, unix.SYS_STATX: {0, 1}, unix.SYS_OPENAT2: {0, 1},
	unix.SYS_NAME_TO_HANDLE_AT: {0, 1}, unix.SYS_UNLINKAT: {0, 1}, unix.SYS_RENAMEAT: {0, 1},
	unix.SYS_RENAMEAT2: {0, 1}, unix.SYS_LINKAT: {0, 1}, unix.SYS_INOTIFY_ADD_WATCH: {-1, 1},
}

// stdinCalls are the system calls that can reveal what file descriptor 0 holds, with the index of
// the descriptor argument. Asking whether it is a terminal, for its offset or for its flags reveals
// nothing, because the caller rewinds it.
var stdinCalls = map[uint64]int{
	unix.SYS_READ: 0, unix.SYS_PREAD64: 0, unix.SYS_READV: 0, unix.SYS_PREADV: 0, unix.SYS_PREADV2: 0,
	unix.SYS_FSTAT: 0, unix.SYS_READAHEAD: 0, unix.SYS_FADVISE64: 0, unix.SYS_DUP: 0, unix.SYS_DUP2: 0,
	unix.SYS_DUP3: 0, unix.SYS_CLOSE: 0, unix.SYS_SENDFILE: 1, unix.SYS_SPLICE: 0, unix.SYS_TEE: 0,
	unix.SYS_COPY_FILE_RANGE: 0,
}

// input recognizes the system calls that touch a program's input.
type input struct {
	stdin bool
	paths []string      // names of the input file, as given and with links resolved
	files []os.FileInfo // the input file, and standard input if it holds the input
}

func newInput(cfg *Config, pid int) (*input, error) {
	in := &input{stdin: cfg.Stdin}
	if cfg.InputPath != "" {
		in.paths = []string{filepath.Clean(cfg.InputPath)}
		if real, err := filepath.EvalSymlinks(cfg.InputPath); err == nil && real != in.paths[0] {
			in.paths = append(in.paths, real)
		}
		info, err := os.Stat(cfg.InputPath)
		if err != nil {
			return nil, err
		}
		in.files = append(in.files, info)
	}
	if cfg.Stdin {
		info, err := os.Stat(procPath(pid, "fd/0"))
		if err != nil {
			return nil, err
		}
		in.files = append(in.files, info)
	}
	return in, nil
}

func procPath(pid int, rest string) string {
	return "/proc/" + strconv.Itoa(pid) + "/" + rest
}

// touchedBy reports whether a system call touches the input.
func (in *input) touchedBy(t *tracee, info syscallInfo) bool {
	return in.stdin && touchesStdin(info) || len(in.files) > 0 && in.namedBy(t, info)
}

func touchesStdin(info syscallInfo) bool {
	a := info.args
	fd := func(i int) bool { return int32(a[i]) == 0 }
	switch info.nr {
	case unix.SYS_LSEEK:
		return fd(0) && a[2] != unix.SEEK_CUR
	case unix.SYS_MMAP:
		return fd(4) && a[3]&unix.MAP_ANONYMOUS == 0
	case unix.SYS_FCNTL:
		return fd(0) && (a[1] == unix.F_DUPFD || a[1] == unix.F_DUPFD_CLOEXEC)
	case unix.SYS_IOCTL:
		return fd(0) && a[1] == unix.TIOCINQ
	case unix.SYS_NEWFSTATAT:
		return fd(0) && a[3]&unix.AT_EMPTY_PATH != 0
	case unix.SYS_STATX:
		return fd(0) && a[2]&unix.AT_EMPTY_PATH != 0
	}
	i, ok := stdinCalls[info.nr]
	return ok && fd(i)
}

// namedBy reports whether the call names the input file by any path.
func (in *input) namedBy(t *tracee, info syscallInfo) bool {
	arg, ok := pathArgs[info.nr]
	if !ok {
		return false
	}
	name, ok := t.text(info.args[arg.path])
	if !ok || name == "" {
		return false
	}
	path, ok := t.resolve(name, arg.dir, info)
	if !ok {
		return false
	}
	if slices.Contains(in.paths, path) {
		return true
	}
	found, err := os.Stat(path)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(in.files, func(f os.FileInfo) bool { return os.SameFile(f, found) })
}

// resolve converts a path of the tracee's to an absolute path as we see it.
func (t *tracee) resolve(name string, dirArg int, info syscallInfo) (string, bool) {
	// In our process these would name our own files.
	for _, own := range [][2]string{
		{"/proc/self/", ""}, {"/proc/thread-self/", ""}, {"/dev/fd/", "fd/"}, {"/dev/stdin", "fd/0"},
	} {
		if rest, ok := strings.CutPrefix(name, own[0]); ok {
			return procPath(t.pid, own[1]+rest), true
		}
	}
	if filepath.IsAbs(name) {
		return filepath.Clean(name), true
	}
	link := "cwd"
	if dirArg >= 0 && int32(info.args[dirArg]) != unix.AT_FDCWD {
		link = "fd/" + strconv.Itoa(int(int32(info.args[dirArg])))
	}
	dir, err := os.Readlink(procPath(t.pid, link))
	if err != nil {
		return "", false
	}
	return filepath.Join(dir, name), true
}
