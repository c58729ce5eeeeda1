package flakestorm

import (
	"testing"

	"github.com/thresh-dev/thresh/engine/fault"
)

// Arguments of a call are JSON, or the fields of a form or query.
func TestArgumentsOfCalls(t *testing.T) {
	for in, want := range map[string]struct {
		args  string
		texts bool
	}{
		`{"q":"x"}`:      {`{"q":"x"}`, false},
		`q=a+b&n=3&t=%7`: {``, false},
		`q=a+b&n=3`:      {`{"n":"3","q":"a b"}`, true},
		`tag=a&tag=b`:    {`{"tag":["a","b"]}`, true},
		``:               {`{}`, true},
		`just words`:     {``, false},
	} {
		if got := called(fault.SeenCall{Tool: "find", Arguments: in, Source: fault.SeenOnWire}); string(got.Args) != want.args || got.Texts != want.texts {
			t.Errorf("%q: %s %t, want %s %t", in, got.Args, got.Texts, want.args, want.texts)
		}
	}
	if got := called(fault.SeenCall{Tool: "find", Arguments: "q=x", Source: fault.SeenInChat}); got.Args != nil {
		t.Errorf("what a model wrote is read as a form: %s", got.Args)
	}
}
