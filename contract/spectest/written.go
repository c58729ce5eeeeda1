package spectest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/contract/spectest/stage"
)

// lookEvery is the interval between two looks at what a case has written, and lookPart the fraction
// of the time that they may take (one in lookPart).
const (
	lookEvery = 50 * time.Millisecond
	lookPart  = 20
)

// errWritten is the cause of cancelling a case that writes too much.
var errWritten = errors.New("it has written more than it may")

// filesLimit bounds the total size of the files that a case writes.
type filesLimit struct {
	x      *executor
	start  time.Time
	shared string       // a folder that others use; "": none
	watch  *stage.Watch // on the shared folder
	old    map[string]int64
	line   int // of the running block
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	own   string // a folder of this case only; "": none
	found bool   // the last look found something
	over  bool
	timer *time.Timer
}

// bound starts watching what a case writes. The returned context ends when that is too much.
func (x *executor) bound(ctx context.Context, own, shared string, watch *stage.Watch) context.Context {
	x.files = nil
	room := x.c.contract.targets.Room
	if x.c.set.maxWritten == 0 || room == nil {
		return ctx
	}
	ctx, cancel := context.WithCancelCause(ctx)
	w := &filesLimit{x: x, start: time.Now(), shared: shared, watch: watch, old: make(map[string]int64), own: own, cancel: cancel}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(lookEvery, w.tick)
	x.files = w
	return ctx
}

// isAt sets the line of the running block of a page.
func (w *filesLimit) isAt(line int) {
	if w != nil {
		w.line = line
	}
}

// keepsIn sets the folder that belongs to the case alone.
func (w *filesLimit) keepsIn(dir string) {
	if w != nil {
		w.mu.Lock()
		w.own = dir
		w.mu.Unlock()
	}
}

func (w *filesLimit) tick() {
	w.mu.Lock()
	defer w.mu.Unlock()
	start := time.Now()
	if w.look(); w.over {
		w.cancel(errWritten)
	} else if w.timer != nil {
		w.timer.Reset(max(lookEvery, lookPart*time.Since(start)))
	}
}

// look adds up what was written. In a shared folder, each other command may have written as much as
// this one.
func (w *filesLimit) look() {
	room, limit := w.x.c.contract.targets.Room, w.x.c.set.maxWritten
	left := limit
	if w.own != "" {
		left = room(left, w.own, time.Time{}, nil, nil)
	}
	if w.shared != "" && left >= 0 {
		left += limit * int64(w.watch.Beside())
		left = room(left, w.shared, w.start, w.old, stage.IsStore)
	}
	w.found, w.over = left != limit, left < 0
}

// end returns a failure if the case has written too much. Writes after the last look count as well,
// unless no look has found anything.
func (w *filesLimit) end() *Failure {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer.Stop()
	w.timer = nil
	if !w.over && time.Since(w.start) >= lookEvery && w.found {
		w.look()
	}
	w.cancel(nil)
	if !w.over {
		return nil
	}
	return &Failure{Category: Runtime, Path: "files", Line: w.line, Message: fmt.Sprintf("the files that it wrote take more than %s together (--%s), and it was stopped", w.x.c.set.writtenText, optWritten)}
}
