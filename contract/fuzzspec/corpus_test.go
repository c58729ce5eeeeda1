package fuzzspec

import (
	"slices"
	"testing"
)

// The small corpus reaches all that the whole does, by the shortest inputs.
func TestFavoured(t *testing.T) {
	list := []input{
		{name: "long", data: []byte("xxxx"), edges: []uint32{1 << 8, 2 << 8}}, {name: "short", data: []byte("x"), edges: []uint32{1 << 8, 2 << 8}},
		{name: "more", data: []byte("xxxxx"), edges: []uint32{1<<8 | 1, 2 << 8, 3 << 8, 4 << 8}}, {name: "crash", data: []byte("y"), edges: nil},
	}
	var names []string
	small := favoured(list)
	for _, x := range small {
		names = append(names, x.name)
	}
	edges, tuples := reached(small)
	if !slices.Equal(names, []string{"more", "short"}) || edges != 4 || tuples != 5 {
		t.Errorf("%v: %d edges, %d tuples", names, edges, tuples)
	}
}
