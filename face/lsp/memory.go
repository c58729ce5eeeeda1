package lsp

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	_ "github.com/thresh-dev/thresh/face/lsp/early"
)

const (
	room  = 128 << 20             // memory that may fill before a collection is forced
	worth = 48 << 20              // memory that is worth a collection between two keystrokes
	full  = 96 << 20              // memory after which the next check could force a collection
	quiet = 20 * time.Millisecond // how long after the last diagnostics a collection may start
)

// keeper frees memory while nobody waits for an answer. A collection beside the check of a long
// document would take half of a small machine from it. Package early gives it memory for
// the first check.
type keeper struct {
	timer *time.Timer
	mu    sync.Mutex
	freed uint64 // bytes that the process had allocated at the last collection
}

func newKeeper() *keeper {
	k := &keeper{}
	k.makeRoom()
	k.timer = time.AfterFunc(quiet, k.free)
	return k
}

// checking keeps the next collection from starting.
func (k *keeper) checking() { k.timer.Stop() }

// answered lets the next collection start, unless another text arrives at once. If memory runs
// short, it collects now, while the editor shows the answer: a check that has both processors to
// itself after a collection ends sooner than one beside it.
func (k *keeper) answered() {
	if k.used() > full {
		k.free()
		return
	}
	k.timer.Reset(quiet)
}

// used returns how many bytes have been allocated since the last collection.
func (k *keeper) used() uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return read("/gc/heap/allocs:bytes") - k.freed
}

// free collects what the checks since the last collection left, if it is worth the work.
func (k *keeper) free() {
	if k.used() > worth {
		k.mu.Lock()
		k.freed = read("/gc/heap/allocs:bytes")
		k.mu.Unlock()
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
