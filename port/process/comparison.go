package process

import "context"

// Comparison is two operands that a program held against each other and found
// different.
type Comparison struct {
	Kind     ComparisonKind
	Constant bool   // A stands in the program
	A, B     []byte // numbers in the machine's byte order
}

// ComparisonKind says what the operands are.
type ComparisonKind uint8

// The kinds, as the coverage runtime numbers them.
const (
	Numbers ComparisonKind = iota + 1 // of 1 to 8 bytes
	Bytes                             // of equal length, perhaps cut
	Texts                             // without their zero byte, perhaps cut
)

// Comparer is implemented by runners that can run a case of a program once more and
// listen to what it compares. Programs that cannot say so give none.
type Comparer interface {
	Compare(ctx context.Context, c Case) ([]Comparison, error)
}
