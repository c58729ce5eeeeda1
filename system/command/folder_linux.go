package command

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/system/scratch"
	"golang.org/x/sys/unix"
)

// folder is the private folder of one lane:
//
//	<tmpfs>/thresh-<pid>-<random>/w<lane>/run/   the case's working directory
//
// reset restores the tree before every case. Nearly all cases change at most the output folder, so
// a watch on all folders, or one fstat each, finds out what to restore.
type folder struct {
	*scratch.Folder
	lane      string
	topFD     int
	run       string // absolute, as the program sees it
	view      string // prefix through which this process sees the program's absolute paths
	names     []string
	dirs      []fixedDir
	watch     watch
	stirred   bool   // something has happened since the last reset
	resets    int    // number of resets
	inputName string // relative to run
	out       int    // index in dirs of the output folder; 0: none
	input     inputFile
}

// fixedDir is a folder that exists for every case, empty except for other fixed folders and the
// input.
type fixedDir struct {
	fd    int
	leaf  bool // holds neither the input nor another fixed folder
	clean unix.Stat_t
}

// newFolder makes the lane's folder. The note names its location if that is unusual.
func newFolder(plan *process.Plan, lane int) (*folder, string, error) {
	parent, note := scratch.Memory()
	if note != "" {
		note = fmt.Sprintf("run folders are in %s, %s", parent, note)
	}
	// The path has the same length in every lane, because the length of a program's arguments
	// affects its addresses.
	f := &folder{topFD: -1, watch: watch{fd: -1}, lane: fmt.Sprintf("w%04d", lane), inputName: plan.Input}
	f.input.fd, f.input.readFD = -1, -1
	dirs := append([]string{}, plan.Dirs...)
	if plan.OutDir != "" {
		dirs = append(dirs, plan.OutDir)
	}
	f.names = append(f.names, ".", "run")
	for _, d := range append(dirs, path.Dir(plan.Input)) {
		for p := path.Join("run", d); p != "run"; p = path.Dir(p) {
			f.names = append(f.names, p)
		}
	}
	slices.Sort(f.names) // a folder comes before its contents
	f.names = slices.Compact(f.names)
	if plan.OutDir != "" {
		f.out = slices.Index(f.names, path.Join("run", plan.OutDir))
	}
	var err error
	if f.Folder, err = scratch.Make(parent); err != nil {
		return nil, "", err
	}
	f.run = filepath.Join(f.Path, f.lane, "run")
	if f.topFD, err = openDir(unix.AT_FDCWD, f.Path); err != nil {
		return nil, "", errors.Join(fmt.Errorf("open the run folder: %w", err), f.Close())
	}
	if err := f.rebuild(); err != nil {
		f.close()
		return nil, "", err
	}
	return f, note, nil
}

// path returns the absolute path of a name inside the run folder, for the program.
func (f *folder) path(name string) string { return filepath.Join(f.run, filepath.FromSlash(name)) }

// visiblePath is path as this process sees it.
func (f *folder) visiblePath(name string) string { return f.view + f.path(name) }

// moveView switches to the file system that was mounted over the folder in another namespace, which
// this process reaches through view.
func (f *folder) moveView(view string) error {
	fd, err := openDir(unix.AT_FDCWD, view+f.Path)
	if err != nil {
		return fmt.Errorf("open the run folder: %w", err)
	}
	f.closeDirs()
	err = empty(f.topFD) // what is below the mount
	unix.Close(f.topFD)
	f.topFD, f.view = fd, view
	return errors.Join(err, f.rebuild())
}

// runFD returns the descriptor of the run folder.
func (f *folder) runFD() int { return f.dirs[1].fd }

// watchFrom is the number of resets after which folders are watched: ending a watch takes the
// kernel milliseconds, which does not pay for a lane that runs few cases.
const watchFrom = 64

// reset restores the tree for the next case. It returns false if it had to make folders anew, which
// invalidates descriptors of the old ones.
func (f *folder) reset() (same bool, err error) {
	if f.unchanged() {
		return true, nil
	}
	f.stirred = false
	if f.resets++; f.resets == watchFrom {
		f.watch = newWatch(f.dirs) // nothing runs now; earlier changes are found below
	}
	for i := range f.dirs {
		d := &f.dirs[i]
		if d.isUntouched() {
			continue
		}
		if !d.leaf || d.refresh() != nil {
			return false, f.rebuild()
		}
	}
	return true, nil
}

// noOutputs reports whether the output folder exists and is unchanged.
func (f *folder) noOutputs() bool {
	return f.out > 0 && (f.unchanged() || f.dirs[f.out].isUntouched())
}

// isUntouched reports whether all folders are unchanged.
func (f *folder) isUntouched() bool {
	return f.unchanged() || !slices.ContainsFunc(f.dirs, func(d fixedDir) bool { return !d.isUntouched() })
}

// unchanged reports whether the watch has seen nothing since the last reset; false without a watch.
func (f *folder) unchanged() bool {
	f.stirred = !f.watch.unchanged() || f.stirred
	return !f.stirred
}

func (d *fixedDir) isUntouched() bool {
	var st unix.Stat_t
	return fstat(d.fd, &st) == 0 && st.Ctim == d.clean.Ctim && st.Mtim == d.clean.Mtim &&
		st.Size == d.clean.Size && st.Nlink == d.clean.Nlink && st.Mode == d.clean.Mode
}

// refresh empties a leaf folder. Its parent was checked before, so it is still in place.
func (d *fixedDir) refresh() error {
	var st unix.Stat_t
	if err := unix.Fstat(d.fd, &st); err != nil {
		return err
	}
	if st.Nlink == 0 || st.Mode != d.clean.Mode {
		return errors.New("the folder itself was changed")
	}
	if err := empty(d.fd); err != nil {
		return err
	}
	return d.mark()
}

// mark sets the folder's times to the past, so that any later change moves them to the present.
// Otherwise a change within the same tick of the kernel's coarse clock would go unnoticed.
func (d *fixedDir) mark() error {
	var past [2]unix.Timespec
	if _, _, errno := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(d.fd), 0, uintptr(unsafe.Pointer(&past)), 0, 0, 0); errno != 0 {
		return errno
	}
	return unix.Fstat(d.fd, &d.clean)
}

// rebuild makes the whole tree from scratch.
func (f *folder) rebuild() error {
	f.closeDirs()
	if err := empty(f.topFD); err != nil {
		return fmt.Errorf("empty the run folder: %w", err)
	}
	// The program runs as the folder's owner and may have moved it.
	var byFD, byPath unix.Stat_t
	if err := errors.Join(unix.Fstat(f.topFD, &byFD), unix.Lstat(f.view+f.Path, &byPath)); err != nil || byFD.Ino != byPath.Ino || byFD.Dev != byPath.Dev {
		return fmt.Errorf("the run folder %s was moved or removed while a case ran", f.Path)
	}
	base := filepath.Join(f.view+f.Path, f.lane)
	for _, name := range f.names {
		full := filepath.Join(base, name)
		if err := unix.Mkdir(full, 0o755); err != nil {
			return fmt.Errorf("make the run folder: %w", err)
		}
		if err := unix.Chmod(full, 0o755); err != nil { // regardless of the umask
			return fmt.Errorf("make the run folder: %w", err)
		}
		fd, err := openDir(unix.AT_FDCWD, full)
		if err != nil {
			return fmt.Errorf("open the run folder: %w", err)
		}
		inside := func(other string) bool { return strings.HasPrefix(other, name+"/") }
		leaf := name != "." && !inside(path.Join("run", f.inputName)) && !slices.ContainsFunc(f.names, inside)
		f.dirs = append(f.dirs, fixedDir{fd: fd, leaf: leaf})
	}
	if err := f.input.create(f.visiblePath(f.inputName)); err != nil {
		return fmt.Errorf("make the input file: %w", err)
	}
	for i := range f.dirs {
		if err := f.dirs[i].mark(); err != nil {
			return fmt.Errorf("mark the run folder: %w", err)
		}
	}
	f.watch, f.stirred = watch{fd: -1}, false
	if f.resets >= watchFrom {
		f.watch = newWatch(f.dirs)
	}
	return nil
}

func (f *folder) closeDirs() {
	f.watch.close()
	for _, d := range f.dirs {
		unix.Close(d.fd)
	}
	f.dirs = f.dirs[:0]
	f.input.close()
}

// close removes the folder.
func (f *folder) close() error {
	f.closeDirs()
	if f.topFD < 0 {
		return nil
	}
	err := errors.Join(empty(f.topFD), f.Close())
	unix.Close(f.topFD)
	f.topFD = -1
	return err
}

func openDir(at int, name string) (int, error) {
	return highFD(unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0))
}

// highFD moves a new descriptor above standard input, output and error, in case this process was
// started with one of those closed.
func highFD(fd int, err error) (int, error) {
	if err != nil || fd > 2 {
		return fd, err
	}
	high, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	unix.Close(fd)
	return high, err
}

// fstat is fstat(2) without notifying the Go scheduler: it cannot block on tmpfs.
func fstat(fd int, st *unix.Stat_t) unix.Errno {
	_, _, errno := unix.RawSyscall(unix.SYS_FSTAT, uintptr(fd), uintptr(unsafe.Pointer(st)), 0)
	return errno
}
