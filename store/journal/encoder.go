package journal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"time"
)

const (
	magic = "THRESHJ"
	// Version is the format that this package writes. It also reads version 1,
	// which has no records of kind chain.
	Version = 2
	// HeadSize is the number of bytes before the first record.
	HeadSize = len(magic) + 1
	// MaxRecord bounds the body of one record. It is far above what a run
	// writes, and keeps a damaged length from causing absurd allocations.
	MaxRecord = 1 << 30

	crcSize   = 4
	samePlace = 0x80 // bit of the kind byte
)

// castagnoli is the polynomial for which processors have an instruction.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendHead appends the beginning of a journal file.
func AppendHead(dst []byte) []byte {
	return append(append(dst, magic...), Version)
}

// context is what a record is encoded relative to.
type context struct {
	campaign, attempt, round int
	index                    int64 // of the last outcome, plus one
	at                       int64 // milliseconds
}

// Encoder turns entries into records. The zero value is at the start of a
// journal; [Scanner.Encoder] returns one that continues where reading stopped.
type Encoder struct{ ctx context }

// Append appends the record of e to dst. On error it returns dst as it was, and
// the encoder is unchanged.
func (enc *Encoder) Append(dst []byte, e *Entry) ([]byte, error) {
	if e.Kind == 0 || e.Kind > maxKind {
		return dst, fmt.Errorf("journal entry of %v: no such kind", e.Kind)
	}
	if e.Campaign < 0 || e.Attempt < 0 || e.Case.Round < 0 || e.Case.Index < 0 || e.After < 0 {
		return dst, fmt.Errorf("journal entry of kind %v: negative campaign, attempt, round or index", e.Kind)
	}
	if len(e.Data) > MaxRecord-64 {
		return dst, fmt.Errorf("journal entry of kind %v: %d bytes of data, more than %d", e.Kind, len(e.Data), MaxRecord-64)
	}
	ctx := enc.ctx
	start := len(dst)
	dst = append(dst, 0) // the length; almost always one byte

	kind, round := byte(e.Kind), ctx.round
	if e.Kind.Outcome() {
		round = e.Case.Round
	}
	if e.Campaign == ctx.campaign && e.Attempt == ctx.attempt && round == ctx.round {
		dst = append(dst, kind|samePlace)
	} else {
		dst = append(dst, kind)
		dst = binary.AppendUvarint(dst, uint64(e.Campaign))
		dst = binary.AppendUvarint(dst, uint64(e.Attempt))
		dst = binary.AppendUvarint(dst, uint64(round))
		ctx.campaign, ctx.attempt, ctx.round = e.Campaign, e.Attempt, round
	}
	at := int64(e.At / time.Millisecond)
	dst = binary.AppendVarint(dst, at-ctx.at)
	ctx.at = at
	switch e.Kind {
	case KindOutcome:
		dst = binary.AppendVarint(dst, e.Case.Index-ctx.index)
		ctx.index = e.Case.Index + 1
	case KindClosing: // relative to nothing: versions that skip it do not know its index
		dst = binary.AppendUvarint(dst, uint64(e.Case.Index))
		dst = binary.AppendUvarint(dst, uint64(e.After))
	}
	if e.Kind.Outcome() {
		dst = binary.AppendUvarint(dst, uint64(max(0, e.Outcome.Elapsed/time.Microsecond)))
		dst = e.Outcome.AppendFacts(dst)
	} else {
		dst = append(dst, e.Data...)
	}

	n := len(dst) - start - 1
	if n > MaxRecord {
		return dst[:start], fmt.Errorf("journal entry of kind %v: %d bytes, more than %d", e.Kind, n, MaxRecord)
	}
	if n < 0x80 {
		dst[start] = byte(n)
	} else {
		var head [binary.MaxVarintLen64]byte
		k := binary.PutUvarint(head[:], uint64(n))
		dst = append(dst, head[1:k]...) // room; the bytes are moved into place below
		copy(dst[start+k:], dst[start+1:start+1+n])
		copy(dst[start:], head[:k])
	}
	dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
	enc.ctx = ctx
	return dst, nil
}

// AppendAside appends a record with only data that may precede any encoder's
// records, even those that were encoded before it: it takes place and time from
// the record before it.
func AppendAside(dst []byte, kind Kind, data []byte) []byte {
	start := len(dst)
	dst = binary.AppendUvarint(dst, uint64(len(data)+2))
	dst = append(dst, byte(kind)|samePlace, 0)
	dst = append(dst, data...)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// WholeRecords returns the length of the longest prefix of b that ends at the
// end of a record. b must be records of an [Encoder], cut anywhere.
func WholeRecords(b []byte) int {
	off := 0
	for {
		n, k := binary.Uvarint(b[off:])
		if k <= 0 || n > MaxRecord || int(n) > len(b)-off-k-crcSize {
			return off
		}
		off += k + int(n) + crcSize
	}
}
