package spectest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/contract/spectest/stage"
)

// lookEvery is the time between two looks at what a case has written, and lookPart the
// part of the time that they may take.
const (
	lookEvery = 50 * time.Millisecond
	lookPart  = 20
)

// errWritten is why the context of a case that writes too much has ended.
var errWritten = errors.New("it has written more than it may")

// filesLimit bounds the files that a case writes, all together.
type filesLimit struct {
	x      *executor
	start  time.Time
	shared string       // a folder that others use; "": there is none
	watch  *stage.Watch // of it
	old    map[string]int64
	line   int // of the block that is run
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	own   string // a folder of the case alone; "": there is none
	found bool   // the last look has seen something
	over  bool
	timer *time.Timer
}

// bound begins to look at what a case writes. Its context ends when that is too much.
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

// isAt says on which line the block of a page is.
func (w *filesLimit) isAt(line int) {
	if w != nil {
		w.line = line
	}
}

// keepsIn says which folder is the case's alone.
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

// look adds up what was written; each command in a shared folder may have written as much.
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

// end reports whether the case has written too much, as a failure. What it does after
// the last look counts as well, unless it has written nothing before.
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
