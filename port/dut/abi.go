package dut

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/diag"
)

// Lowering is how one argument becomes WebAssembly values.
type Lowering uint8

// The lowerings. A bool is 0 or 1, an enum its index, a ref its handle. An int must fit:
// -2^31..2^32-1 for i32, and what a float represents exactly for floats.
const (
	AsI32           Lowering = iota
	AsI64                    // one i64
	AsF32                    // one f32
	AsF64                    // one f64
	AsPointerLength          // a string: address and length, two i32
	AsCString                // a string: address of bytes that end with a zero, one i32
)

// Lifting is how the results of a function become a value.
type Lifting uint8

// The liftings.
const (
	FromNothing       Lifting = iota
	FromI32                   // a number; signed for ints, refs and enums; any value except zero is true
	FromI64                   // likewise
	FromF32                   // must be whole
	FromF64                   // must be whole
	FromPacked                // a string: i64, address<<32 | length
	FromPair                  // a string: two i32, address and length
	FromPointerToPair         // a string: i32, address of address and length, 4 bytes each
)

// Allocator is a function of the module that allocates memory for strings.
type Allocator uint8

// The allocators, in the order of preference. Scratch is a page that the harness adds to the
// memory; each call writes it from its start.
const (
	NoAllocator Allocator = iota
	FirAlloc              // __fir_alloc(size) or (size, align)
	Alloc                 // alloc(size) or (size, align)
	Malloc                // malloc(size)
	CabiRealloc           // cabi_realloc(old, old size, align, size)
	AssemblyNew           // __new(size, class); class 0 is a plain buffer
	ScratchPage           // none is exported
)

var allocatorNames = [...]string{"none", "__fir_alloc", "alloc", "malloc", "cabi_realloc", "__new", "scratch page"}

func (a Allocator) String() string { return allocatorNames[a] }

// ABI says how to call a binding's function.
type ABI struct {
	Function  string
	Sig       Signature
	Args      []Lowering // one for each parameter of the binding
	Result    Lifting
	Allocator Allocator // for strings among the arguments
}

// String writes the convention for people: "transfer(i32, i32, address+length) -> packed string; strings by malloc".
func (a ABI) String() string {
	args := make([]string, len(a.Args))
	for i, l := range a.Args {
		args[i] = [...]string{"i32", "i64", "f32", "f64", "address+length", "zero-ended string"}[l]
	}
	s := a.Function + "(" + strings.Join(args, ", ") + ")"
	if a.Result != FromNothing {
		s += " -> " + [...]string{"", "i32", "i64", "f32", "f64", "packed string", "address+length", "address of address+length"}[a.Result]
	}
	if a.Allocator != NoAllocator {
		s += "; strings by " + a.Allocator.String()
	}
	return s
}

// Mismatch is a way in which a binding does not fit the module.
type Mismatch uint8

// The mismatches.
const (
	MissingExport Mismatch = iota
	WrongExportKind
	ParamCountMismatch
	ReturnCountMismatch
	TypeMismatch
	NoMemory // strings cannot be passed
	ReturnTypeMismatch
)

// BindProblem is a binding that does not fit.
type BindProblem struct {
	Binding  int // index in Plan.Bindings
	Mismatch Mismatch
	Message  string // "function: what is wrong"
	Nearest  string // nearest name of an exported function, for MissingExport, or ""
}

// BindError lists the bindings that do not fit, in order.
type BindError struct{ Problems []BindProblem }

func (e *BindError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.Message
	}
	return strings.Join(lines, "; ")
}

// Bind chooses how to call each binding, by the signatures that the module exports. memory says
// that the module has a memory.
func Bind(bindings []Binding, exports []Export, memory bool) ([]ABI, error) {
	var problems []BindProblem
	abis := make([]ABI, len(bindings))
	functions := make(map[string]*Export, len(exports))
	var names []string
	for i := range exports {
		e := &exports[i]
		if _, twice := functions[e.Name]; !twice {
			functions[e.Name] = e
		}
		if e.Kind == Func {
			names = append(names, e.Name)
		}
	}
	allocator := findAllocator(functions)
	for i, b := range bindings {
		bad := func(m Mismatch, format string, args ...any) {
			problems = append(problems, BindProblem{Binding: i, Mismatch: m, Message: b.Function + ": " + fmt.Sprintf(format, args...)})
		}
		e := functions[b.Function]
		if e == nil {
			bad(MissingExport, "the module does not export it")
			problems[len(problems)-1].Nearest = diag.Nearest(b.Function, names)
			continue
		}
		if e.Kind != Func {
			bad(WrongExportKind, "the export is %s, not a function", diag.A(e.Kind.String()))
			continue
		}
		abi := ABI{Function: b.Function, Sig: e.Sig}
		strs := 0
		for _, p := range b.Params {
			if p.Kind == String {
				strs++
			}
		}
		have, pairs := len(e.Sig.Params), strs > 0
		switch {
		case have == len(b.Params)+strs:
		case have == len(b.Params):
			pairs = false
		default:
			want := fmt.Sprint(len(b.Params))
			if strs > 0 {
				want = fmt.Sprintf("%d, or %d with a length after each string", len(b.Params), len(b.Params)+strs)
			}
			bad(ParamCountMismatch, "the function takes %d parameters, the binding gives %s", have, want)
			continue
		}
		ok := true
		at := 0
		for _, p := range b.Params {
			t := e.Sig.Params[at]
			at++
			l, fits := lowering(p.Kind, t)
			if p.Kind == String && fits && pairs {
				l, fits = AsPointerLength, e.Sig.Params[at] == TypeI32
				at++
			}
			if !fits {
				bad(TypeMismatch, "parameter %q is %s, which does not go into %s", p.Name, diag.A(p.Kind.String()), t)
				ok = false
				continue
			}
			abi.Args = append(abi.Args, l)
		}
		lift, m, fits := lifting(b.Result, e.Sig.Results)
		if !fits {
			bad(m, "the function returns (%s), the binding wants %s", list(e.Sig.Results), b.Result)
			ok = false
		}
		abi.Result = lift
		if (strs > 0 || b.Result == String) && !memory {
			bad(NoMemory, "strings need a memory, and the module has none")
			ok = false
		}
		if strs > 0 {
			abi.Allocator = allocator
		}
		if ok {
			abis[i] = abi
		}
	}
	if problems != nil {
		return nil, &BindError{problems}
	}
	return abis, nil
}

func lowering(k Kind, t ValType) (Lowering, bool) {
	if k == String {
		return AsCString, t == TypeI32
	}
	i := slices.Index([]ValType{TypeI32, TypeI64, TypeF32, TypeF64}, t)
	return Lowering(max(i, 0)), i >= 0 && k != Void
}

func lifting(k Kind, results []ValType) (Lifting, Mismatch, bool) {
	switch {
	case k == Void:
		return FromNothing, ReturnCountMismatch, len(results) == 0
	case k == String && slices.Equal(results, []ValType{TypeI32, TypeI32}):
		return FromPair, 0, true
	case len(results) != 1:
		return 0, ReturnCountMismatch, false
	case k == String && results[0] == TypeI64:
		return FromPacked, 0, true
	case k == String:
		return FromPointerToPair, ReturnTypeMismatch, results[0] == TypeI32
	}
	i := slices.Index([]ValType{TypeI32, TypeI64, TypeF32, TypeF64}, results[0])
	return FromI32 + Lifting(max(i, 0)), ReturnTypeMismatch, i >= 0
}

// HasAllocator reports whether a module exports a function that allocates memory for strings.
func HasAllocator(exports []Export) bool {
	functions := make(map[string]*Export)
	for i := range exports {
		functions[exports[i].Name] = &exports[i]
	}
	return findAllocator(functions) != ScratchPage
}

// findAllocator returns the first allocator with a known signature.
func findAllocator(functions map[string]*Export) Allocator {
	for a, counts := range [...][]int{FirAlloc: {1, 2}, Alloc: {1, 2}, Malloc: {1}, CabiRealloc: {4}, AssemblyNew: {2}} {
		e := functions[allocatorNames[a]]
		if counts == nil || e == nil || e.Kind != Func || !slices.Equal(e.Sig.Results, []ValType{TypeI32}) {
			continue
		}
		all32 := !slices.ContainsFunc(e.Sig.Params, func(t ValType) bool { return t != TypeI32 })
		if all32 && slices.Contains(counts, len(e.Sig.Params)) {
			return Allocator(a)
		}
	}
	return ScratchPage
}

// Kind is what a model knows about a value that is passed to or from a module.
type Kind uint8

// The kinds.
const (
	Void   Kind = iota // no value; only for results
	Bool               // Int is 0 or 1
	Int                // Int
	Enum               // Int is the index in the declared values
	Ref                // Int is the handle of an entity, as assigned by the module or the harness
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
		return "done"
	case Bool:
		return strconv.FormatBool(v.Int != 0)
	case String:
		return strconv.Quote(v.Str)
	default:
		return strconv.FormatInt(v.Int, 10)
	}
}

// Number returns a value of any kind except [String].
func Number(k Kind, n int64) Value { return Value{Kind: k, Int: n} }

// Text returns a value of kind [String].
func Text(s string) Value { return Value{Kind: String, Str: s} }
