package store

import (
	"cmp"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/store/inflight"
	"github.com/thresh-dev/thresh/store/journal"
	"github.com/thresh-dev/thresh/store/lock"
)

const (
	groupSize  = 64 << 10              // records are written when they reach this many bytes,
	groupDelay = 20 * time.Millisecond // or after this delay,
	syncEvery  = time.Second           // and forced to the disk this often
)

// Writer appends to the journal of one run and holds the run's lock. It is safe for concurrent
// use.
//
// A write that fails, most likely on a full disk, fails the writer for good: the file is cut back
// to its last whole record, and the run can be resumed once there is room.
type Writer struct {
	store *Store
	id    string
	lock  *lock.Lock
	man   Manifest

	record string // blob of the last saved record

	mu     sync.Mutex
	enc    journal.Encoder
	buf    []byte   // records not yet written
	seen   evidence // evidence of outcomes among them
	err    error    // of the first failed write, or of use after Close
	closed bool

	io    sync.Mutex // held while writing, taken before mu
	f     *os.File
	off   int64 // end of the last whole record in f
	chain chain
	spare []byte // swapped with buf
	other evidence

	wake chan struct{} // there are records to write
	stop chan struct{}
	done chan struct{} // the background writer has ended
}

var errClosed = errors.New("the run's journal is closed")

func newWriter(s *Store, man Manifest, l *lock.Lock, f *os.File, off int64, enc journal.Encoder, before chain) *Writer {
	w := &Writer{
		store: s, id: man.RunID, lock: l, man: man, enc: enc, f: f, off: off, chain: before,
		buf: make([]byte, 0, 2*groupSize), spare: make([]byte, 0, 2*groupSize),
		wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	go w.background()
	return w
}

// RunID returns the run's name.
func (w *Writer) RunID() string { return w.id }

// Append adds one record and, with an outcome, the evidence of its case, which readers get with
// the outcome if they ask for it. It returns before the record is on the disk: the record survives
// a kill of this process after some hundredths of a second, and a crash of the machine after about
// a second.
func (w *Writer) Append(e Entry, seen ...campaign.Attachment) error {
	w.mu.Lock()
	if w.err != nil || w.closed {
		defer w.mu.Unlock()
		return cmp.Or(w.err, errClosed)
	}
	before := len(w.buf)
	var err error
	if w.buf, err = w.enc.Append(w.buf, &e); err == nil && len(seen) > 0 {
		w.seen.add(&e, seen)
	}
	full := len(w.buf) >= groupSize || len(w.seen.raw) >= evidenceSize
	w.mu.Unlock()
	switch {
	case err != nil:
		return err
	case full:
		return w.flush()
	case before == 0:
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
	return nil
}

// Sync writes all records and forces them to the disk.
func (w *Writer) Sync() error {
	if err := w.flush(); err != nil {
		return err
	}
	w.io.Lock()
	defer w.io.Unlock()
	if w.f == nil {
		return errClosed
	}
	if err := w.f.Sync(); err != nil {
		return w.fail(err)
	}
	return nil
}

// Close writes all records, forces them to the disk and releases the run's lock. Closing again
// does nothing.
func (w *Writer) Close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil
	}
	w.closed = true
	w.mu.Unlock()
	close(w.stop)
	<-w.done
	err := w.Sync()

	w.io.Lock()
	defer w.io.Unlock()
	w.mu.Lock()
	if w.err == nil {
		w.err = errClosed
	}
	w.mu.Unlock()
	err = errors.Join(err, w.f.Close(), w.lock.Close())
	w.f = nil
	return err
}

// background writes appended records after a short delay, so that many records cost one write, and
// syncs now and then.
func (w *Writer) background() {
	defer close(w.done)
	var write, sync <-chan time.Time
	for {
		select {
		case <-w.stop:
			return
		case <-w.wake:
			if write == nil {
				write = time.After(groupDelay)
			}
		case <-write:
			write = nil
			_ = w.flush() // the error is kept in w.err, and returned by the next call
			if sync == nil {
				sync = time.After(syncEvery)
			}
		case <-sync:
			sync = nil
			_ = w.Sync()
		}
	}
}

// flush writes what was appended.
func (w *Writer) flush() error {
	w.io.Lock()
	defer w.io.Unlock()
	w.mu.Lock()
	b, err := w.buf, w.err
	w.buf = w.spare[:0]
	w.seen, w.other = w.other, w.seen
	w.mu.Unlock()
	w.spare = b
	if err != nil || len(b) == 0 {
		return err
	}
	// Evidence first, so that an outcome in the file always has its evidence there.
	record, err := w.other.record(&w.store.pack)
	if err != nil {
		return w.fail(err)
	}
	if len(record) > 0 {
		w.chain.proofs.Add(w.other.data)
	}
	if w.chain.sum != nil {
		record = append(journal.AppendAside(nil, KindChain, w.chain.sum.Sum(nil)), record...)
	}
	if len(record) > 0 {
		if err := w.write(record); err != nil {
			return err
		}
	}
	return w.write(b)
}

// write appends records to the file.
func (w *Writer) write(b []byte) error {
	n, err := w.f.WriteAt(b, w.off)
	if err != nil {
		w.off += int64(journal.WholeRecords(b[:n]))
		// If cutting back fails as well, the next reader takes the rest for the torn tail that it
		// is.
		return w.fail(errors.Join(err, w.f.Truncate(w.off)))
	}
	w.off += int64(n)
	if w.chain.sum != nil {
		w.chain.sum.Write(b)
	}
	return nil
}

// fail makes err the writer's error, unless it already has one.
func (w *Writer) fail(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		if at, ok := errors.AsType[*fs.PathError](err); ok {
			err = at.Err // the error names the folder from before it was renamed
		}
		w.err = diag.WithHint(
			diag.Environment("write the journal of run %s: %w", w.id, err),
			"what was written before is kept; once the cause is fixed, resume run "+w.id)
	}
	return w.err
}

const inflightFile = "inflight"

// Died returns the number of an earlier process of the run that was killed, and what it was doing;
// nothing if the last one ended normally.
func (w *Writer) Died() (process uint64, marks []inflight.Mark, err error) {
	return inflight.Read(w.store.runPath(w.id, inflightFile))
}

// InFlight starts recording what this process is doing, with this number of slots.
func (w *Writer) InFlight(slots int) (*inflight.File, error) {
	return inflight.Create(w.store.runPath(w.id, inflightFile), slots, rand.Uint64())
}
