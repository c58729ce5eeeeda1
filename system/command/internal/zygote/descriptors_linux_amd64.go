package zygote

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// statelessDevices may be open, because copies cannot affect each other through them: null, zero,
// random and urandom.
var statelessDevices = []uint64{unix.Mkdev(1, 3), unix.Mkdev(1, 5), unix.Mkdev(1, 8), unix.Mkdev(1, 9)}

// rewinds inspects the descriptors that the program has open beyond the first three. Copies share
// the offset of an open file, so it returns the calls that restore the current offsets. A
// descriptor that cannot be restored is a hazard.
func rewinds(pid int, line [2]int) ([]call, error) {
	entries, err := os.ReadDir(procPath(pid, "fd"))
	if err != nil {
		return nil, fmt.Errorf("list its descriptors: %w", err)
	}
	var calls []call
	ours := 0
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		switch {
		case err != nil || fd <= 2:
			continue
		case fd == line[0] || fd == line[1]:
			ours++
			continue
		}
		offset, rewind, err := inspect(pid, e.Name())
		if err != nil {
			return nil, err
		}
		if rewind {
			calls = append(calls, call{nr: unix.SYS_LSEEK, a: uint64(fd), b: offset, c: unix.SEEK_SET})
		}
	}
	if ours != 2 {
		return nil, hazard("closes descriptors that it did not open")
	}
	return calls, nil
}

// inspect checks one open descriptor.
func inspect(pid int, fd string) (offset uint64, rewind bool, err error) {
	info, err := readFdinfo(pid, fd)
	if err != nil {
		return 0, false, err
	}
	var st unix.Stat_t
	if err := unix.Stat(procPath(pid, "fd/"+fd), &st); err != nil {
		return 0, false, fmt.Errorf("look at its descriptor %s: %w", fd, err)
	}
	what, _ := os.Readlink(procPath(pid, "fd/"+fd))
	switch {
	case info.flags&unix.O_PATH != 0:
		return 0, false, nil
	case info.locked:
		return 0, false, hazard("locks " + what)
	case st.Mode&unix.S_IFMT == unix.S_IFCHR:
		if slices.Contains(statelessDevices, st.Rdev) {
			return 0, false, nil
		}
		return 0, false, hazard("opens " + what)
	case st.Mode&unix.S_IFMT != unix.S_IFREG && st.Mode&unix.S_IFMT != unix.S_IFDIR:
		return 0, false, hazard("opens " + what)
	case info.flags&unix.O_ACCMODE != unix.O_RDONLY:
		return 0, false, hazard("opens " + what + " for writing")
	}
	return info.offset, true, nil
}

// fdinfo is the kernel's information on an open descriptor.
type fdinfo struct {
	offset, flags uint64
	locked        bool
}

func readFdinfo(pid int, fd string) (fdinfo, error) {
	var info fdinfo
	text, err := os.ReadFile(procPath(pid, "fdinfo/"+fd))
	if err != nil {
		return info, fmt.Errorf("look at its descriptor %s: %w", fd, err)
	}
	var errs [2]error
	for _, line := range splitLines(text) {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch key {
		case "pos":
			info.offset, errs[0] = strconv.ParseUint(value, 10, 64)
		case "flags":
			info.flags, errs[1] = strconv.ParseUint(value, 8, 64)
		case "lock":
			info.locked = true
		}
	}
	if err := errors.Join(errs[:]...); err != nil {
		return info, fmt.Errorf("look at its descriptor %s: %w", fd, err)
	}
	return info, nil
}

func splitLines(text []byte) []string {
	return strings.Split(strings.TrimRight(string(text), "\n"), "\n")
}
