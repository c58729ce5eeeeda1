package campaign

import (
	"crypto/sha256"
	"slices"
)

// Tree computes the root of a Merkle tree, leaf by leaf. Its memory grows with the
// logarithm of the number of leaves. The zero value is an empty tree.
type Tree struct {
	peaks [][sha256.Size]byte // roots of full trees, the largest first
	n     uint64
	buf   []byte
}

// Add adds a leaf.
func (t *Tree) Add(leaf []byte) {
	t.buf = append(append(t.buf[:0], 0), leaf...)
	t.peaks = append(t.peaks, sha256.Sum256(t.buf))
	t.n++
	for n := t.n; n&1 == 0; n >>= 1 { // two trees of one size become one
		last := len(t.peaks) - 1
		t.peaks[last-1] = joined(t.peaks[last-1], t.peaks[last])
		t.peaks = t.peaks[:last]
	}
}

// Root returns the root of the leaves so far.
func (t *Tree) Root() []byte {
	if len(t.peaks) == 0 {
		sum := sha256.Sum256(nil)
		return sum[:]
	}
	root := t.peaks[len(t.peaks)-1]
	for i := len(t.peaks) - 2; i >= 0; i-- {
		root = joined(t.peaks[i], root)
	}
	return root[:]
}

func joined(a, b [sha256.Size]byte) [sha256.Size]byte {
	both := [1 + 2*sha256.Size]byte{1}
	copy(both[1+copy(both[1:], a[:]):], b[:])
	return sha256.Sum256(both[:])
}

// Comparison says what must be equal in two executions of a case.
type Comparison uint8

// The comparisons.
const (
	CompareExact   Comparison = iota // all facts that people see
	CompareVerdict                   // the verdict
	CompareNone                      // nothing
)

// Differing names what differs between two executions of a case but must not; "":
// nothing. [Outcome].Data is not compared, as a cold lane may record more there
// than an accelerated one.
func (how Comparison) Differing(a, b Outcome) string {
	switch {
	case a.Kind == KindEndedLater || b.Kind == KindEndedLater:
		return "" // which case meets the end of a system depends on time
	case a.Verdict != b.Verdict:
		return "another verdict"
	case how != CompareExact:
		return ""
	case a.Kind != b.Kind || a.Title != b.Title || a.Severity != b.Severity:
		return "another kind or title"
	case a.Signature != b.Signature || !slices.Equal(a.Cause, b.Cause):
		return "another signature or cause"
	case a.Input != b.Input:
		return "another input"
	}
	return ""
}
