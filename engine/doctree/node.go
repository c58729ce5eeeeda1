package doctree

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"unsafe"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

// Kind is the type of a value.
type Kind uint8

// The kinds.
const (
	Null Kind = iota
	Bool
	Int
	Float
	String
	Binary // !!binary; Text holds the decoded bytes
	Date   // a calendar day; Text is 2006-01-02
	Time   // a day and a time; Text is as Python prints it: "2006-01-02 15:04:05+01:00"
	Seq
	Map
	Set   // !!set; Members hold its elements, with Null as values
	Pairs // !!omap and !!pairs; Members in order, keys may repeat
)

// String returns the kind as people read it: "a mapping", "null".
func (k Kind) String() string {
	return [...]string{"null", "a boolean", "an integer", "a number", "a string", "binary data", "a date", "a timestamp",
		"a list", "a mapping", "a set", "a list of pairs"}[k]
}

// Pos is a position in the document. Line and Col are 1-based; Col counts bytes. Lines
// include [Options.LineOffset].
type Pos struct{ Line, Col int }

// In returns the position in a file for a diagnostic.
func (p Pos) In(file string) diag.Pos { return diag.Pos{File: file, Line: p.Line, Col: p.Col} }

// Style is how a value is written.
type Style uint8

// The bits of a style.
const (
	Quoted    Style = 1 << iota // a scalar in quotes, in a block or tagged !!str: a string, whatever it looks like
	Block                       // a literal or folded block scalar
	Flow                        // a list or mapping in brackets
	fromMerge                   // a key from a merge key <<
)

// Node is one value. Nodes that were reached through an alias share their items and members
// with the anchored node, so a tree must not be changed. A document may have millions of
// nodes, so a node takes 48 bytes, plus its list, mapping or written form.
type Node struct {
	Kind  Kind
	Bool  bool // the value, if Kind is Bool
	Style Style
	holds holds          // what part points to
	count uint32         // number of elements of part
	Pos   Pos            // of the value's first character; for a use of an alias, of the asterisk
	Text  string         // of a scalar, the result of Python's str(): the string, "True", "None", "15", "1e+16"; of Binary the bytes
	part  unsafe.Pointer // the first byte, value or member
}

// holds says what a node's part points to.
type holds uint8

const (
	holdsNothing holds = iota
	holdsRaw           // bytes of the written form
	holdsMembers
	grownMembers // members in memory for room(count)
	holdsItems
	grownItems
)

// Member is one key of a mapping with its value.
type Member struct {
	Key   Node // Key.Pos is the place of the key
	Value Node
}

// Merged reports whether the member comes from a merge key <<.
func (m *Member) Merged() bool { return m.Key.Style&fromMerge != 0 }

// Quoted reports whether a scalar is a string, whatever it looks like.
func (n *Node) Quoted() bool { return n.Style&Quoted != 0 }

// Block reports whether the value is a literal or folded block scalar.
func (n *Node) Block() bool { return n.Style&Block != 0 }

// Flow reports whether a list or mapping is in brackets.
func (n *Node) Flow() bool { return n.Style&Flow != 0 }

// Raw returns a scalar as written, with quotes and escapes decoded.
func (n *Node) Raw() string {
	if n.holds != holdsRaw {
		return ""
	}
	return unsafe.String((*byte)(n.part), n.count)
}

// Items returns the values of a list; none for nil.
func (n *Node) Items() []Node {
	if n == nil || n.holds < holdsItems {
		return nil
	}
	return unsafe.Slice((*Node)(n.part), n.count)
}

// Members returns the members of a mapping: of a Map each key once, at its first place,
// with its last value.
func (n *Node) Members() []Member {
	if n == nil || n.holds != holdsMembers && n.holds != grownMembers {
		return nil
	}
	return unsafe.Slice((*Member)(n.part), n.count)
}

// with returns the node with another part.
func (n Node) with(h holds, part unsafe.Pointer, count int) Node {
	if n.holds, n.part, n.count = h, part, uint32(count); count == 0 {
		n.holds, n.part = holdsNothing, nil
	}
	return n
}

// ListOf returns a list of values at a place.
func ListOf(at Pos, items ...Node) Node { return Node{Kind: Seq, Pos: at}.WithItems(items) }

// MappingOf returns a mapping of members at a place.
func MappingOf(at Pos, members ...Member) Node { return Node{Kind: Map, Pos: at}.WithMembers(members) }

// Add adds values to a list. As with append, copies of the list may share them.
func (n *Node) Add(more ...Node) {
	if len(more) == 0 {
		return
	}
	*n = n.WithItems(grow(n, grownItems, n.Items(), more...))
	n.holds = grownItems
}

// grow adds to the elements of a node; grown says that its memory has room.
func grow[T any](n *Node, grown holds, list []T, more ...T) []T {
	if n.holds == grown {
		list = unsafe.Slice((*T)(n.part), room(len(list)))[:len(list)]
	}
	if total := len(list) + len(more); total > cap(list) {
		list = append(make([]T, 0, room(total)), list...)
	}
	return append(list, more...)
}

// room is the capacity of memory that grows.
func room(count int) int { return 1 << bits.Len(uint(count-1)) }

// AddMember adds a member to a mapping. As with append, copies of the mapping may share it.
func (n *Node) AddMember(m Member) {
	*n = n.WithMembers(grow(n, grownMembers, n.Members(), m))
	n.holds = grownMembers
}

// WithItems returns the list with other values.
func (n Node) WithItems(list []Node) Node {
	return n.with(holdsItems, unsafe.Pointer(unsafe.SliceData(list)), len(list))
}

// WithMembers returns the mapping with other members.
func (n Node) WithMembers(list []Member) Node {
	return n.with(holdsMembers, unsafe.Pointer(unsafe.SliceData(list)), len(list))
}

// As returns the scalar with the text of its value and its written form.
func (n Node) As(text, raw string) Node {
	n.Text = text
	return n.with(holdsRaw, unsafe.Pointer(unsafe.StringData(raw)), len(raw))
}

// Within reports whether a node has at most most values and keys, including itself and
// everything that aliases stand for.
func (n *Node) Within(most int) bool { return n.remaining(most) >= 0 }

// remaining returns what is left of most after the node; negative if it does not fit.
func (n *Node) remaining(most int) int {
	most--
	for i := 0; i < len(n.Items()) && most >= 0; i++ {
		most = n.Items()[i].remaining(most)
	}
	for i := 0; i < len(n.Members()) && most >= 0; i++ {
		if most = n.Members()[i].Key.remaining(most); most >= 0 {
			most = n.Members()[i].Value.remaining(most)
		}
	}
	return most
}

// Get returns the value of a string key, or nil if the node has none.
func (n *Node) Get(key string) *Node {
	if m := n.Member(key); m != nil {
		return &m.Value
	}
	return nil
}

// Member returns the member with that string key, or nil.
func (n *Node) Member(key string) *Member {
	if n == nil || n.Kind != Map && n.Kind != Set {
		return nil
	}
	for i := range n.Members() {
		if k := &n.Members()[i].Key; k.Kind == String && k.Text == key {
			return &n.Members()[i]
		}
	}
	return nil
}

// Along returns the value at the steps of a JSON pointer, or nil.
func (n *Node) Along(steps []string) *Node {
	for _, step := range steps {
		if n != nil && n.Kind == Seq {
			n = jsontree.Item(n.Items(), step)
		} else {
			n = n.Get(step)
		}
	}
	return n
}

// Str returns the text of a String node.
func (n *Node) Str() (string, bool) {
	if n == nil || n.Kind != String {
		return "", false
	}
	return n.Text, true
}

// IsNull reports whether the node is absent or null.
func (n *Node) IsNull() bool { return n == nil || n.Kind == Null }

// Int returns the exact value of an Int node, and nil for any other.
func (n *Node) Int() *big.Int {
	if n == nil || n.Kind != Int {
		return nil
	}
	v, ok := new(big.Int).SetString(n.Text, 10)
	if !ok {
		return nil
	}
	return v
}

// Int64 returns the value of an Int node that fits.
func (n *Node) Int64() (int64, bool) {
	if n == nil || n.Kind != Int {
		return 0, false
	}
	v, err := strconv.ParseInt(n.Text, 10, 64)
	return v, err == nil
}

// Float returns the nearest float64 of an Int or Float node. ok is false if the node is not
// a number.
func (n *Node) Float() (float64, bool) {
	if n == nil || n.Kind != Int && n.Kind != Float {
		return 0, false
	}
	switch n.Text {
	case "nan":
		return math.NaN(), true
	case "inf":
		return math.Inf(1), true
	case "-inf":
		return math.Inf(-1), true
	}
	// The only remaining error is a range error, and then f is the right value.
	f, _ := strconv.ParseFloat(n.Text, 64)
	return f, true
}

// Truthy is Python's truth of the value: false for null, false, zero and everything empty.
func (n *Node) Truthy() bool {
	if n == nil {
		return false
	}
	switch n.Kind {
	case Null:
		return false
	case Bool:
		return n.Bool
	case Int:
		return n.Text != "0"
	case Float:
		f, _ := n.Float()
		return f != 0
	case String, Binary:
		return n.Text != ""
	case Seq:
		return len(n.Items()) > 0
	case Map, Set, Pairs:
		return len(n.Members()) > 0
	}
	return true
}

// JSON returns the tree in the form of engine/jsontree, members in order, as Python's json
// module would write it: keys that are not strings become their JSON text, and numbers that
// are not finite keep their names. A value that JSON cannot express (dates, binary data)
// becomes its text, a set the list of its elements, pairs a list of lists. Offsets are 0.
func (n *Node) JSON() jsontree.Node {
	switch n.Kind {
	case Null:
		return jsontree.Node{}
	case Bool:
		return jsontree.Node{Kind: jsontree.Bool, Bool: n.Bool}
	case Int:
		return jsontree.Node{Kind: jsontree.Int, Text: n.Text}
	case Float:
		f, _ := n.Float()
		return jsontree.Node{Kind: jsontree.Float, Text: jsontree.FormatFloat(f)}
	case Seq:
		list := jsontree.Node{Kind: jsontree.Array, Items: make([]jsontree.Node, len(n.Items()))}
		for i := range n.Items() {
			list.Items[i] = n.Items()[i].JSON()
		}
		return list
	case Set, Pairs:
		list := jsontree.Node{Kind: jsontree.Array, Items: make([]jsontree.Node, len(n.Members()))}
		for i := range n.Members() {
			m := &n.Members()[i]
			list.Items[i] = m.Key.JSON()
			if n.Kind == Pairs {
				list.Items[i] = jsontree.Node{Kind: jsontree.Array, Items: []jsontree.Node{list.Items[i], m.Value.JSON()}}
			}
		}
		return list
	case Map:
		object := jsontree.Node{Kind: jsontree.Object, Members: make([]jsontree.Member, 0, len(n.Members()))}
		var seen map[string]int // keys as text; not needed if all keys are strings
		if slices.ContainsFunc(n.Members(), func(m Member) bool { return m.Key.Kind != String }) {
			seen = make(map[string]int, len(n.Members()))
		}
		for i := range n.Members() {
			key, value := n.Members()[i].Key.jsonKey(), n.Members()[i].Value.JSON()
			if at, repeated := seen[key]; repeated { // such as 1 and "1"
				object.Members[at].Value = value
				continue
			}
			if seen != nil {
				seen[key] = len(object.Members)
			}
			object.Members = append(object.Members, jsontree.Member{Key: key, Value: value})
		}
		return object
	}
	return jsontree.Node{Kind: jsontree.String, Text: n.Text}
}

func (n *Node) jsonKey() string {
	switch n.Kind {
	case Null, Bool, Float:
		v := n.JSON()
		return jsontree.Compact.Format(&v)
	}
	return n.Text
}
