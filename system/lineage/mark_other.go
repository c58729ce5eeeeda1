//go:build !linux

package lineage

// Mark does nothing here: only Linux can find the descendants of a dead process. Elsewhere process
// groups are killed.
type Mark struct{}

// New marks nothing here.
func New(int) (Mark, error) { return Mark{}, nil }

// Sweep finds nothing here.
func (Mark) Sweep() {}

// Living returns 0 here.
func (Mark) Living() int { return 0 }
