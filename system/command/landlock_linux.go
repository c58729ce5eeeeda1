package command

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// landlock makes a rule set under which a program may write only beneath one folder and to harmless
// devices, open no TCP connection, and signal no process outside. Reading and executing stay
// allowed. Rules that this kernel does not support are omitted.
func landlock(folderFD int) (fd int, err error) {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return -1, fmt.Errorf("landlock: %w", errno)
	}
	attr, size, device := rulesOf(abi)
	set, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return -1, fmt.Errorf("make a landlock rule set: %w", errno)
	}
	if fd, err = highFD(int(set), nil); err != nil {
		return -1, fmt.Errorf("make a landlock rule set: %w", err)
	}
	defer func() {
		if err != nil {
			unix.Close(fd)
			fd = -1
		}
	}()
	if err := allow(fd, folderFD, attr.fs); err != nil {
		return fd, err
	}
	for _, name := range []string{os.DevNull, "/dev/zero", "/dev/full", "/dev/tty"} {
		dev, err := unix.Open(name, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			continue // nothing to allow
		}
		err = allow(fd, dev, device)
		unix.Close(dev)
		if err != nil {
			return fd, err
		}
	}
	return fd, nil
}

// ruleset is the kernel's struct landlock_ruleset_attr.
type ruleset struct{ fs, net, scoped uint64 }

// rulesOf returns the accesses that a version of Landlock can restrict, how many bytes of the
// structure it reads, and the accesses allowed on devices.
func rulesOf(abi uintptr) (r ruleset, size uintptr, device uint64) {
	r.fs = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	device = unix.LANDLOCK_ACCESS_FS_WRITE_FILE
	if abi >= 2 {
		r.fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		r.fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
		device |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	size = unsafe.Sizeof(r.fs)
	if abi >= 4 {
		r.net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		size += unsafe.Sizeof(r.net)
	}
	if abi >= 6 {
		r.scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
		size += unsafe.Sizeof(r.scoped)
	}
	return r, size, device
}

func allow(set, fd int, access uint64) error {
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(set), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("add a landlock rule: %w", errno)
	}
	return nil
}
