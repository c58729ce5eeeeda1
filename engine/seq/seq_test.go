package seq_test

import (
	"reflect"
	"strconv"
	"testing"

	"github.com/thresh-dev/thresh/engine/seq"
)

func TestLists(t *testing.T) {
	odd := func(n int) bool { return n%2 == 1 }
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"map", seq.Map([]int{3, 1, 2}, strconv.Itoa), []string{"3", "1", "2"}},
		{"map of nothing", seq.Map(nil, strconv.Itoa), []string{}},
		{"filter", seq.Filter([]int{3, 2, 1}, odd), []int{3, 1}},
		{"filter of nothing", seq.Filter([]int{2}, odd), []int(nil)},
		{"set", seq.SetOf([]int{1, 2, 3}, odd), map[bool]bool{true: true, false: true}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: %#v, want %#v", c.name, c.got, c.want)
		}
	}
}
