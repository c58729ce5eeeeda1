package command

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/system/command/internal/forkline"
	"golang.org/x/sys/unix"
)

// Limits that apply if the plan sets none.
const (
	defaultOutput   = 1 << 20
	defaultFileSize = 128 << 20 // also limits the memory for captured output
	defaultFiles    = 1024      // a login shell's limit; the Go runtime has raised ours
)

// fileSizeLimit returns the maximum size of a file that the program writes.
func fileSizeLimit(l process.Limits) int64 {
	if l.FileSize > 0 {
		return l.FileSize
	}
	return max(defaultFileSize, 2*l.Output)
}

// limits converts the plan's limits to the kernel's. The notes name what could not be applied as
// requested. What the program executes has its limits too: env and shells execute what their
// arguments name.
func limits(l process.Limits, program string, args []string) (list []forkline.Rlimit, notes []string, err error) {
	add := func(resource int, cur, max uint64) {
		// Without privilege a limit can only be lowered.
		var own unix.Rlimit
		if unix.Prlimit(0, resource, nil, &own) == nil && own.Max < max {
			max = own.Max
		}
		list = append(list, forkline.Rlimit{Resource: resource, Cur: min(cur, max), Max: max})
	}
	add(unix.RLIMIT_CORE, 0, 0)
	add(unix.RLIMIT_NOFILE, defaultFiles, ^uint64(0))
	size := uint64(fileSizeLimit(l))
	add(unix.RLIMIT_FSIZE, size, size)
	if l.FileSize == 0 {
		notes = append(notes, fmt.Sprintf("no limit on file size was given; %d MiB per file applies, captured output included", size>>20))
	}
	if l.Processes > 0 {
		add(unix.RLIMIT_NPROC, uint64(l.Processes), uint64(l.Processes))
		if os.Geteuid() == 0 {
			notes = append(notes, "the limit on processes does not bind root; a sandbox bounds their number, otherwise leftover processes are killed when a case ends")
		}
	}
	if l.AddressSpace > 0 {
		why, err := reservesAddressSpace(program)
		if err != nil {
			return nil, nil, fmt.Errorf("look into %s: %w", program, err)
		}
		who := "the program"
		for _, other := range programsIn(args) {
			if why == "" {
				// A file that cannot be read is none that this one executes.
				why, _ = reservesAddressSpace(other)
				who = path.Base(other)
			}
		}
		if why != "" {
			notes = append(notes, "the limit on address space is not applied: "+who+" "+why)
		} else {
			add(unix.RLIMIT_AS, uint64(l.AddressSpace), uint64(l.AddressSpace))
		}
	}
	return list, notes, nil
}

// programsIn returns the executable files that arguments name by absolute paths, as words of a
// shell's command too.
func programsIn(args []string) (list []string) {
	for _, a := range args {
		for word := range strings.FieldsSeq(a) {
			word = strings.Trim(word, `"';&|()`)
			if info, err := os.Stat(word); err == nil && path.IsAbs(word) && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				list = append(list, word)
			}
		}
	}
	return list
}

// reservesAddressSpace returns why a program cannot run under a limit on address space, namely that
// it reserves far more than it uses, or "". A script is judged by its interpreter.
func reservesAddressSpace(name string) (string, error) {
	if _, err := buildinfo.ReadFile(name); err == nil {
		return "is a Go program", nil
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	signs := []struct {
		bytes string
		why   string
	}{
		{"__asan_init", "is built with AddressSanitizer"},
		{"__hwasan_init", "is built with HWAddressSanitizer"},
		{"__msan_init", "is built with MemorySanitizer"},
		{"__tsan_init", "is built with ThreadSanitizer"},
		{"__lsan_init", "is built with LeakSanitizer"}, // last, as other sanitizers include it
	}
	const overlap = 64
	buf := make([]byte, 1<<20)
	for have, first := 0, true; ; first = false {
		n, err := io.ReadFull(f, buf[have:])
		chunk := buf[:have+n]
		if first && bytes.HasPrefix(chunk, []byte("#!")) {
			line, _, _ := strings.Cut(string(chunk[2:min(len(chunk), 256)]), "\n")
			if words := strings.Fields(line); len(words) > 0 {
				if why, err := reservesAddressSpace(words[0]); err == nil && why != "" {
					return "is run by " + words[0] + ", which " + why, nil
				}
			}
			return "", nil
		}
		for _, s := range signs {
			if bytes.Contains(chunk, []byte(s.bytes)) {
				return s.why, nil
			}
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		have = copy(buf, chunk[len(chunk)-overlap:])
	}
}
