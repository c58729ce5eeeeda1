package aflserver

import (
	"errors"
	"fmt"
	"time"
)

// line is the part of a forkline.Line that the greeting needs.
type line interface {
	Send(word uint32) error
	Receive(timeout time.Duration) (uint32, error)
	Discard(n int, timeout time.Duration) error
}

// The first word of the dialect of AFL++ up to 4.0x.
const (
	oldEnabled     = 0x80000001
	oldMapSize     = 0x40000000 // bits 1 to 23 hold the size minus one
	oldSharedInput = 0x01000000
	oldCmplog      = 0x02000000 // cmplog as in 4.00 to 4.10
	oldWorkaround  = 0x0f000000 // all set: versions in which these four bits mean nothing
	oldError       = 0xf800008f // bits 8 to 23 hold the reason
)

// The words of the dialect since 4.20.
const (
	newVersion     = 0x41464c00 // "AFL" and the version
	newVersionMask = 0x000000ff
	newLatest      = 1
	newError       = 0xeffe0000 // the low 16 bits hold the reason
	newMapSize     = 0x00000001 // a word follows
	newSharedInput = 0x00000002
	newDictionary  = 0x00000800 // a length and that many bytes follow
)

// plainMapSize is the size of the edge map if the server does not name one.
const plainMapSize = 1 << 16

// maxDictionary exceeds any dictionary a compiler collects; a greater length means that the words
// were misinterpreted.
const maxDictionary = 1 << 24

// terms are what a server and its client agree on.
type terms struct {
	mapSize     int
	sharedInput bool
	cmplog      cmplogAge
}

// failures are the reasons that a server gives for not starting.
var failures = map[uint32]string{
	1:  "the edge map is too small for the program",
	2:  "the edge map is not available at the address that the program was compiled for",
	4:  "it cannot open the shared memory",
	8:  "it cannot attach the shared memory",
	16: "it cannot map the shared memory",
	32: "it was compiled by an outdated version of AFL++",
	64: "its loader comes from an outdated version of AFL++",
}

func failure(code uint32) error {
	if text, ok := failures[code]; ok {
		return errors.New("the fork server does not start: " + text)
	}
	return fmt.Errorf("the fork server does not start: error %d", code)
}

// greet receives a server's first word and negotiates the terms in its dialect.
func greet(l line, timeout time.Duration) (terms, error) {
	hello, err := l.Receive(timeout)
	if err != nil {
		return terms{}, err
	}
	switch {
	case hello&^newVersionMask == newVersion:
		return greetNew(l, hello, timeout)
	case hello&0xffff0000 == newError:
		return terms{}, failure(hello & 0xffff)
	case hello&oldError == oldError:
		return terms{}, failure(hello >> 8 & 0xffff)
	case hello&oldEnabled == oldEnabled:
		return greetOld(l, hello)
	}
	return terms{mapSize: plainMapSize}, nil // an AFL from before there were flags
}

func greetOld(l line, hello uint32) (terms, error) {
	t := terms{mapSize: plainMapSize}
	if hello&oldWorkaround == oldWorkaround {
		hello &^= oldWorkaround
	}
	if hello&oldCmplog != 0 {
		t.cmplog = earlyCmplog
	}
	if hello&oldMapSize != 0 {
		t.mapSize = int(hello>>1&0x7fffff) + 1
	}
	if hello&oldSharedInput != 0 {
		t.sharedInput = true
		// Not naming a dictionary declines it.
		if err := l.Send(oldEnabled | oldSharedInput); err != nil {
			return terms{}, err
		}
	}
	return t, nil
}

func greetNew(l line, hello uint32, timeout time.Duration) (terms, error) {
	if v := hello & newVersionMask; v == 0 || v > newLatest {
		return terms{}, fmt.Errorf("the fork server speaks version %d of its protocol; up to %d is known", v, newLatest)
	}
	if err := l.Send(^hello); err != nil {
		return terms{}, err
	}
	options, err := l.Receive(timeout)
	if err != nil {
		return terms{}, err
	}
	if options&0xffff0000 == newError {
		return terms{}, failure(options & 0xffff)
	}
	t := terms{mapSize: plainMapSize, sharedInput: options&newSharedInput != 0, cmplog: lateCmplog}
	if options&newMapSize != 0 {
		size, err := l.Receive(timeout)
		if err != nil {
			return terms{}, err
		}
		t.mapSize = int(size)
	}
	if options&newDictionary != 0 {
		length, err := l.Receive(timeout)
		if err != nil {
			return terms{}, err
		}
		if length > maxDictionary {
			return terms{}, fmt.Errorf("the fork server offers a dictionary of %d bytes", length)
		}
		if err := l.Discard(int(length), timeout); err != nil {
			return terms{}, err
		}
	}
	// Unknown options carry no data; otherwise this word is not the last.
	end, err := l.Receive(timeout)
	if err != nil {
		return terms{}, err
	}
	if end != hello {
		return terms{}, fmt.Errorf("the fork server has options that are not known: %#x", options)
	}
	return t, nil
}
