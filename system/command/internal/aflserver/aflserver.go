package aflserver

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/thresh-dev/thresh/system/command/internal/forkline"
)

// Rlimit is one resource limit.
type Rlimit = forkline.Rlimit

// Config describes the program to start and how its cases get their input.
type Config struct {
	Path  string   // absolute path of the executable
	Argv  []string // argv[0] included
	Env   []string // the whole environment; the protocol's variables are added
	Dir   string   // working folder
	Files [3]int   // descriptors that become 0, 1 and 2

	// Stdin means that cases read their input from Files[0], unless they take it from shared
	// memory. Run rewinds it.
	Stdin bool
	// Limits apply to cases as to spawned processes, with two differences. The limit on the number
	// of processes takes effect a moment after the case has started. In persistent mode the limit
	// on processor time applies to each case, is accurate to within two seconds and acts only by
	// its soft value.
	Limits []Rlimit
	// Features is the result of Detect. Listen has cases report what they compare.
	Features Features
	Listen   bool
	// MaxInput is the maximum size of inputs in shared memory; 0 means 1 MiB.
	MaxInput int
	// Reaper means that this process is the subreaper (see prctl(2), PR_SET_CHILD_SUBREAPER), so
	// that processes can be taken over from their server. Changed is then called when a new process
	// serves or replaces the server.
	Reaper  bool
	Changed func()
	// Timeout limits the start of the server and its answers, not the cases; 0 means 10 seconds.
	Timeout time.Duration
}

// ErrServerDied is wrapped by Run's error if the fork server is gone or does not answer. The Server
// is of no further use.
var ErrServerDied = errors.New("the program's fork server is gone")

// ErrKilled is wrapped by the error of a Run that [Server.Kill] ended.
var ErrKilled = errors.New("the case was killed")

// bucket maps a count to AFL's class: 1, 2, 3, 4 to 7, 8 to 15, 16 to 31, 32 to 127, and more.
var bucket = func() (table [256]uint8) {
	for count := range table {
		switch {
		case count <= 2:
			table[count] = uint8(count)
		case count == 3:
			table[count] = 4
		case count < 8:
			table[count] = 8
		case count < 16:
			table[count] = 16
		case count < 32:
			table[count] = 32
		case count < 128:
			table[count] = 64
		default:
			table[count] = 128
		}
	}
	return table
}()

// appendEdges appends the edges with nonzero counts, as edge<<8|bucket, ascending. The length of
// counts must be a multiple of 32.
//
// Entry 0 is not an edge: the instrumentation sets it to show that it is active.
func appendEdges(dst []uint32, counts []byte) []uint32 {
	for at := 0; at < len(counts); at += 32 {
		block := counts[at : at+32 : at+32]
		if binary.LittleEndian.Uint64(block)|binary.LittleEndian.Uint64(block[8:])|
			binary.LittleEndian.Uint64(block[16:])|binary.LittleEndian.Uint64(block[24:]) == 0 {
			continue
		}
		for i, c := range block {
			if c != 0 && at+i != 0 {
				dst = append(dst, uint32(at+i)<<8|uint32(bucket[c]))
			}
		}
	}
	return dst
}
