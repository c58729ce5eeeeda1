package starbox

import (
	"fmt"

	"go.starlark.net/starlark"
)

// Limits bound one call into a program.
type Limits struct {
	Steps uint64 // abstract steps of the interpreter; large operations count as many
	Alloc int64  // bytes allocated in total
	Value int64  // bytes of any one value
}

// DefaultLimits let an operator rewrite a text of a million characters, and end
// an endless loop within a fraction of a second.
func DefaultLimits() Limits {
	return Limits{Steps: 10_000_000, Alloc: 256 << 20, Value: 32 << 20}
}

// Sizes for charges: a slot of a list or a tuple, an entry of a dictionary or a
// set, and the bytes that one step may touch.
const (
	slotSize     = 16
	entrySize    = 64
	bytesPerStep = 64
	maxDepth     = 200       // of nested values that are printed
	maxDigits    = 10_000    // of a number that is read from text
	maxIntBits   = 512 << 10 // of a computed integer
)

// Budget is what is left of the limits during one call.
type Budget struct {
	limits Limits
	thread *starlark.Thread
	alloc  int64
}

// LimitError says which limit a call has met.
type LimitError struct{ What string }

func (e *LimitError) Error() string { return e.What }

// reset restores the whole limits.
func (b *Budget) reset() {
	b.alloc = b.limits.Alloc
	b.thread.Steps = 0
}

// Charge takes n bytes off the budget, and the steps to write them. Call it
// before making values outside the interpreter, such as in methods of a
// caller's own types.
func (b *Budget) Charge(n int64) error {
	if n > b.limits.Value || n < 0 {
		return &LimitError{fmt.Sprintf("makes a value of more than %s", size(b.limits.Value))}
	}
	if b.alloc -= n; b.alloc < 0 {
		return &LimitError{fmt.Sprintf("allocates more than %s", size(b.limits.Alloc))}
	}
	b.thread.Steps += uint64(n / bytesPerStep)
	return nil
}

// work takes the steps to look at n bytes off the budget.
func (b *Budget) work(n int64) { b.thread.Steps += uint64(n / bytesPerStep) }

func size(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}

// product multiplies sizes without overflow.
func product(a, b int64) int64 {
	if a > 0 && b > (1<<62)/a {
		return 1 << 62
	}
	return a * b
}

// weigh returns the size of a flat copy of v, in bytes.
func weigh(v starlark.Value) int64 {
	switch v := v.(type) {
	case starlark.String:
		return int64(len(v))
	case starlark.Bytes:
		return int64(len(v))
	case starlark.Int:
		return intSize(v)
	case *starlark.Dict:
		return product(int64(v.Len()), entrySize)
	case *starlark.Set:
		return product(int64(v.Len()), entrySize)
	case starlark.Sequence:
		return product(int64(v.Len()), slotSize)
	case starlark.Iterable:
		return product(count(v), slotSize)
	}
	return 0
}

func intSize(v starlark.Int) int64 {
	if _, small := v.Int64(); small {
		return 0
	}
	return int64(v.BigInt().BitLen()) / 8
}

// count returns the length of an iterable that does not know it. All of these
// are views of strings, so it ends.
func count(v starlark.Iterable) int64 {
	it := v.Iterate()
	defer it.Done()
	n := int64(0)
	var x starlark.Value
	for it.Next(&x) {
		n++
	}
	return n
}

// printed returns the largest possible size of v as text, in bytes; it walks
// nested values and charges the walk.
func (b *Budget) printed(v starlark.Value, depth int) (int64, error) {
	if depth > maxDepth {
		return 0, &LimitError{fmt.Sprintf("prints a value nested more than %d levels deep", maxDepth)}
	}
	sum := int64(0)
	add := func(e starlark.Value) error {
		n, err := b.printed(e, depth+1)
		if sum += n + 4; err == nil && sum > b.limits.Value {
			err = b.Charge(sum)
		}
		return err
	}
	switch v := v.(type) {
	case starlark.String:
		return 4 * int64(len(v)), nil
	case starlark.Bytes:
		return 4 * int64(len(v)), nil
	case starlark.Int:
		return 3*intSize(v) + 20, nil
	case *starlark.Dict:
		b.work(product(int64(v.Len()), entrySize))
		for _, item := range v.Items() {
			if err := add(item); err != nil {
				return sum, err
			}
		}
	case starlark.Sequence:
		b.work(product(int64(v.Len()), slotSize))
		it := v.Iterate()
		defer it.Done()
		var e starlark.Value
		for it.Next(&e) {
			if err := add(e); err != nil {
				return sum, err
			}
		}
	default:
		return 40, nil
	}
	return sum + 2, nil
}
