package starbox

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/thresh-dev/thresh/diag"
)

// maxSource and maxNesting bound the input of the parser, which is recursive.
const (
	maxSource  = 256 << 10
	maxNesting = 2000
)

// Program is a compiled source. It is safe for concurrent use.
type Program struct {
	Path string
	prog *starlark.Program
	file *syntax.File // as it was written
}

// Compile parses and checks a source. extra names what [Program.Open] will add to
// the language. It returns everything that is wrong, with positions; codes begin
// with "starlark.".
func Compile(path string, src []byte, extra ...string) (*Program, diag.List) {
	if list := sound(path, src); len(list) > 0 {
		return nil, list
	}
	options := &syntax.FileOptions{Set: true, While: true, TopLevelControl: true}
	written, err := options.Parse(path, src, 0)
	if err != nil {
		return nil, faults(path, src, err)
	}
	file, err := options.Parse(path, src, 0)
	if err != nil {
		return nil, faults(path, src, err)
	}
	var r rewriter
	r.statements(file.Stmts)
	var list diag.List
	for _, pos := range r.loads {
		list = append(list, at(path, src, pos, "load", "a plug-in is one file: load is not available"))
	}
	known := new(Budget).guards()
	prog, err := starlark.FileProgram(file, func(name string) bool { return known.Has(name) || slices.Contains(extra, name) })
	if err != nil {
		list = append(list, faults(path, src, err)...)
	}
	if len(list) > 0 {
		return nil, list
	}
	return &Program{Path: path, prog: prog, file: written}, nil
}

// sound refuses sources that the parser must not get.
func sound(path string, src []byte) diag.List {
	whole := func(code, message string) diag.List {
		return diag.List{{Code: "starlark." + code, Pos: diag.Pos{File: path, Line: 1, Col: 1}, Message: message}}
	}
	if len(src) > maxSource {
		return whole("size", fmt.Sprintf("is larger than %d KiB, which no plug-in needs", maxSource>>10))
	}
	depth, line, start := 0, 1, 0
	for i, c := range src {
		switch c {
		case '\n':
			line, start = line+1, i+1
		case '(', '[', '{':
			if depth++; depth > maxNesting {
				return diag.List{{
					Code: "starlark.nesting", Pos: diag.Pos{File: path, Line: line, Col: i - start + 1},
					Message: fmt.Sprintf("has more than %d brackets open at once", maxNesting),
				}}
			}
		case ')', ']', '}':
			depth = max(depth-1, 0)
		}
	}
	return nil
}

// faults turns errors of the parser and the resolver into diagnostics.
func faults(path string, src []byte, err error) diag.List {
	if syn, ok := errors.AsType[syntax.Error](err); ok {
		d := at(path, src, syn.Pos, "syntax", syn.Msg)
		d.Hint = offers(src, syn.Pos, syn.Msg)
		return diag.List{d}
	}
	var res resolve.ErrorList
	if errors.As(err, &res) {
		var list diag.List
		for _, e := range res {
			d := at(path, src, e.Pos, "name", e.Msg)
			if name, ok := strings.CutPrefix(e.Msg, "undefined: "); ok {
				if instead := builtinOffers()[name]; instead != "" {
					d.Hint = "Starlark has no " + name + ": " + instead
				}
			}
			list = append(list, d)
		}
		return list
	}
	return diag.List{{Code: "starlark.syntax", Pos: diag.Pos{File: path, Line: 1, Col: 1}, Message: err.Error()}}
}

func at(path string, src []byte, pos syntax.Position, code, message string) diag.Diagnostic {
	d := diag.Diagnostic{
		Code: "starlark." + code, Message: message,
		Pos: diag.Pos{File: path, Line: max(int(pos.Line), 1), Col: max(int(pos.Col), 1)},
	}
	lines := strings.Split(string(src), "\n")
	if n := d.Pos.Line; n <= len(lines) {
		d.Source = strings.TrimSuffix(lines[n-1], "\r")
	}
	return d
}

// File returns the syntax tree as written, to find positions in. It must not be
// changed.
func (p *Program) File() *syntax.File { return p.file }

// Box is a program with its globals, for one caller at a time.
type Box struct {
	budget  Budget
	thread  starlark.Thread
	globals starlark.StringDict
	printed strings.Builder
}

// maxPrinted is how much of a program's output is kept.
const maxPrinted = 4 << 10

// Open runs the program's top level within the limits. extra is added to the
// language; it gets the box's budget, to charge for what it allocates.
func (p *Program) Open(limits Limits, extra func(*Budget) starlark.StringDict) (*Box, error) {
	b := new(Box)
	b.thread.Name = p.Path
	b.thread.Print = func(_ *starlark.Thread, msg string) {
		if room := maxPrinted - b.printed.Len(); room > 0 {
			b.printed.WriteString(msg[:min(len(msg), room)])
			b.printed.WriteByte('\n')
		}
	}
	b.budget = Budget{limits: limits, thread: &b.thread}
	b.thread.SetMaxExecutionSteps(limits.Steps)
	env := b.budget.guards()
	if extra != nil {
		maps.Copy(env, extra(&b.budget))
	}
	b.budget.reset()
	globals, err := p.prog.Init(&b.thread, env)
	if err != nil {
		return nil, b.explain(err)
	}
	globals.Freeze()
	b.globals = globals
	return b, nil
}

// Global returns a global of the program, or nil.
func (b *Box) Global(name string) starlark.Value { return b.globals[name] }

// Call calls a function of the program within the limits, which start afresh.
// Errors are an [*Error].
func (b *Box) Call(fn starlark.Value, args ...starlark.Value) (starlark.Value, error) {
	b.budget.reset()
	b.thread.Uncancel()
	b.printed.Reset()
	v, err := starlark.Call(&b.thread, fn, args, nil)
	if err != nil {
		return nil, b.explain(err)
	}
	return v, nil
}

// Printed returns what the last call printed, or the top level before the first.
func (b *Box) Printed() string { return b.printed.String() }

// Error is a call that failed.
type Error struct {
	Pos     diag.Pos // in the program; Line 0: unknown
	Message string
	Limit   bool // a limit was met
}

func (e *Error) Error() string {
	if e.Pos.Line == 0 {
		return e.Message
	}
	return e.Pos.String() + ": " + e.Message
}

// explain finds where in the program an error occurred.
func (b *Box) explain(err error) *Error {
	e := &Error{Message: err.Error()}
	if eval, ok := errors.AsType[*starlark.EvalError](err); ok {
		e.Message = eval.Msg
		for i := len(eval.CallStack) - 1; i >= 0; i-- {
			f := eval.CallStack[i]
			if f.Pos.IsValid() && f.Pos.Filename() != "<builtin>" {
				e.Pos = diag.Pos{File: f.Pos.Filename(), Line: int(f.Pos.Line), Col: max(int(f.Pos.Col), 1)}
				break
			}
		}
	}
	var limit *LimitError
	switch {
	case errors.As(err, &limit):
		e.Message, e.Limit = limit.What, true
	case b.thread.Steps >= b.budget.limits.Steps:
		e.Message, e.Limit = fmt.Sprintf("takes more than %d steps: is there an endless loop?", b.budget.limits.Steps), true
	}
	e.Message = tidy(e.Message)
	return e
}

// tidy removes the guards' names from a message.
func tidy(msg string) string {
	if i := strings.IndexByte(msg, '$'); i == 0 {
		if _, rest, ok := strings.Cut(msg, ": "); ok {
			return rest
		}
	}
	return msg
}

// short shortens a value for a message.
func short(v starlark.Value) string {
	switch v := v.(type) {
	case starlark.String:
		return starlark.String(diag.Cut(string(v), 40)).String()
	case starlark.Int, starlark.Bool, starlark.NoneType, starlark.Float:
		return v.String()
	}
	return diag.A(v.Type())
}
