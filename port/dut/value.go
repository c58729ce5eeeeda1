package dut

import "strconv"

// Kind is what a model knows about a value that crosses into a module.
type Kind uint8

// The kinds.
const (
	Void   Kind = iota // no value; only of results
	Bool               // Int is 0 or 1
	Int                // Int
	Enum               // Int is the index in the declared values
	Ref                // Int is the handle of an entity, as the module or the harness gave it
	String             // Str, UTF-8
)

func (k Kind) String() string {
	return [...]string{"void", "bool", "int", "enum", "ref", "string"}[k]
}

// Value is one argument or result.
type Value struct {
	Kind Kind
	Int  int64
	Str  string
}

func (v Value) String() string {
	switch v.Kind {
	case Void:
		return "void"
	case Bool:
		return strconv.FormatBool(v.Int != 0)
	case String:
		return strconv.Quote(v.Str)
	default:
		return strconv.FormatInt(v.Int, 10)
	}
}

// Number makes a value of any kind but [String].
func Number(k Kind, n int64) Value { return Value{Kind: k, Int: n} }

// Text makes a value of kind [String].
func Text(s string) Value { return Value{Kind: String, Str: s} }
