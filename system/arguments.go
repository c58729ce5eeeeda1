package system

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/port/sut"
)

// Arguments returns the arguments of a call by name, those of a format that binds by
// position in the order of the operation's, with the input of the case in its
// place. Raw says that the input goes into no argument.
func Arguments(p *sut.Plan, op *sut.Operation, c *sut.Call) (list []sut.Named, raw bool, err error) {
	list = c.Named
	if len(c.Positional) > 0 {
		if op == nil || len(c.Positional) > len(op.Arguments) {
			known := 0
			if op != nil {
				known = len(op.Arguments)
			}
			return nil, false, diag.Environment("the operation %s of the system %s is called with %d positional arguments but names %d; list their order in arguments",
				c.Operation, p.Name, len(c.Positional), known)
		}
		list = nil
		for i, v := range c.Positional {
			list = append(list, sut.Named{Name: op.Arguments[i].Name, Value: v})
		}
	}
	if c.Input == nil {
		return list, false, nil
	}
	if p.Input.Argument == "" {
		return list, true, nil
	}
	kind := ""
	if op != nil {
		for _, a := range op.Arguments {
			if a.Name == p.Input.Argument {
				kind = a.Type
			}
		}
	}
	list = slices.Clone(list)
	return append(list, sut.Named{Name: p.Input.Argument, Value: InputValue(kind, c.Input)}), false, nil
}

// InputValue returns the input of a case as the value of an argument: as the JSON
// that it is where the argument is declared to be something other than a string,
// else as a string. What is not UTF-8 is replaced by U+FFFD: JSON has no form
// for it.
func InputValue(kind string, input []byte) json.RawMessage {
	if kind != "" && kind != "string" && json.Valid(input) {
		return bytes.TrimSpace(input)
	}
	return Text(string(input))
}

// Text returns a string as JSON.
func Text(s string) json.RawMessage {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) {
		return append(append(append(make([]byte, 0, len(s)+2), '"'), s...), '"')
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can always be written
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Object is arguments as a JSON object.
func Object(list []sut.Named) json.RawMessage {
	b := []byte{'{'}
	for i, a := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, Text(a.Name)...), ':'), a.Value...)
	}
	return append(b, '}')
}

// whole is the path of all of an answer, which need not be JSON.
const whole = "$"

// Returned returns what an operation returns of an answer: what stands at its path,
// else all of it; nil for what is not JSON, or has nothing there.
func Returned(op *sut.Operation, answer []byte) json.RawMessage {
	if op == nil || op.Returns == "" {
		if json.Valid(answer) {
			return bytes.TrimSpace(answer)
		}
		return nil
	}
	path, err := agentcall.ParsePath(op.Returns)
	if err != nil {
		return nil // refused when the file was read
	}
	root, err := agentcall.ParseReply(answer)
	if err != nil {
		if op.Returns == whole {
			return Text(string(answer))
		}
		return nil
	}
	n := path.In(root)
	if n == nil {
		return nil
	}
	return agentcall.JSON(n)
}

// Operation returns the operation that a call names, or the one that takes the input of
// cases; a system's only one need not be named.
func Operation(p *sut.Plan, name string, ops []sut.Operation) (*sut.Operation, error) {
	if name = cmp.Or(name, p.Input.Operation); name == "" && len(ops) == 1 {
		name = ops[0].Name
	}
	op, ok := sut.Find(ops, name)
	if !ok {
		return nil, Unknown(p, name, ops)
	}
	return op, nil
}

// Unknown returns the error of a call of an operation that the system has not.
func Unknown(p *sut.Plan, name string, ops []sut.Operation) error {
	var names []string
	for _, o := range ops {
		names = append(names, o.Name)
	}
	hint := diag.DidYouMean(name, names)
	if hint == "" {
		hint = "operations: " + strings.Join(names, ", ")
	}
	if name == "" {
		return diag.WithHint(diag.Environment("the system %s: no operation is named; say in input which one takes the case", p.Name), hint)
	}
	at := ""
	if o, ok := sut.Find(p.Operations, name); ok && o.At != "" {
		at = o.At + ": "
	}
	return diag.WithHint(fmt.Errorf("%sthe system %s has no operation %q", at, p.Name, name), hint)
}
