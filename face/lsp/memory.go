package lsp

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

const (
	room  = 128 << 20             // memory that may fill before a collection is forced
	worth = 48 << 20              // memory that is worth a collection between two keystrokes
	quiet = 20 * time.Millisecond // how long after the last diagnostics a collection may start
)

// keeper frees memory while nobody waits for an answer. A collection beside the check of a long
// document would take half of a small machine from it.
type keeper struct {
	timer *time.Timer
	mu    sync.Mutex
	freed uint64 // bytes that the process had allocated at the last collection
}

func newKeeper() *keeper {
	k := &keeper{}
	k.makeRoom()
	k.timer = time.AfterFunc(quiet, k.free)
	go touch()
	return k
}

// touch gives the heap its first memory while the editor still starts. The check of a long document
// would otherwise wait for the system at each of thousands of new pages, a fifth of its time.
func touch() {
	all := make([]byte, room/4)
	for i := 0; i < len(all); i += os.Getpagesize() {
		all[i] = 1
	}
	runtime.GC()
}

// checking keeps the next collection from starting.
func (k *keeper) checking() { k.timer.Stop() }

// answered lets the next collection start, unless another text arrives at once.
func (k *keeper) answered() { k.timer.Reset(quiet) }

// free collects what the checks since the last collection left, if it is worth the work.
func (k *keeper) free() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now := read("/gc/heap/allocs:bytes"); now-k.freed > worth {
		k.freed = now
		runtime.GC()
	}
	k.makeRoom()
}

// makeRoom lets the heap grow by room, or to five times what is in use if that is more.
func (k *keeper) makeRoom() {
	inUse := max(read("/gc/heap/live:bytes"), 4<<20) // the runtime reckons with at least 4 MiB
	debug.SetGCPercent(int(max(400, room*100/inUse)))
}

func read(name string) uint64 {
	now := []metrics.Sample{{Name: name}}
	metrics.Read(now)
	return now[0].Value.Uint64()
}
