package aflserver

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/thresh-dev/thresh/system/command/internal/forkline"
)

// Rlimit is one resource limit.
type Rlimit = forkline.Rlimit

// Config says what to start and how its cases get their input.
type Config struct {
	Path  string   // absolute path of the executable
	Argv  []string // argv[0] included
	Env   []string // the whole environment; what the protocol needs is added
	Dir   string   // working folder
	Files [3]int   // descriptors that become 0, 1 and 2

	// Stdin says that cases read their input from Files[0], unless they take
	// it from shared memory. Run rewinds it.
	Stdin bool
	// Limits are laid on cases as on spawned processes, with two differences.
	// The limit on the number of processes takes hold a moment after the case
	// has started. The one on processor time is kept to within two seconds in
	// persistent mode, for each case, and acts by its soft value alone.
	Limits []Rlimit
	// Features is what Detect said of the program. Listen has its cases say what they
	// compare.
	Features Features
	Listen   bool
	// MaxInput bounds the size of inputs in shared memory; 0 means 1 MiB.
	MaxInput int
	// Reaper says that this process is the reaper of orphans (see prctl(2),
	// PR_SET_CHILD_SUBREAPER), so that processes can be taken over from their
	// server. Changed is then called when there is another process that is the
	// server's or took its place.
	Reaper  bool
	Changed func()
	// Timeout bounds the start of the server and its answers, not the cases;
	// 0 means 10 seconds.
	Timeout time.Duration
}

// ErrServerDied is wrapped by an error of Run that says that the fork server
// is gone, or does not answer, which is the same. The Server is of no further
// use.
var ErrServerDied = errors.New("the program's fork server is gone")

// ErrKilled is wrapped by the error of a Run that [Server.Kill] has ended.
var ErrKilled = errors.New("the case was killed")

// bucket is AFL's class of a count: 1, 2, 3, 4 to 7, 8 to 15, 16 to 31, 32 to
// 127 and more.
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

// appendEdges appends the edges that counts are not zero for, as
// edge<<8|bucket, ascending. The length of counts is a multiple of 32.
//
// Entry 0 is not an edge: the instrumentation sets it so that a client sees that
// it is alive.
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
