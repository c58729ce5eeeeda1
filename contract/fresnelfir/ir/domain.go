package ir

// Domain is the values that an input may have.
type Domain struct {
	Place
	Name     string
	Type     Type     // Enum, Bool, Int or, which is an extension, String
	Values   []string // of an enum or a string
	Min, Max int64    // of an int
	Variants []string // of a string: texts that are tried in place of Values now and then
}

// Size is the number of values; ranges too large to count give the maximum. Variants do
// not count.
func (d *Domain) Size() uint64 {
	switch d.Type {
	case Bool:
		return 2
	case Enum, String:
		return uint64(len(d.Values))
	}
	if d.Max < d.Min {
		return 0
	}
	n := uint64(d.Max) - uint64(d.Min)
	if n+1 == 0 {
		return n
	}
	return n + 1
}

// Integer is integer number i of a domain, the simplest first.
func (d *Domain) Integer(i uint64) int64 { return Integer(d.Min, d.Max, i) }

// Number is the number of an integer of a domain.
func (d *Domain) Number(v int64) uint64 {
	near := min(max(0, d.Min), d.Max)
	if v == near {
		return 0
	}
	above, below := uint64(d.Max)-uint64(near), uint64(near)-uint64(d.Min)
	if v > near {
		far := uint64(v) - uint64(near)
		return far + min(far-1, below)
	}
	far := uint64(near) - uint64(v)
	return far + min(far, above)
}

// Integer is integer number i of a range, those that are nearest to 0 first and
// of two that are as near the positive one: 0, 1, -1, 2 ...
func Integer(low, high int64, i uint64) int64 {
	near := min(max(0, low), high)
	above, below := uint64(high)-uint64(near), uint64(near)-uint64(low)
	both := 2 * min(above, below)
	switch {
	case i > both && above > below:
		return int64(uint64(near) + i - both/2)
	case i > both:
		return int64(uint64(near) - i + both/2)
	case i%2 == 1:
		return near + int64(i/2) + 1
	}
	return near - int64(i/2)
}
