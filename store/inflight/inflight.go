// Package inflight records what the process that writes a run is executing, so
// that the next process of the run knows it if this one is killed. A journal
// records only what is over, and a program under test that kills the process
// that started it never gets that far.
//
// The file has a slot for each worker. It is mapped into memory where the system
// can do that, so that a case costs two stores. Its content survives the
// process, however that ends; it need not survive the machine.
//
// The package imports the standard library alone.
package inflight

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Kind is what is going on in a slot.
type Kind uint8

// The kinds.
const (
	Idle  Kind = iota
	Probe      // the target is tried before the first case
	Start      // lanes are opened
	Case       // a case of a round is executed
	Again      // a finding's case, or a smaller one, is executed again
)

// Mark is what a worker is doing.
type Mark struct {
	Kind     Kind   `json:"kind"`
	Campaign int    `json:"campaign"`
	Index    int64  `json:"index,omitempty"` // of the case
	Count    int    `json:"count,omitempty"` // number of cases from Index on, if they are executed together
	Print    uint32 `json:"print,omitempty"` // distinguishes the inputs of a case
}

const (
	magic    = "THRESHF1"
	slotSize = 64 // a cache line, so that workers do not slow each other down

	maxCampaign = 1<<20 - 1
	maxIndex    = 1<<40 - 1
)

// words encodes a mark; a mark that does not fit is encoded as idle.
func (m Mark) words() (head, tail uint64) {
	if m.Campaign < 0 || m.Campaign > maxCampaign || m.Index < 0 || m.Index > maxIndex {
		return 0, 0
	}
	return uint64(m.Kind)<<60 | uint64(m.Campaign)<<40 | uint64(m.Index), uint64(uint32(m.Count))<<32 | uint64(m.Print)
}

func markOf(head, tail uint64) Mark {
	return Mark{
		Kind: Kind(head >> 60), Campaign: int(head >> 40 & maxCampaign), Index: int64(head & maxIndex),
		Count: int(uint32(tail >> 32)), Print: uint32(tail),
	}
}

// Create makes the file at path anew, with this number of slots. process
// identifies the process.
func Create(path string, slots int, process uint64) (*File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make the list of what is being run: %w", err)
	}
	// Write the file instead of only extending it: a full disk must be noticed
	// here, not when a page is stored to.
	b := make([]byte, (slots+1)*slotSize)
	copy(b, magic)
	binary.LittleEndian.PutUint64(b[len(magic):], process)
	if _, err := f.WriteAt(b, 0); err != nil {
		return nil, errors.Join(fmt.Errorf("make the list of what is being run: %w", err), f.Close(), os.Remove(path))
	}
	file := &File{f: f, path: path, slots: slots}
	file.attach(len(b))
	return file, nil
}

// Begin records what the worker of a slot does from now on.
func (f *File) Begin(slot int, m Mark) {
	if f == nil || slot >= f.slots {
		return
	}
	head, tail := m.words()
	f.store(slot, tail, head)
}

// End records that the worker of a slot is idle.
func (f *File) End(slot int) {
	if f != nil && slot < f.slots {
		f.store(slot, 0, 0)
	}
}

// Close removes the file, since its process ends normally.
func (f *File) Close() error {
	if f == nil {
		return nil
	}
	return errors.Join(f.detach(), f.f.Close(), os.Remove(f.path))
}

// Read returns the number of the process that left a file at path, and what it
// was doing; nothing if there is no file, or an incomplete one.
func Read(path string) (process uint64, marks []Mark, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil, nil
	}
	if err != nil {
		return 0, nil, fmt.Errorf("read what was being run: %w", err)
	}
	if len(b) < slotSize || string(b[:len(magic)]) != magic {
		return 0, nil, nil
	}
	process = binary.LittleEndian.Uint64(b[len(magic):])
	for at := slotSize; at+slotSize <= len(b); at += slotSize {
		m := markOf(binary.NativeEndian.Uint64(b[at:]), binary.NativeEndian.Uint64(b[at+8:]))
		if m.Kind != Idle {
			marks = append(marks, m)
		}
	}
	return process, marks, nil
}
