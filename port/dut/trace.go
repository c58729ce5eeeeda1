package dut

// Trace is what happened inside a module since the trace was last taken.
type Trace struct {
	// Edges is a bit for each point of coverage that was reached: entries of
	// functions and loops, both ways of each branch, each way of a switch.
	// Point i is bit i%64 of word i/64. The points depend on the module alone.
	Edges []uint64
	// Compares are the comparisons that were made, by site, ascending; of each
	// the last one that was executed.
	Compares []Compare
}

// Relation is what a site compares for.
type Relation uint8

// The relations. Switch is a br_table: A is the operand and B the number of
// its ways without the default.
const (
	Eq Relation = iota
	Ne
	Lt
	Le
	Gt
	Ge
	Switch
)

func (r Relation) String() string {
	return [...]string{"==", "!=", "<", "<=", ">", ">=", "switch"}[r]
}

// NumberType is how the operands of a site are to be read.
type NumberType uint8

// The types. Floats are kept as the bits of a float64.
const (
	I32 NumberType = iota // sign-extended to int64
	U32                   // zero-extended
	I64
	U64 // the bits of a uint64
	F64
)

// Site is a place in the module where two numbers are compared.
type Site struct {
	Func     int // index of the function in the module
	Relation Relation
	Type     NumberType
	// Const says that the right operand is the constant B.
	Const bool
	B     int64
}

// Compare is one comparison that was executed.
type Compare struct {
	Site int // index in Info.Sites
	A, B int64
	// True and False say which results the site has had since the trace was
	// last taken; for a Switch, True is a way and False the default.
	True, False bool
}
