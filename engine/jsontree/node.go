package jsontree

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Kind is the type of a value.
type Kind uint8

// The kinds. A number is Int if its text has neither fraction nor exponent.
const (
	Null Kind = iota
	Bool
	Int
	Float
	String
	Array
	Object
)

// String returns the kind as people read it: "an object", "null".
func (k Kind) String() string {
	return [...]string{"null", "a boolean", "an integer", "a number", "a string", "an array", "an object"}[k]
}

// Node is one JSON value.
type Node struct {
	Kind    Kind
	Offset  int    // of the value's first byte
	End     int    // just past its last byte
	Bool    bool   // the value, if Kind is Bool
	Text    string // the decoded string, or the number as written
	Items   []Node
	Members []Member // each key once: at its first position, with its last value
}

// Member is one key of an object with its value.
type Member struct {
	Key       string
	KeyOffset int // of the key's opening quote
	Value     Node
}

// Get returns the value of a key, or nil if the node has none.
func (n *Node) Get(key string) *Node {
	if m := n.Member(key); m != nil {
		return &m.Value
	}
	return nil
}

// Member returns the member of that key, or nil.
func (n *Node) Member(key string) *Member {
	if n == nil {
		return nil
	}
	for i := range n.Members {
		if n.Members[i].Key == key {
			return &n.Members[i]
		}
	}
	return nil
}

// Set sets the value of a key: in place if the key exists, at the end
// otherwise.
func (n *Node) Set(key string, v Node) {
	if m := n.Member(key); m != nil {
		m.Value = v
		return
	}
	n.Members = append(n.Members, Member{Key: key, Value: v})
}

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

// Float returns the nearest float64 of a number; one too large is an infinity.
// ok is false if the node is not a number.
func (n *Node) Float() (float64, bool) {
	if n == nil || n.Kind != Int && n.Kind != Float {
		return 0, false
	}
	switch n.Text {
	case "NaN":
		return math.NaN(), true
	case "Infinity":
		return math.Inf(1), true
	case "-Infinity":
		return math.Inf(-1), true
	}
	// The only remaining error is a range error, and then f is the right value.
	f, _ := strconv.ParseFloat(n.Text, 64)
	return f, true
}

// Str returns the text of a String node.
func (n *Node) Str() (string, bool) {
	if n == nil || n.Kind != String {
		return "", false
	}
	return n.Text, true
}

// Equal reports whether two values are equal: numbers by their text, objects
// regardless of the order of keys, and without regard to positions.
func (n *Node) Equal(o *Node) bool {
	if n.Kind != o.Kind || n.Bool != o.Bool || n.Text != o.Text ||
		len(n.Items) != len(o.Items) || len(n.Members) != len(o.Members) {
		return false
	}
	for i := range n.Items {
		if !n.Items[i].Equal(&o.Items[i]) {
			return false
		}
	}
	a, b := sortedMembers(n.Members), sortedMembers(o.Members)
	for i := range a {
		if a[i].Key != b[i].Key || !a[i].Value.Equal(&b[i].Value) {
			return false
		}
	}
	return true
}

func sortedMembers(m []Member) []Member {
	byKey := func(a, b Member) int { return strings.Compare(a.Key, b.Key) }
	if slices.IsSortedFunc(m, byKey) {
		return m
	}
	m = slices.Clone(m)
	slices.SortFunc(m, byKey)
	return m
}

// Of makes a tree from a Go value: nil, bool, string, the integer types in
// records, float64, *big.Int, slices and maps of these, and trees.
func Of(v any) (Node, error) {
	switch v := v.(type) {
	case nil:
		return Node{}, nil
	case Node:
		return v, nil
	case bool:
		return Node{Kind: Bool, Bool: v}, nil
	case string:
		return Node{Kind: String, Text: v}, nil
	case int:
		return Node{Kind: Int, Text: strconv.Itoa(v)}, nil
	case int64:
		return Node{Kind: Int, Text: strconv.FormatInt(v, 10)}, nil
	case uint64:
		return Node{Kind: Int, Text: strconv.FormatUint(v, 10)}, nil
	case *big.Int:
		if v == nil {
			return Node{}, nil
		}
		return Node{Kind: Int, Text: v.String()}, nil
	case float64:
		return Node{Kind: Float, Text: FormatFloat(v)}, nil
	case []string:
		return ofSlice(v)
	case []any:
		return ofSlice(v)
	case []map[string]any:
		return ofSlice(v)
	case map[string]string:
		return ofMap(v)
	case map[string]int:
		return ofMap(v)
	case map[string]any:
		return ofMap(v)
	}
	return Node{}, fmt.Errorf("no JSON form for a value of type %T", v)
}

func ofSlice[T any](list []T) (Node, error) {
	n := Node{Kind: Array, Items: make([]Node, len(list))}
	for i, e := range list {
		item, err := Of(e)
		if err != nil {
			return Node{}, fmt.Errorf("[%d]: %w", i, err)
		}
		n.Items[i] = item
	}
	return n, nil
}

func ofMap[T any](m map[string]T) (Node, error) {
	n := Node{Kind: Object, Members: make([]Member, 0, len(m))}
	for k, e := range m {
		v, err := Of(e)
		if err != nil {
			return Node{}, fmt.Errorf("%s: %w", k, err)
		}
		n.Members = append(n.Members, Member{Key: k, Value: v})
	}
	n.Members = sortedMembers(n.Members)
	return n, nil
}
