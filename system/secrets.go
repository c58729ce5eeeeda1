package system

import (
	"bytes"
	"strings"

	"github.com/thresh-dev/thresh/port/sut"
)

// shortest is the length of the shortest value that is kept out of what is
// stored: shorter ones stand in any text by chance.
const shortest = 8

// secrets are the values of variables, and what stands in their place in all
// that a system answers and prints: observations are journalled and reported.
type secrets [][2]string

func (s *secrets) add(value, mark string) {
	if len(value) >= shortest {
		*s = append(*s, [2]string{value, mark})
	}
}

// hide takes the values out of an observation.
func (s secrets) hide(o *sut.Observation) {
	for _, x := range s {
		value, mark := []byte(x[0]), []byte(x[1])
		for _, b := range []*[]byte{&o.Output, &o.Printed, (*[]byte)(&o.Value)} {
			if bytes.Contains(*b, value) {
				*b = bytes.ReplaceAll(*b, value, mark)
			}
		}
		o.Why = strings.ReplaceAll(o.Why, x[0], x[1])
		for i := range o.Events {
			e := &o.Events[i]
			e.Args, e.Result = bytes.ReplaceAll(e.Args, value, mark), bytes.ReplaceAll(e.Result, value, mark)
			e.Error = strings.ReplaceAll(e.Error, x[0], x[1])
		}
	}
}
