package store

import (
	"encoding/binary"
	"errors"
	"iter"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/store/journal"
)

// evidenceSize is how much evidence is compressed into one record: as much as
// zstd compresses without a window to look back in.
const evidenceSize = 120 << 10

// evidence is what was seen in cases, on its way into one record of the journal:
// the lowest and the highest index, then the compressed cases.
type evidence struct {
	raw       []byte
	low, high int64
	out, data []byte // buffers for the record, and for its compressed content
}

func (x *evidence) add(e *Entry, seen []campaign.Attachment) {
	if len(x.raw) == 0 {
		x.low, x.high = e.Case.Index, e.Case.Index
	}
	x.low, x.high = min(x.low, e.Case.Index), max(x.high, e.Case.Index)
	for _, n := range [...]int64{int64(e.Campaign), int64(e.Attempt), e.Case.Index, int64(len(seen))} {
		x.raw = binary.AppendUvarint(x.raw, uint64(n))
	}
	for _, a := range seen {
		x.raw = binary.AppendUvarint(x.raw, uint64(len(a.Name)))
		x.raw = append(x.raw, a.Name...)
		x.raw = binary.AppendUvarint(x.raw, uint64(len(a.Data)))
		x.raw = append(x.raw, a.Data...)
	}
}

// record returns the journal record, empty if there is no evidence, and drops the
// evidence.
func (x *evidence) record(p *packer) ([]byte, error) {
	if len(x.raw) == 0 {
		return nil, nil
	}
	if err := p.ready(); err != nil {
		return nil, err
	}
	data := binary.AppendUvarint(nil, uint64(x.low))
	data = binary.AppendUvarint(data, uint64(x.high))
	x.data = p.enc.EncodeAll(x.raw, data)
	x.out = journal.AppendAside(x.out[:0], KindEvidence, x.data)
	x.raw = x.raw[:0]
	return x.out, nil
}

var errEvidence = errors.New("a record of evidence cannot be decoded")

// place is a case in a journal.
type place struct {
	campaign, attempt int
	index             int64
}

// cases calls each for every case of a record. It does not decompress a record
// that has no cases from low to high.
func (p *packer) cases(data []byte, low, high int64, each func(place, []campaign.Attachment)) error {
	from, n := binary.Uvarint(data)
	to, m := binary.Uvarint(data[max(n, 0):])
	if n <= 0 || m <= 0 {
		return errEvidence
	}
	if int64(to) < low || int64(from) > high {
		return nil
	}
	if err := p.ready(); err != nil {
		return err
	}
	b, err := p.dec.DecodeAll(data[n+m:], nil)
	if err != nil {
		return errors.Join(errEvidence, err)
	}
	ok := true
	number := func() int {
		v, k := binary.Uvarint(b)
		if k <= 0 {
			ok, b = false, nil
			return 0
		}
		b = b[k:]
		return int(v)
	}
	text := func() []byte {
		n := number()
		if n < 0 || n > len(b) {
			ok, b = false, nil
			return nil
		}
		s := b[:n:n]
		b = b[n:]
		return s
	}
	for len(b) > 0 {
		at := place{number(), number(), int64(number())}
		var seen []campaign.Attachment
		for range number() {
			seen = append(seen, campaign.Attachment{Name: string(text()), Data: text()})
			if !ok {
				return errEvidence
			}
		}
		if !ok {
			return errEvidence
		}
		each(at, seen)
	}
	return nil
}

// Evidenced yields what [Journal.Entries] yields, and adds the stored evidence to
// outcomes. It holds the evidence of some hundreds of cases. Outcomes whose
// evidence cannot be read come without it.
func (j *Journal) Evidenced() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		var p packer
		seen := make(map[place][]campaign.Attachment)
		for e, err := range j.Entries() {
			switch {
			case err != nil:
			case e.Kind == KindEvidence:
				_ = p.cases(e.Data, 0, 1<<62, func(at place, list []campaign.Attachment) { seen[at] = list })
				continue
			case e.Kind.Outcome():
				at := place{e.Campaign, e.Attempt, e.Case.Index}
				e.Outcome.Evidence = seen[at]
				delete(seen, at)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}
