package wasm

import (
	"encoding/binary"
	"math/bits"

	"github.com/thresh-dev/thresh/engine/splitmix"
	"github.com/thresh-dev/thresh/port/dut"
)

// wasiModule is the module name of WASI preview 1.
const wasiModule = "wasi_snapshot_preview1"

// Errors of WASI preview 1.
const (
	errNone         = 0
	errBadFile      = 8
	errFault        = 21
	errInvalid      = 28
	errNotSupported = 52
	errSeek         = 70
)

const (
	epoch         = 1_640_995_200_000_000_000 // 2022-01-01 in UTC, in ns
	tick          = 1_000_000                 // ns that pass at each reading of a clock
	maxVectors    = 1024                      // buffers of one read or write, as on real systems
	maxPolls      = 1024
	standardFiles = 3 // stdin, stdout, stderr
)

// world is the outside world as a module sees it; it is part of its state.
type world struct {
	seed  uint64
	drawn uint64 // 8-byte words of randomness
	now   uint64 // ns since the instance started
	input []byte // rest of standard input; its bytes must not change
}

// wasiFunction is a WASI function: its type, and an implementation that returns the error number,
// which is ignored for a function without results.
type wasiFunction struct {
	signature string
	run       func(x *instance, a []uint64) uint64
}

func (w wasiFunction) service() service {
	if w.signature == "(i32) -> ()" {
		return func(x *instance, stack []uint64) { w.run(x, stack) }
	}
	return func(x *instance, stack []uint64) {
		if x.memory == nil {
			stack[0] = errFault
			return
		}
		stack[0] = w.run(x, stack)
	}
}

// wasiFunctions are the supported functions. There are no files except the three standard ones, no
// arguments and no environment.
var wasiFunctions = map[string]wasiFunction{
	"args_get":            {"(i32, i32) -> (i32)", nothing},
	"args_sizes_get":      {"(i32, i32) -> (i32)", noStrings},
	"environ_get":         {"(i32, i32) -> (i32)", nothing},
	"environ_sizes_get":   {"(i32, i32) -> (i32)", noStrings},
	"clock_res_get":       {"(i32, i32) -> (i32)", func(x *instance, a []uint64) uint64 { return x.put64(a[1], 1) }},
	"clock_time_get":      {"(i32, i64, i32) -> (i32)", clockTime},
	"fd_close":            {"(i32) -> (i32)", standard(func(*instance, []uint64) uint64 { return errNone })},
	"fd_fdstat_get":       {"(i32, i32) -> (i32)", standard(fileStatus)},
	"fd_fdstat_set_flags": {"(i32, i32) -> (i32)", standard(func(*instance, []uint64) uint64 { return errNone })},
	"fd_filestat_get":     {"(i32, i32) -> (i32)", standard(fileAttributes)},
	"fd_prestat_get":      {"(i32, i32) -> (i32)", noFile},
	"fd_prestat_dir_name": {"(i32, i32, i32) -> (i32)", noFile},
	"fd_read":             {"(i32, i32, i32, i32) -> (i32)", standard(readInput)},
	"fd_seek":             {"(i32, i64, i32, i32) -> (i32)", standard(func(*instance, []uint64) uint64 { return errSeek })},
	"fd_tell":             {"(i32, i32) -> (i32)", standard(func(*instance, []uint64) uint64 { return errSeek })},
	"fd_write":            {"(i32, i32, i32, i32) -> (i32)", write},
	"path_open":           {"(i32, i32, i32, i32, i32, i64, i64, i32, i32) -> (i32)", noFile},
	"poll_oneoff":         {"(i32, i32, i32, i32) -> (i32)", poll},
	"proc_exit":           {"(i32) -> ()", exit},
	"random_get":          {"(i32, i32) -> (i32)", random},
	"sched_yield":         {"() -> (i32)", nothing},
}

func nothing(*instance, []uint64) uint64 { return errNone }
func noFile(*instance, []uint64) uint64  { return errBadFile }

// standard wraps a function on a file descriptor, of which there are three.
func standard(f func(*instance, []uint64) uint64) func(*instance, []uint64) uint64 {
	return func(x *instance, a []uint64) uint64 {
		if uint32(a[0]) >= standardFiles {
			return errBadFile
		}
		return f(x, a)
	}
}

func noStrings(x *instance, a []uint64) uint64 {
	return max(x.put32(a[0], 0), x.put32(a[1], 0))
}

func (x *instance) put32(address uint64, v uint32) uint64 {
	if !x.memory.WriteUint32Le(uint32(address), v) {
		return errFault
	}
	x.mark(uint32(address), 4)
	return errNone
}

func (x *instance) put64(address uint64, v uint64) uint64 {
	if !x.memory.WriteUint64Le(uint32(address), v) {
		return errFault
	}
	x.mark(uint32(address), 8)
	return errNone
}

func (x *instance) put(address uint64, b []byte) uint64 {
	if !x.memory.Write(uint32(address), b) {
		return errFault
	}
	x.mark(uint32(address), uint32(len(b)))
	return errNone
}

// clockTime returns a time that depends only on how often clocks were read and how long the module
// slept.
func clockTime(x *instance, a []uint64) uint64 {
	switch uint32(a[0]) {
	case 0: // wall clock
		x.world.now += tick
		return x.put64(a[2], epoch+x.world.now)
	case 1, 2, 3: // monotonic, process and thread time
		x.world.now += tick
		return x.put64(a[2], x.world.now)
	}
	return errInvalid
}

func fileStatus(x *instance, a []uint64) uint64 {
	var b [24]byte
	b[0] = 2                                        // a character device
	binary.LittleEndian.PutUint64(b[8:], 1<<1|1<<6) // may be read and written
	return x.put(a[1], b[:])
}

func fileAttributes(x *instance, a []uint64) uint64 {
	var b [64]byte
	b[16] = 2 // a character device
	return x.put(a[1], b[:])
}

func write(x *instance, a []uint64) uint64 {
	out := &x.stdout
	switch uint32(a[0]) {
	case 1:
	case 2:
		out = &x.stderr
	default:
		return errBadFile
	}
	n := uint32(a[2])
	if n > maxVectors {
		return errInvalid
	}
	vectors, ok := x.memory.Read(uint32(a[1]), 8*n)
	if !ok {
		return errFault
	}
	total := uint32(0)
	for ; len(vectors) > 0; vectors = vectors[8:] {
		b, ok := x.memory.Read(binary.LittleEndian.Uint32(vectors), binary.LittleEndian.Uint32(vectors[4:]))
		if !ok {
			return errFault
		}
		out.write(b)
		total += uint32(len(b))
	}
	x.charge(min(n*64, total))
	return x.put32(a[3], total)
}

// word draws 8 random bytes that depend on the seed and the number of earlier draws: a splitmix64
// generator.
func (w *world) word() uint64 {
	w.drawn++
	return splitmix.Finish(bits.RotateLeft64(w.seed, 32) + w.drawn*splitmix.Gamma)
}

// random fills a buffer with random bytes.
func random(x *instance, a []uint64) uint64 {
	b, ok := x.memory.Read(uint32(a[0]), uint32(a[1]))
	if !ok {
		return errFault
	}
	x.charge(uint32(len(b)))
	x.mark(uint32(a[0]), uint32(len(b)))
	var word [8]byte
	for len(b) > 0 {
		binary.LittleEndian.PutUint64(word[:], x.world.word())
		b = b[copy(b, word[:]):]
	}
	return errNone
}

// poll answers all clock waits at once and advances time by the shortest of them. Files are always
// ready.
func poll(x *instance, a []uint64) uint64 {
	n := uint32(a[2])
	if n == 0 || n > maxPolls {
		return errInvalid
	}
	in, ok := x.memory.Read(uint32(a[0]), 48*n)
	if !ok {
		return errFault
	}
	events := make([]byte, 0, 32*n)
	wait := ^uint64(0)
	for i := range n {
		s := in[48*i:][:48]
		event := make([]byte, 32)
		copy(event, s[:8]) // the caller's user data
		event[10] = s[8]   // clock, read or write
		if s[8] == 0 {
			t := binary.LittleEndian.Uint64(s[24:])
			if s[40]&1 != 0 { // an absolute time
				from := x.world.now
				if binary.LittleEndian.Uint32(s[16:]) == 0 {
					from += epoch
				}
				t -= min(t, from)
			}
			wait = min(wait, t)
		}
		events = append(events, event...)
	}
	if wait != ^uint64(0) {
		x.world.now += wait
	}
	if e := x.put(a[1], events); e != errNone {
		return e
	}
	return x.put32(a[3], n)
}

func exit(_ *instance, a []uint64) uint64 {
	code := int32(uint32(a[0]))
	panic(&hostFault{dut.Fault{Cause: dut.Exit, Code: code, Message: "the module ended the process with code " + dut.Number(dut.Int, int64(code)).String()}})
}

// Feed implements [dut.Feeder].
func (x *instance) Feed(stdin []byte) { x.world.input = stdin }

// readInput reads from standard input; at its end it reads nothing.
func readInput(x *instance, a []uint64) uint64 {
	if uint32(a[2]) > maxVectors {
		return errInvalid
	}
	var total uint32
	for i := range uint32(a[2]) {
		at, ok := x.memory.ReadUint32Le(uint32(a[1]) + 8*i)
		size, ok2 := x.memory.ReadUint32Le(uint32(a[1]) + 8*i + 4)
		if !ok || !ok2 {
			return errFault
		}
		n := min(int(size), len(x.world.input))
		if uint32(a[0]) != 0 { // only standard input yields data
			n = 0
		}
		if n == 0 {
			continue
		}
		if e := x.put(uint64(at), x.world.input[:n]); e != errNone {
			return e
		}
		x.world.input = x.world.input[n:]
		total += uint32(n)
	}
	x.charge(min(uint32(a[2])*64, total))
	return x.put32(a[3], total)
}
