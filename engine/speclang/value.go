package speclang

import (
	"math"
	"math/big"
	"strconv"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// Kind is what a value is.
type Kind uint8

// The kinds.
const (
	Null Kind = iota
	Bool
	Int
	Float
	String
	List
	Dict
	Closure
	unset // a variable of a let whose expression has not been evaluated
)

// Value is one value of the language. The zero value is null. Values are
// immutable and may be shared.
type Value struct {
	kind Kind
	num  int64  // Bool, a small Int, the bits of a Float
	text string // String
	heap *heap  // a big Int, List, Dict, Closure
}

// heap is what only few values have.
type heap struct {
	big     *big.Int
	list    []Value
	entries []entry        // of a Dict, in the order of the text
	index   map[string]int // of the entries, if there are many
	fn      *expr
	env     *frame
}

type entry struct {
	key   string
	value Value
}

// NullValue is null.
func NullValue() Value { return Value{} }

// BoolValue returns a boolean.
func BoolValue(b bool) Value {
	v := Value{kind: Bool}
	if b {
		v.num = 1
	}
	return v
}

// IntValue returns an integer.
func IntValue(i int64) Value { return Value{kind: Int, num: i} }

// BigValue returns an integer of any size.
func BigValue(i *big.Int) Value {
	if i.IsInt64() {
		return IntValue(i.Int64())
	}
	return Value{kind: Int, heap: &heap{big: i}}
}

// FloatValue returns a floating-point number.
func FloatValue(f float64) Value { return Value{kind: Float, num: int64(math.Float64bits(f))} }

// StringValue returns a string: UTF-8, lone surrogates in the form of engine/jsontree.
func StringValue(s string) Value { return Value{kind: String, text: s} }

// ListValue returns a list, which takes over the slice.
func ListValue(items []Value) Value { return Value{kind: List, heap: &heap{list: items}} }

// OfJSON returns the value of a JSON tree.
func OfJSON(n *jsontree.Node) Value {
	switch n.Kind {
	case jsontree.Bool:
		return BoolValue(n.Bool)
	case jsontree.Int:
		if i, err := strconv.ParseInt(n.Text, 10, 64); err == nil {
			return IntValue(i)
		}
		return BigValue(n.Int())
	case jsontree.Float:
		f, _ := n.Float()
		return FloatValue(f)
	case jsontree.String:
		return StringValue(n.Text)
	case jsontree.Array:
		items := make([]Value, len(n.Items))
		for i := range n.Items {
			items[i] = OfJSON(&n.Items[i])
		}
		return ListValue(items)
	case jsontree.Object:
		entries := make([]entry, len(n.Members))
		for i := range n.Members {
			entries[i] = entry{n.Members[i].Key, OfJSON(&n.Members[i].Value)}
		}
		return dictValue(entries)
	}
	return Value{}
}

// manyEntries is the size from which a dict has an index.
const manyEntries = 12

// dictValue returns a dict of entries with different keys.
func dictValue(entries []entry) Value {
	h := &heap{entries: entries}
	if len(entries) >= manyEntries {
		h.index = make(map[string]int, len(entries))
		for i := range entries {
			h.index[entries[i].key] = i
		}
	}
	return Value{kind: Dict, heap: h}
}

// ParseJSON is json_parse: it parses JSON text like Python's json.loads. An error is a
// [*jsontree.Error].
func ParseJSON(text string) (Value, error) {
	d, err := jsontree.Parse([]byte(text), jsontree.Python())
	if err != nil {
		return Value{}, err
	}
	return OfJSON(&d.Root), nil
}

// Kind returns the kind of the value.
func (v Value) Kind() Kind { return v.kind }

// TypeName returns the name of the value's type for json_type: null, bool, number,
// string, list, dict, or unknown for a closure.
func (v Value) TypeName() string {
	switch v.kind {
	case Null:
		return "null"
	case Bool:
		return "bool"
	case Int, Float:
		return "number"
	case String:
		return "string"
	case List:
		return "list"
	case Dict:
		return "dict"
	}
	return "unknown"
}

// Str returns the text of a string. The second result is false for any other
// value.
func (v Value) Str() (string, bool) { return v.text, v.kind == String }

// Items returns the elements of a list, nil for any other value. They must not
// be changed.
func (v Value) Items() []Value {
	if v.kind == List {
		return v.heap.list
	}
	return nil
}

func (v Value) float() float64 { return math.Float64frombits(uint64(v.num)) }

// isNumber reports whether Python can calculate with the value; booleans are 0 and 1.
func (v Value) isNumber() bool { return v.kind == Int || v.kind == Float || v.kind == Bool }

// integer is the exact value of an Int or Bool.
func (v Value) integer() *big.Int {
	if v.heap != nil {
		return v.heap.big
	}
	return big.NewInt(v.num)
}

// Get returns the value of a key of a dict.
func (v Value) Get(key string) (Value, bool) {
	if v.kind != Dict {
		return Value{}, false
	}
	if v.heap.index != nil {
		i, ok := v.heap.index[key]
		if !ok {
			return Value{}, false
		}
		return v.heap.entries[i].value, true
	}
	for i := range v.heap.entries {
		if v.heap.entries[i].key == key {
			return v.heap.entries[i].value, true
		}
	}
	return Value{}, false
}

// Len returns the number of code points of a string, of elements of a list, of keys
// of a dict; the second result is false for any other value.
func (v Value) Len() (int, bool) {
	switch v.kind {
	case String:
		return codePoints(v.text), true
	case List:
		return len(v.heap.list), true
	case Dict:
		return len(v.heap.entries), true
	}
	return 0, false
}

// codePoints counts a lone surrogate, which is three stray bytes, as one.
func codePoints(s string) int {
	n := utf8.RuneCountInString(s)
	if utf8.ValidString(s) {
		return n
	}
	for i := 0; i < len(s); i++ {
		if _, lone := jsontree.IsLone(s[i:]); lone {
			n -= 2
			i += 2
		}
	}
	return n
}

// Truthy is Python's truth: false for null, false, zero and everything empty.
func (v Value) Truthy() bool {
	switch v.kind {
	case Null:
		return false
	case Bool:
		return v.num != 0
	case Int:
		return v.num != 0 || v.heap != nil
	case Float:
		return v.float() != 0
	case String:
		return v.text != ""
	case List, Dict:
		n, _ := v.Len()
		return n > 0
	}
	return true
}

// Equal is Python's ==: numbers and booleans by value, strings exactly, lists element
// by element, dicts regardless of order, closures if they have the same form and
// scope.
func (v Value) Equal(o Value) bool {
	if v.isNumber() && o.isNumber() {
		return equalNumbers(v, o)
	}
	if v.kind != o.kind {
		return false
	}
	switch v.kind {
	case String:
		return v.text == o.text
	case List:
		a, b := v.heap.list, o.heap.list
		if len(a) != len(b) {
			return false
		}
		for i := range a {
			if !a[i].Equal(b[i]) {
				return false
			}
		}
	case Dict:
		if len(v.heap.entries) != len(o.heap.entries) {
			return false
		}
		for _, e := range v.heap.entries {
			if other, ok := o.Get(e.key); !ok || !e.value.Equal(other) {
				return false
			}
		}
	case Closure:
		a, b := v.heap, o.heap
		return a == b || a.env == b.env && a.fn.form.equal(b.fn.form)
	}
	return true
}

func equalNumbers(v, o Value) bool {
	switch {
	case v.kind == Float && o.kind == Float:
		return v.float() == o.float()
	case o.kind == Float:
		v, o = o, v
		fallthrough
	case v.kind == Float:
		f := v.float()
		if math.IsInf(f, 0) || f != math.Trunc(f) { // NaN is equal to nothing
			return false
		}
		if o.heap == nil {
			const beyond = 1 << 63 // the first float that is no int64
			return -beyond <= f && f < beyond && int64(f) == o.num
		}
		i, _ := big.NewFloat(f).Int(nil)
		return i.Cmp(o.integer()) == 0
	case v.heap == nil && o.heap == nil:
		return v.num == o.num
	}
	return v.integer().Cmp(o.integer()) == 0
}
