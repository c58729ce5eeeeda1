package app

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/secret"
	"github.com/thresh-dev/thresh/engine/systemfile"
	"github.com/thresh-dev/thresh/port/sut"
)

// SystemChecked is the result of checking a system file.
type SystemChecked struct {
	Diagnostics diag.List
	Plan        *sut.Plan       // nil if the file is refused
	Operations  []sut.Operation // as the system lists them, if it was opened
	Opened      bool
	Notes       []string
	Tried       []SystemTried
}

// SystemTried is a call made to try a system.
type SystemTried struct {
	What        string // "reset" or the operation
	Observation sut.Observation
	Err         error
}

// CheckSystem reads a system file and opens the system to list its operations. With try, it also
// resets the system and calls one operation: the one that input names, else the first that needs no
// argument. A system that cannot be opened is an error.
func (a *App) CheckSystem(ctx context.Context, path string, try bool) (out SystemChecked, err error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return out, diag.WithHint(diag.Refused("there is no system file %s", path), "thresh init system FOLDER writes one")
	}
	set := NewBundle().Fill(campaign.Settings{})
	var k keeper
	out.Plan, out.Diagnostics = systemfile.Load(path, k.reader(set.Read, credentials{}), set.Digest)
	if k.missing != nil {
		return SystemChecked{}, k.missing
	}
	defer func() { err = out.redact(secret.New(k.list), err) }()
	if out.Plan == nil {
		return out, nil
	}
	out.Plan.Command = set.Programs(out.Plan.Command)
	x, err := systems()(ctx, out.Plan, sut.Worker{Of: 1, Cold: true})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	out.Opened, out.Operations = true, x.Operations()
	if try {
		out.Tried = append(out.Tried, tryReset(ctx, x))
		if t, ok := tryCall(ctx, x, out.Plan, out.Operations); ok {
			out.Tried = append(out.Tried, t)
		} else {
			out.Notes = append(out.Notes, "no operation was called: each needs arguments; name one with input: {operation: NAME, argument: NAME}")
		}
	}
	out.Notes = append(out.Notes, x.Notes()...)
	return out, ctx.Err()
}

// redact takes secrets out of everything that is shown.
func (s *SystemChecked) redact(r *secret.Redactor, err error) error {
	redact(r, s.Diagnostics)
	if p := s.Plan; p != nil {
		p.URL = r.String(p.URL)
		for i := range p.Command {
			p.Command[i] = r.String(p.Command[i])
		}
	}
	for i := range s.Tried {
		t := &s.Tried[i]
		t.Observation.Value, t.Observation.Why, t.Err = r.Bytes(t.Observation.Value), r.String(t.Observation.Why), redactError(r, t.Err)
	}
	for i := range s.Notes {
		s.Notes[i] = r.String(s.Notes[i])
	}
	return redactError(r, err)
}

func tryReset(ctx context.Context, x sut.System) SystemTried {
	return SystemTried{What: "reset", Err: x.Reset(ctx), Observation: sut.Observation{End: sut.Answered}}
}

// tryCall calls an operation that can be called without knowing what it means.
func tryCall(ctx context.Context, x sut.System, p *sut.Plan, ops []sut.Operation) (t SystemTried, ok bool) {
	call := sut.Call{}
	switch {
	case p.Input.Operation != "" || p.Kind == sut.Command || p.Kind == sut.Chat || p.Kind == sut.Python && len(ops) == 1:
		t.What, call.Input = p.Input.Operation, []byte("hello")
		if t.What == "" && len(ops) > 0 {
			t.What = ops[0].Name
		}
	default:
		for _, o := range ops {
			if !needsArguments(&o) {
				t.What, call.Operation = o.Name, o.Name
				break
			}
		}
	}
	if t.What == "" {
		return t, false
	}
	if p.Input.Operation != "" {
		if op, found := sut.Find(ops, p.Input.Operation); found {
			for _, arg := range op.Arguments {
				if arg.Required && arg.Name != p.Input.Argument {
					call.Named = append(call.Named, sut.Named{Name: arg.Name, Value: anyValue(arg.Type)})
				}
			}
		}
	}
	t.Observation, t.Err = x.Call(ctx, call)
	return t, true
}

func needsArguments(o *sut.Operation) bool {
	return slices.ContainsFunc(o.Arguments, func(a sut.Argument) bool { return a.Required })
}

// anyValue returns a value of a type, to try an operation with.
func anyValue(kind string) json.RawMessage {
	for k, v := range map[string]string{"integer": "1", "number": "1", "boolean": "true", "array": "[]", "object": "{}"} {
		if k == kind {
			return json.RawMessage(v)
		}
	}
	return json.RawMessage(`"hello"`)
}
