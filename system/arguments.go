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

// Arguments returns the arguments of a call by name: positional arguments get the operation's names
// in order, and a case's input goes to its argument. raw means that the input goes to no argument.
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

// InputValue returns a case's input as the value of an argument: unchanged JSON if the argument is
// declared to be something other than a string, else a string. Invalid UTF-8 becomes U+FFFD,
// because JSON cannot represent it.
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
	_ = e.Encode(s) // encoding a string cannot fail
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Object returns arguments as a JSON object.
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

// whole is the path of an entire answer, which need not be JSON.
const whole = "$"

// Returned returns an operation's result from an answer: the value at its path, or the whole answer
// if it has no path; nil if the answer is not JSON or has nothing at the path.
func Returned(op *sut.Operation, answer []byte) json.RawMessage {
	if op == nil || op.Returns == "" {
		if json.Valid(answer) {
			return bytes.TrimSpace(answer)
		}
		return nil
	}
	path, err := agentcall.ParsePath(op.Returns)
	if err != nil {
		return nil // such a path is refused when the file is read
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

// Operation returns the operation that a call names, or the one that takes the input of cases; the
// only operation of a system need not be named.
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

// Unknown returns the error of a call to an operation that the system does not have.
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
