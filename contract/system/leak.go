package system

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	judges "github.com/thresh-dev/thresh/engine/judge"
	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/port/sut"
)

// kindLeak is an answer that depends on the arguments of an earlier call.
const kindLeak = "state-leak"

// recent matches names of operations that may answer equal calls differently whatever was called
// before.
var recent = lazy.Pattern(`(?i)recent|last|latest|history|previous|visit|activ|session|undo|log|next|pop|create|random|cursor|now|draw|roll|ask|answer|auth|oauth|rpc|graphql|ping`)

// reads reports whether an operation should answer equal calls equally, and whether only its name
// suggests that.
func reads(o *sut.Operation) (yes, byName bool) {
	switch {
	case o.Reads || o.Destroys:
		return o.Reads, false
	case o.Method != "":
		return o.Method == "GET" && !recent().MatchString(o.Name+" "+o.Path), false
	}
	return judges.ReadsByName(o.Name) && !recent().MatchString(o.Name), true
}

// earlier is a call before the last call of a case.
type earlier struct {
	Operation string          `json:"operation"`
	Args      json.RawMessage `json:"args"`
	Take      []take          `json:"take,omitempty"`
}

// leaks reports whether the earlier calls must not change the answer.
func (in *input) leaks() bool {
	return in.Before != nil && in.Take == nil && !in.Later && in.Check == ""
}

// usage is an operation with valid inputs: the usual ones, and those with one special argument.
type usage struct {
	op    *sut.Operation
	valid [2][]input
}

// anew reports whether each call can be made to a freshly started system.
func (c *Campaign) anew() bool {
	return c.plan.Kind == sut.MCP && len(c.plan.Command) > 0 && c.plan.URL == ""
}

// alternated is for how many operations the usual call is repeated after other calls, if the system
// cannot be restarted.
const alternated = 20

// leaks returns, for each operation that reads, the case that compares its usual call with the same
// call after other calls.
func (c *Campaign) leaks(all []usage) [][][]byte {
	lists := make([][][]byte, len(all))
	all = slices.Clone(all)
	for i := range all {
		if yes, _ := reads(all[i].op); !yes {
			all[i].valid = [2][]input{}
		}
	}
	for i := range all {
		usual := all[i].valid[0]
		if len(usual) == 0 {
			continue
		}
		in := usual[len(usual)-1] // without optional arguments, if there is such a call
		in.About = "after other calls"
		for k := range all {
			if other := all[k].valid[0]; k != i && len(other) > 0 && len(in.Before) < 8 {
				in.Before = append(in.Before, earlier{Operation: other[0].Operation, Args: other[0].Args})
			}
		}
		var own []earlier
		for _, other := range slices.Concat(usual[:len(usual)-1], all[i].valid[1]) {
			if len(own) < 4 && !bytes.Equal(other.Args, in.Args) {
				own = append(own, earlier{Operation: other.Operation, Args: other.Args})
			}
		}
		// If a server keeps something only of its last call, that must not be the empty text that
		// it starts with.
		slices.SortStableFunc(own, func(a, b earlier) int { return len(a.Args) - len(b.Args) })
		in.Before = append(in.Before, own...)
		if text, err := json.Marshal(in); err == nil && len(in.Before) > 0 {
			lists[i] = [][]byte{text}
		}
	}
	return lists
}

// executeLeak makes a call to a freshly started server, twice, and to one that has answered other
// calls. If the server cannot be restarted, it compares answers after the same call with answers
// after other calls, several times. If these are equal, it compares answers after the other calls
// in two orders.
func (e *executor) executeLeak(ctx context.Context, s *state, k campaign.Case, op *sut.Operation, in *input) (out campaign.Outcome, err error) {
	self := earlier{Operation: in.Operation, Args: in.Args}
	before := slices.DeleteFunc(slices.Clone(in.Before), func(b earlier) bool { return s.failed[b.Operation] }) // such a call ends the server, or takes long
	if len(before) == 0 {
		return out, nil
	}
	x, plan := e.x, [][]earlier{{self}, before, {self}, before, {self}}
	if e.c.anew() {
		fresh := *e.c.plan
		fresh.Per = sut.PerCase
		if x, err = e.c.open(ctx, &fresh, sut.Worker{Index: e.lane.Index, Of: e.lane.Of, Cold: true}); err != nil {
			return out, err
		}
		defer func() { err = errors.Join(err, x.Close()) }()
		plan = [][]earlier{nil, before, nil}
	}
	answer := func(first []earlier) (said []byte, err error) {
		for calls := append(slices.Clone(first), self); ; {
			if err := x.Reset(ctx); err != nil {
				return nil, err
			}
			failed := -1
			for i, call := range calls {
				named, err := arguments(call.Args)
				if err != nil {
					return nil, err
				}
				o, err := e.call(ctx, k, x, sut.Call{Operation: call.Operation, Named: named})
				if err == nil {
					err = last(s, in, call, &o)
				}
				if err != nil {
					return nil, err
				}
				out.Elapsed += o.Elapsed
				if o.End != sut.Answered && o.End != sut.Refused {
					failed = i // another case is about that
					break
				}
				if said = bytes.Clone(o.Output); len(said) == 0 {
					said = o.Value
				}
			}
			if failed < 0 {
				return said, nil
			}
			if failed == len(calls)-1 {
				return nil, nil
			}
			gone := calls[failed] // nor is it repeated, because it may take as long as the limit allows
			same := func(c earlier) bool { return c.Operation == gone.Operation && bytes.Equal(c.Args, gone.Args) }
			for i := range plan {
				plan[i] = slices.DeleteFunc(slices.Clone(plan[i]), same)
			}
			before = slices.DeleteFunc(slices.Clone(before), same)
			calls = slices.Delete(calls, failed, failed+1)
		}
	}
	said, other := make([][]byte, len(plan)), "fresh"
	for i := 0; i < len(plan); i++ {
		if said[i], err = answer(plan[i]); err != nil || said[i] == nil {
			return out, err
		}
		switch {
		case !e.c.anew() && other == "fresh" && (i == 1 && bytes.Equal(said[0], said[1]) || i == 2 && bytes.Equal(said[1], said[2])):
			// The server keeps nothing, or what it keeps is permanent. Does that depend on the
			// order of the calls?
			back := slices.Clone(before)
			slices.Reverse(back)
			plan, other, i = [][]earlier{back, before, back, before}, "reversed", -1
		case i == 1 && bytes.Equal(said[0], said[1]):
			return out, nil
		case i > 1 && !bytes.Equal(said[i], said[i-2]):
			return out, nil
		}
	}
	out.Verdict, out.Severity, out.Kind = campaign.VerdictFail, campaign.SeverityMedium, kindLeak
	out.Title = op.Name + ": the answer depends on earlier calls"
	if _, byName := reads(op); byName {
		out.Title += " (its name says that it changes nothing)"
	}
	out.Cause = []string{kindLeak, op.Name}
	out.Evidence = []campaign.Attachment{{Name: "answer", Data: said[1]}, {Name: other, Data: said[0]}}
	return out, nil
}
