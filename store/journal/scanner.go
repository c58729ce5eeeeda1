package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"time"

	"github.com/thresh-dev/thresh/campaign"
)

// TornError says that a journal ends within a record: the writer was killed,
// or the disk was full. Everything before Offset is whole.
type TornError struct {
	Offset int64 // where the last whole record ends
	Bytes  int64 // number of bytes after it
}

func (e *TornError) Error() string {
	if e.Offset+e.Bytes == 0 {
		return "the journal is empty"
	}
	return fmt.Sprintf("the journal is torn: the last %d bytes, from offset %d, are not a whole record", e.Bytes, e.Offset)
}

// DamageError says that a journal is damaged in its middle: whole records
// follow the place, but what precedes them cannot be trusted.
type DamageError struct {
	Offset int64 // where the last whole record before the damage ends
	Bytes  int64 // number of bytes after it
	Reason string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("the journal is damaged at offset %d (%s): the %d bytes from there on cannot be used", e.Offset, e.Reason, e.Bytes)
}

// FormatError says that a file is not a journal that this version can read.
type FormatError struct{ Reason string }

func (e *FormatError) Error() string { return e.Reason }

const readSize = 256 << 10

// Scanner reads the records of a journal one after the other, in constant
// memory (one record, or 256 KiB).
type Scanner struct {
	r    io.ReaderAt
	size int64

	buf    []byte // bytes [bufOff, bufOff+len(buf)) of the file
	bufOff int64
	off    int64 // end of the last whole record

	version int // of the file's format, once a record was read

	ctx  context
	head Entry  // the current entry without the facts or data
	rest []byte // facts or data of the current entry, within buf
	err  error
	done bool
}

// NewScanner reads the first size bytes of r.
func NewScanner(r io.ReaderAt, size int64) *Scanner { return &Scanner{r: r, size: size} }

// Next moves to the next record. It returns false at the end and at the first
// record that is not whole; [Scanner.Err] says which.
func (s *Scanner) Next() bool {
	if s.done {
		return false
	}
	if s.off == 0 && !s.readHead() {
		return false
	}
	if s.off == s.size {
		s.done = true
		return false
	}
	body, k, ok := s.frame()
	if !ok {
		s.done = true
		if s.err == nil {
			s.err = s.classify("a record does not match its checksum")
		}
		return false
	}
	if !s.parse(body) {
		s.done = true
		s.err = &DamageError{s.off, s.size - s.off, "a record is malformed"}
		return false
	}
	s.off += int64(k + len(body) + crcSize)
	return true
}

// Grow makes the scanner continue where it stopped, in what are now the first
// size bytes of the reader. A torn journal may have been continued or cut
// there; a damaged one stays damaged.
func (s *Scanner) Grow(size int64) {
	var torn *TornError
	if size < s.off || s.err != nil && !errors.As(s.err, &torn) {
		return
	}
	s.size, s.err, s.done = size, nil, false
	s.buf = s.buf[:0] // may hold what was cut since
}

// Offset returns where the last whole record ends.
func (s *Scanner) Offset() int64 { return s.off }

// Version returns the format of the file; 0 before the first record.
func (s *Scanner) Version() int { return s.version }

// Err returns why Next returned false: nil at a clean end, a [*TornError], a
// [*DamageError], a [*FormatError], or an error of the reader.
func (s *Scanner) Err() error { return s.err }

// Kind returns the kind of the current record.
func (s *Scanner) Kind() Kind { return s.head.Kind }

// Verdict returns the verdict of the current record's outcome; a pass if it has
// no outcome.
func (s *Scanner) Verdict() campaign.Verdict {
	if !s.head.Kind.Outcome() || len(s.rest) == 0 {
		return campaign.VerdictPass
	}
	return campaign.VerdictOf(s.rest)
}

// Entry decodes the current record. Its Data is valid until the next call of
// Next.
func (s *Scanner) Entry() (Entry, error) {
	e := s.head
	if !e.Kind.Outcome() {
		e.Data = s.rest
		return e, nil
	}
	out, ok := campaign.DecodeFacts(s.rest)
	if !ok {
		return e, fmt.Errorf("the outcome of case %d, before offset %d of the journal, cannot be decoded", e.Case.Index, s.off)
	}
	out.Elapsed = e.Outcome.Elapsed
	e.Outcome = out
	return e, nil
}

// Encoder returns an encoder that continues at the end of the current record.
func (s *Scanner) Encoder() Encoder { return Encoder{s.ctx} }

func (s *Scanner) readHead() bool {
	b, err := s.peek(0, int(min(s.size, int64(HeadSize))))
	switch {
	case err != nil:
		s.err = err
	case len(b) < HeadSize && string(b) == magic[:len(b)]:
		s.err = &TornError{0, s.size}
	case len(b) < HeadSize || string(b[:len(magic)]) != magic:
		s.err = &FormatError{"the file is not a Thresh journal"}
	case b[len(magic)] == 0 || b[len(magic)] > Version:
		s.err = &FormatError{fmt.Sprintf("the journal has format %d, this version of Thresh reads formats 1 to %d", b[len(magic)], Version)}
	default:
		s.version = int(b[len(magic)])
		s.off = int64(HeadSize)
		return true
	}
	s.done = true
	return false
}

// frame returns the body of the record at s.off and the size of its length
// field; false if there is no whole record (or s.err was set).
func (s *Scanner) frame() (body []byte, k int, ok bool) {
	left := s.size - s.off
	b, err := s.peek(s.off, int(min(left, binary.MaxVarintLen64)))
	if err != nil {
		s.err = err
		return nil, 0, false
	}
	n, k := binary.Uvarint(b)
	if k <= 0 || n < 2 || n > MaxRecord || int64(n) > left-int64(k+crcSize) {
		return nil, 0, false
	}
	b, err = s.peek(s.off, k+int(n)+crcSize)
	if err != nil {
		s.err = err
		return nil, 0, false
	}
	end := k + int(n)
	if crc32.Checksum(b[:end], castagnoli) != binary.LittleEndian.Uint32(b[end:]) {
		return nil, 0, false
	}
	return b[k:end], k, true
}

// parse decodes a body up to its facts or data.
func (s *Scanner) parse(b []byte) bool {
	ok := true
	uvarint := func() uint64 {
		v, k := binary.Uvarint(b)
		if k <= 0 {
			ok, b = false, nil
			return 0
		}
		b = b[k:]
		return v
	}
	varint := func() int64 {
		u := uvarint()
		return int64(u>>1) ^ -int64(u&1)
	}
	kind, ctx := b[0], s.ctx
	b = b[1:]
	if kind&samePlace == 0 {
		ctx.campaign, ctx.attempt, ctx.round = int(uvarint()), int(uvarint()), int(uvarint())
	}
	ctx.at += varint()
	s.head = Entry{Kind: Kind(kind &^ samePlace), Campaign: ctx.campaign, Attempt: ctx.attempt, At: time.Duration(ctx.at) * time.Millisecond}
	if s.head.Kind == KindOutcome {
		s.head.Case = campaign.Case{Round: ctx.round, Index: ctx.index + varint()}
		ctx.index = s.head.Case.Index + 1
	}
	if s.head.Kind == KindClosing {
		s.head.Case = campaign.Case{Round: ctx.round, Index: int64(uvarint())}
		s.head.After = int64(uvarint())
	}
	if s.head.Kind.Outcome() {
		s.head.Outcome.Elapsed = time.Duration(uvarint()) * time.Microsecond
	}
	if !ok || s.head.Kind == 0 || ctx.campaign < 0 || ctx.attempt < 0 || ctx.round < 0 || s.head.Case.Index < 0 || s.head.After < 0 {
		return false
	}
	s.ctx, s.rest = ctx, b
	return true
}

// peek returns n bytes at off, which must lie within the size. The slice is
// valid until the next call.
func (s *Scanner) peek(off int64, n int) ([]byte, error) {
	from := off - s.bufOff
	if from >= 0 && from+int64(n) <= int64(len(s.buf)) {
		return s.buf[from : from+int64(n)], nil
	}
	want := int(min(s.size-off, int64(max(n, readSize))))
	if cap(s.buf) < want {
		s.buf = make([]byte, want)
	}
	s.buf, s.bufOff = s.buf[:want], off
	// A file that has become shorter than size reads as io.EOF. The missing
	// bytes stay zero, which no checksum matches.
	k, err := s.r.ReadAt(s.buf, off)
	if err != nil && !errors.Is(err, io.EOF) {
		s.buf = s.buf[:0]
		return nil, fmt.Errorf("read the journal at offset %d: %w", off, err)
	}
	clear(s.buf[k:])
	return s.buf[:n], nil
}

const (
	searchWindow = 64 << 10 // how far behind a bad record to look for another one
	searchBody   = 4 << 10  // the longest record to look for
)

// classify says what is wrong at s.off, where there is no whole record. Writers
// only append, so a bad record with nothing whole after it is the tail that a
// crash left; with whole records after it, it is damage.
func (s *Scanner) classify(reason string) error {
	left := s.size - s.off
	window := make([]byte, min(left, searchWindow+searchBody))
	n, _ := s.r.ReadAt(window, s.off)
	window = window[:n]

	// The length may be right and the body wrong, so look just after it, even
	// if the record is longer than the window.
	if n, k := binary.Uvarint(window); k > 0 && n <= MaxRecord {
		next := s.off + int64(k) + int64(n) + crcSize
		if next < s.size {
			b := make([]byte, min(s.size-next, searchBody))
			n, _ := s.r.ReadAt(b, next)
			if wholeAt(b[:n]) {
				return &DamageError{s.off, left, reason}
			}
		}
	}
	for i := 1; i < len(window) && i < searchWindow; i++ {
		if wholeAt(window[i:]) {
			return &DamageError{s.off, left, reason}
		}
	}
	return &TornError{s.off, left}
}

// wholeAt reports whether b begins with a whole record of moderate length.
func wholeAt(b []byte) bool {
	n, k := binary.Uvarint(b)
	if k <= 0 || n < 2 || n > searchBody || int(n) > len(b)-k-crcSize {
		return false
	}
	end := k + int(n)
	return crc32.Checksum(b[:end], castagnoli) == binary.LittleEndian.Uint32(b[end:])
}
