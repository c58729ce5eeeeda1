package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/app/draft"
	"github.com/thresh-dev/thresh/diag"
)

// recordedCall is a line of a recorded trace.
type recordedCall struct {
	Action   string
	Args     map[string]any
	Returns  any
	Rejected any
}

// modelOfTrace reads the operations and calls of a recorded trace.
func modelOfTrace(f *draft.ModelFacts, text []byte) error {
	var list []recordedCall
	for i, line := range bytes.Split(text, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var r recordedCall
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&r); err != nil || r.Action == "" {
			return diag.Refused(`line %d must be {"action": NAME, "args": {...}, "returns": VALUE}`, i+1)
		}
		list = append(list, r)
	}
	if len(list) == 0 {
		return diag.Refused("the trace has no steps")
	}
	plain := func(v any) any {
		if n, ok := v.(json.Number); ok {
			if i, err := n.Int64(); err == nil {
				return i
			}
			return n.String()
		}
		switch v.(type) {
		case bool, string:
			return v
		}
		return nil
	}
	spelt := func(v any) string { // also for lists and objects, as conform reads them
		if s, ok := v.(string); ok {
			return s
		}
		b, err := json.Marshal(v)
		if err != nil {
			return "" // never happens: the value was read from JSON
		}
		return string(b)
	}
	index := map[string]int{}
	refusals := signs(list, plain)
	refused := func(r recordedCall) bool {
		return r.Rejected != nil && r.Rejected != false || refusals[r.Action] != nil && plain(r.Returns) == refusals[r.Action] && !f.Ops[index[r.Action]].Field()
	}
	for _, r := range list {
		if _, known := index[r.Action]; !known {
			index[r.Action] = len(f.Ops)
			f.Ops = append(f.Ops, draft.Op{Name: r.Action, Handle: -1})
		}
		o := &f.Ops[index[r.Action]]
		o.Answers = o.Answers || plain(r.Returns) != nil
		for _, name := range slices.Sorted(maps.Keys(r.Args)) {
			k := slices.IndexFunc(o.Slots, func(s draft.Slot) bool { return s.Name == name })
			if k < 0 {
				k = len(o.Slots)
				o.Slots = append(o.Slots, draft.Slot{Name: name, Min: math.MaxInt64, Max: math.MinInt64})
			}
			s := &o.Slots[k]
			if v := spelt(r.Args[name]); !slices.Contains(s.Values, v) && len(s.Values) < 60 {
				s.Values = append(s.Values, v)
			}
			kind := "text"
			switch v := plain(r.Args[name]).(type) {
			case int64:
				kind, s.Min, s.Max = "int", min(s.Min, v), max(s.Max, v)
			case bool:
				kind = "bool"
			}
			if s.Kind == "" {
				s.Kind = kind
			} else if s.Kind != kind {
				s.Kind = "text"
			}
		}
	}
	for i := range f.Ops {
		for k := range f.Ops[i].Slots {
			if s := &f.Ops[i].Slots[k]; s.Kind != "text" {
				s.Values = nil
			}
		}
	}
	// An argument names an instance if one action returned each of its values before. If several
	// arguments do, the one named like the thing that the action makes is taken.
	for i := range f.Ops {
		o := &f.Ops[i]
		// answered counts the calls in which the argument is a value that the maker returned
		// before; ok is false if another value occurs in some call.
		answered := func(slot, maker int) (uses int, ok bool) {
			made := map[any]bool{}
			for _, r := range list {
				if index[r.Action] == maker && r.Returns != nil {
					made[plain(r.Returns)] = true
				}
				if v, is := r.Args[o.Slots[slot].Name]; is && index[r.Action] == i && !refused(r) {
					if uses++; !made[plain(v)] {
						return 0, false
					}
				}
			}
			return uses, uses > 0 && f.Ops[maker].Answers
		}
		best, handle, maker := 0, -1, -1
		for k := range o.Slots {
			for m := range f.Ops {
				if _, ok := answered(k, m); ok && i != m {
					if score := draft.Naming(o.Slots[k].Name, f.Ops[m].Name); score > best {
						best, handle, maker = score, k, m
					}
				}
			}
		}
		if handle < 0 || o.Makes {
			continue
		}
		m := &f.Ops[maker]
		o.Handle, m.Makes, m.Handle = handle, true, -1
		if name := strings.TrimSuffix(strings.TrimSuffix(o.Slots[handle].Name, "_id"), "Id"); m.Entity == "" && name != "" {
			m.Entity = strings.ToUpper(name[:1]) + name[1:]
		}
		o.Entity = m.Entity
		for k := range o.Slots {
			if used, ok := answered(k, maker); k != handle && ok && used > 2 {
				o.Left = "it is about two instances: " + o.Slots[handle].Name + " and " + o.Slots[k].Name
			}
		}
	}
	draft.Recorded(f.Ops)
	var steps []draft.Step
	live, ended := map[string]int{}, map[string]bool{}
	known := map[string]draft.State{}
	for _, r := range list {
		op := index[r.Action]
		o := &f.Ops[op]
		st := draft.Step{Op: op, Refused: refused(r), Value: plain(r.Returns), Live: live[o.Entity]}
		for k := range o.Slots {
			if v := r.Args[o.Slots[k].Name]; o.Slots[k].Kind == "text" && k != o.Handle {
				st.Args = append(st.Args, spelt(v))
			} else {
				st.Args = append(st.Args, plain(v))
			}
		}
		switch {
		case o.Makes && !st.Refused:
			st.Made = fmt.Sprint(o.Entity, " ", st.Value)
			live[o.Entity]++
			known[st.Made] = draft.State{}
			st.After = known[st.Made]
		case !o.Makes:
			if o.Handle >= 0 {
				if st.On = fmt.Sprint(o.Entity, " ", st.Args[o.Handle]); st.Refused && known[st.On] == nil {
					continue // no instance was made that the call could be about
				}
			}
			st.Before = maps.Clone(known[st.On])
			if st.Before == nil {
				st.Before = draft.State{}
			}
			st.Before["live"] = !ended[st.On]
			if o.Field() && !st.Refused {
				if known[st.On] == nil {
					known[st.On] = draft.State{}
				}
				known[st.On][o.FieldName] = st.Value // the step before shares this map as its After
			} else if o.Pure == "" && !st.Refused {
				known[st.On] = draft.State{}
				ended[st.On] = ended[st.On] || o.Ends != ""
			}
			st.After = known[st.On]
		}
		steps = append(steps, st)
	}
	f.Sequences, f.Recorded = [][]draft.Step{steps}, true
	return nil
}

// signs returns the values by which actions refuse: an action's only negative number, if the action
// returns it more than once and also returns other numbers.
func signs(list []recordedCall, plain func(any) any) map[string]any {
	negative, others := map[string]map[int64]int{}, map[string]bool{}
	for _, r := range list {
		switch n, ok := plain(r.Returns).(int64); {
		case !ok:
		case n >= 0:
			others[r.Action] = true
		case negative[r.Action] == nil:
			negative[r.Action] = map[int64]int{n: 1}
		default:
			negative[r.Action][n]++
		}
	}
	found := map[string]any{}
	for action, counts := range negative {
		for n, times := range counts {
			if len(counts) == 1 && times > 1 && others[action] {
				found[action] = n
			}
		}
	}
	return found
}
