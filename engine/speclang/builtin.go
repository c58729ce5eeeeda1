package speclang

import (
	"math/big"
	"strings"

	"github.com/thresh-dev/thresh/engine/match"
)

// builtin is a function whose operands are evaluated first. If subject is set
// and the first operand is missing, the subject takes its place.
type builtin struct {
	symbol   string
	operands int
	subject  bool // the first operand may be left out
	apply    func(m *machine, e *expr, a, b Value) (Value, *Error)
}

// builtins are all of them, in the order of the reference.
var builtins = [...]builtin{
	{"not", 1, false, func(_ *machine, _ *expr, a, _ Value) (Value, *Error) { return BoolValue(!a.Truthy()), nil }},
	{"contains", 2, true, onTexts(strings.Contains)},
	{"starts_with", 2, true, onTexts(strings.HasPrefix)},
	{"ends_with", 2, true, onTexts(strings.HasSuffix)},
	{"regex_match", 2, false, regexMatch},
	{"eq", 2, false, func(m *machine, _ *expr, a, b Value) (Value, *Error) { return BoolValue(m.equal(a, b)), nil }},
	{"neq", 2, false, func(m *machine, _ *expr, a, b Value) (Value, *Error) { return BoolValue(!m.equal(a, b)), nil }},
	{"in", 2, false, in},
	{"json_type", 2, true, func(m *machine, _ *expr, a, b Value) (Value, *Error) {
		return BoolValue(a.TypeName() == lower(trim(m.text(b)))), nil
	}},
	{"has_key", 2, true, func(m *machine, _ *expr, a, b Value) (Value, *Error) {
		_, ok := a.Get(m.text(b))
		return BoolValue(ok), nil
	}},
	{"get", 2, false, get},
	{"len", 1, false, func(m *machine, e *expr, a, _ Value) (Value, *Error) {
		m.worked(len(a.text))
		n, ok := a.Len()
		if !ok {
			return Value{}, e.fail(Schema, "spec_lang len expects string/list/dict, got %s", a.TypeName())
		}
		return IntValue(int64(n)), nil
	}},
	{"trim", 1, false, mapText(trim)},
	{"lower", 1, false, mapText(lower)},
	{"upper", 1, false, mapText(upper)},
	{"add", 2, false, arithmetic((*big.Int).Add, func(a, b float64) float64 { return a + b })},
	{"sub", 2, false, arithmetic((*big.Int).Sub, func(a, b float64) float64 { return a - b })},
	{"json_parse", 1, false, jsonParse},
	{"path_exists", 1, false, func(m *machine, _ *expr, a, _ Value) (Value, *Error) {
		path := m.text(a)
		return BoolValue(m.host.PathExists != nil && !strings.Contains(path, "\x00") && m.host.PathExists(path)), nil
	}},
}

func onTexts(f func(text, part string) bool) func(*machine, *expr, Value, Value) (Value, *Error) {
	return func(m *machine, _ *expr, a, b Value) (Value, *Error) {
		return BoolValue(f(m.text(a), m.text(b))), nil
	}
}

func mapText(f func(string) string) func(*machine, *expr, Value, Value) (Value, *Error) {
	return func(m *machine, _ *expr, a, _ Value) (Value, *Error) {
		return StringValue(f(m.text(a))), nil
	}
}

func regexMatch(m *machine, e *expr, a, b Value) (Value, *Error) {
	p, err := e.pattern, e.patternErr
	if p == nil && err == nil {
		p, err = m.pattern(m.text(b))
	}
	if err != nil {
		failed := e.fail(Runtime, "%v", err)
		failed.Cause = err
		return Value{}, failed
	}
	found, err := p.Search(m.text(a))
	if err != nil {
		failed := e.fail(Runtime, "spec_lang budget exceeded: timeout: %v", err)
		failed.Cause = err
		return Value{}, failed
	}
	m.worked(largeText) // a pattern may take long on any text
	return BoolValue(found), nil
}

// pattern compiles a pattern that is known only at run time, once per
// evaluation.
func (m *machine) pattern(text string) (*match.Pattern, error) {
	if p := m.patterns[text]; p != nil {
		return p, nil
	}
	p, err := match.Compile(text, match.Options{Timeout: m.program.options.RegexTimeout})
	if err != nil {
		return nil, err
	}
	if m.patterns == nil {
		m.patterns = make(map[string]*match.Pattern)
	}
	m.patterns[text] = p
	return p, nil
}

func in(m *machine, e *expr, member, container Value) (Value, *Error) {
	switch container.kind {
	case List:
		for _, item := range container.heap.list {
			if m.equal(item, member) {
				return BoolValue(true), nil
			}
		}
		return BoolValue(false), nil
	case Dict:
		_, ok := container.Get(m.text(member))
		return BoolValue(ok), nil
	case String:
		return BoolValue(strings.Contains(m.text(container), m.text(member))), nil
	}
	return Value{}, e.fail(Schema, "spec_lang in expects list/dict/string container, got %s", container.TypeName())
}

func get(m *machine, e *expr, object, key Value) (Value, *Error) {
	switch object.kind {
	case Dict:
		v, _ := object.Get(m.text(key))
		return v, nil
	case List:
		if key.kind != Int && key.kind != Bool {
			return Value{}, e.fail(Schema, "spec_lang get list index must be int, got %s", key.TypeName())
		}
		if list := object.heap.list; key.heap == nil && 0 <= key.num && key.num < int64(len(list)) {
			return list[key.num], nil
		}
		return Value{}, nil
	}
	return Value{}, e.fail(Schema, "spec_lang get expects dict or list, got %s", object.TypeName())
}

func jsonParse(m *machine, e *expr, a, _ Value) (Value, *Error) {
	if a.kind != String {
		return Value{}, e.fail(Schema, "spec_lang json_parse expects string input, got %s", a.TypeName())
	}
	m.worked(len(a.text))
	v, err := ParseJSON(a.text)
	if err != nil {
		failed := e.fail(Schema, "spec_lang json_parse: not JSON: %v", err)
		failed.Cause = err
		return Value{}, failed
	}
	return v, nil
}

func arithmetic(exact func(z, a, b *big.Int) *big.Int, inexact func(a, b float64) float64) func(*machine, *expr, Value, Value) (Value, *Error) {
	return func(_ *machine, e *expr, a, b Value) (Value, *Error) {
		if !a.isNumber() || !b.isNumber() {
			return Value{}, e.fail(Schema, "spec_lang %s expects numeric args, got %s and %s", e.symbol, a.TypeName(), b.TypeName())
		}
		if a.kind == Float || b.kind == Float {
			x, ok1 := floatOf(a)
			y, ok2 := floatOf(b)
			if !(ok1 || a.kind == Float) || !(ok2 || b.kind == Float) {
				return Value{}, e.fail(Runtime, "spec_lang %s: int too large to convert to float", e.symbol)
			}
			return FloatValue(inexact(x, y)), nil
		}
		const small = 1 << 61
		if a.heap == nil && b.heap == nil && -small < a.num && a.num < small && -small < b.num && b.num < small {
			if e.symbol == "sub" {
				return IntValue(a.num - b.num), nil
			}
			return IntValue(a.num + b.num), nil
		}
		sum := exact(new(big.Int), a.integer(), b.integer())
		if sum.BitLen() > maxIntegerBits {
			return Value{}, e.fail(Runtime, "spec_lang %s: an integer of more than %d bits", e.symbol, maxIntegerBits)
		}
		return BigValue(sum), nil
	}
}

// maxIntegerBits bounds the results of add and sub; a loop that doubles a
// number would otherwise use memory without end.
const maxIntegerBits = 1 << 16

// floatOf is Python's float() of a number; ok is false if it is too large.
func floatOf(v Value) (f float64, ok bool) {
	if v.kind == Float {
		return v.float(), true
	}
	if v.heap == nil {
		return float64(v.num), true
	}
	f, _ = new(big.Float).SetInt(v.heap.big).Float64()
	return f, f-f == 0
}
