package store

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/store/journal"
)

// chain is what a writer knows about the bytes before its next record.
type chain struct {
	sum    hash.Hash     // over all bytes so far; nil: the journal's format has no chain
	proofs campaign.Tree // of records of evidence
}

// readChain returns the chain of the first end bytes of a journal.
func readChain(f *os.File, j *Journal) (c chain, err error) {
	for e, err := range j.Entries() {
		if err != nil {
			break // cut or moved aside
		}
		if e.Kind == KindEvidence {
			c.proofs.Add(e.Data)
		}
	}
	if j.version < 2 {
		return c, nil
	}
	c.sum = sha256.New()
	_, err = io.Copy(c.sum, io.NewSectionReader(f, 0, j.end))
	return c, err
}

// EvidenceRoot writes what was appended and returns the root of a Merkle tree over
// the journal's evidence records.
func (w *Writer) EvidenceRoot() ([]byte, error) {
	if err := w.flush(); err != nil {
		return nil, err
	}
	w.io.Lock()
	defer w.io.Unlock()
	return w.chain.proofs.Root(), nil
}

// EvidenceRoot returns the root of a Merkle tree over the journal's evidence
// records, as it is.
func (j *Journal) EvidenceRoot() []byte {
	var t campaign.Tree
	for e, err := range j.Entries() {
		if err == nil && e.Kind == KindEvidence {
			t.Add(e.Data)
		}
	}
	return t.Root()
}

// Chained reports whether each group of the journal carries the hash of everything
// before it, which groups of the first format do not.
func (j *Journal) Chained() bool { return j.version >= 2 }

// CheckChain compares the hash in each group of records with the bytes before the
// group.
func (j *Journal) CheckChain() (groups int, err error) {
	s := journal.NewScanner(j.f, j.end)
	sum, hashed := sha256.New(), int64(0)
	for at := int64(0); s.Next(); at = s.Offset() {
		if s.Kind() != journal.KindChain {
			continue
		}
		if _, err := io.Copy(sum, io.NewSectionReader(j.f, hashed, at-hashed)); err != nil {
			return groups, err
		}
		hashed = at
		e, err := s.Entry()
		if err != nil {
			return groups, err
		}
		if !bytes.Equal(e.Data, sum.Sum(nil)) {
			return groups, fmt.Errorf("the group of records at offset %d does not follow the one before it", at)
		}
		groups++
	}
	return groups, s.Err()
}

// Record returns the record that the journal ends with; ok is false if there is
// none.
func (j *Journal) Record() (rec campaign.Record, ok bool, err error) {
	for e, err := range j.Entries() {
		if err != nil {
			return rec, ok, err
		}
		switch e.Kind {
		case KindEnd:
			rec = campaign.Record{}
			if err := readRecord(e.Data, &rec); err != nil {
				return rec, false, errors.Join(errors.New("the record cannot be decoded"), err)
			}
			ok = true
		case KindOutcome, KindClosing, KindResumed:
			ok = false // the run continued
		}
	}
	return rec, ok, nil
}
