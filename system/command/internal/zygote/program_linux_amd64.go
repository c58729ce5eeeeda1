package zygote

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// checkFile refuses programs that would behave differently under a tracer: the kernel denies a
// traced program the privileges that its file grants.
func checkFile(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	switch {
	case info.Mode()&os.ModeSetuid != 0:
		return errors.New("it is setuid")
	case info.Mode()&os.ModeSetgid != 0:
		return errors.New("it is setgid")
	}
	if n, err := unix.Getxattr(path, "security.capability", nil); err == nil && n > 0 {
		return errors.New("it has file capabilities")
	}
	return nil
}

// checkImage refuses a process whose program is not for amd64. It checks what was finally executed:
// for a script, the interpreter.
func checkImage(pid int) error {
	exe := procPath(pid, "exe")
	f, err := elf.Open(exe)
	if err != nil {
		return errors.New("it is not an ELF program")
	}
	defer f.Close()
	if f.Class != elf.ELFCLASS64 || f.Machine != elf.EM_X86_64 {
		return errors.New("it is not an amd64 program")
	}
	return checkFile(exe)
}

// entryPoint returns the address of the program's first instruction, where the dynamic linker jumps
// when it is done.
func entryPoint(pid int) (uint64, error) {
	auxv, err := os.ReadFile(procPath(pid, "auxv"))
	if err != nil {
		return 0, fmt.Errorf("find the entry point: %w", err)
	}
	const atEntry = 9
	for ; len(auxv) >= 16; auxv = auxv[16:] {
		if binary.LittleEndian.Uint64(auxv) == atEntry {
			return binary.LittleEndian.Uint64(auxv[8:]), nil
		}
	}
	return 0, errors.New("find the entry point: the kernel does not tell")
}

// executableAt reports whether the process has code from the program's own file at an address.
func executableAt(pid int, addr uint64) bool {
	for _, m := range mappings(pid) {
		if m.from <= addr && addr < m.to {
			return m.executable && m.own
		}
	}
	return false
}

type mapping struct {
	from, to        uint64
	executable, own bool
}

// mappings reads the file mappings from /proc/PID/maps; own marks those of the program's file.
func mappings(pid int) []mapping {
	text, err := os.ReadFile(procPath(pid, "maps"))
	if err != nil {
		return nil
	}
	exe, err := os.Readlink(procPath(pid, "exe"))
	if err != nil {
		return nil
	}
	var all []mapping
	for _, line := range splitLines(text) {
		var m mapping
		var perms, offset, device, inode, name string
		n, _ := fmt.Sscanf(line, "%x-%x %s %s %s %s %s", &m.from, &m.to, &perms, &offset, &device, &inode, &name)
		if n < 7 || len(perms) < 3 {
			continue // anonymous memory
		}
		m.executable = perms[2] == 'x'
		// The name may contain spaces, so compare the end of the line.
		m.own = len(line) >= len(exe) && line[len(line)-len(exe):] == exe
		all = append(all, m)
	}
	return all
}
