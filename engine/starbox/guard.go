package starbox

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/thresh-dev/thresh/diag"
)

// builtin is the signature of a function that programs can call.
type builtin = func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error)

// guards returns what rewritten programs call, and the built-in functions whose
// cost depends on their arguments.
func (b *Budget) guards() starlark.StringDict {
	env := make(starlark.StringDict)
	add := func(name string, fn builtin) { env[name] = starlark.NewBuiltin(name, fn) }
	for op, name := range guarded {
		add(name, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			if err := b.binary(op, args[0], args[1]); err != nil {
				return nil, err
			}
			return starlark.Binary(op, args[0], args[1])
		})
		add(chargeOf(op), func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return args[1], b.binary(op, args[0], args[1])
		})
	}
	add(guardCall, b.callMethod)
	add(guardAttr, b.method)
	add(guardAugment, b.augment)
	add(guardSlice, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		switch args[0].(type) {
		case starlark.String, starlark.Bytes: // shares its bytes
			return args[0], nil
		}
		return args[0], b.Charge(weigh(args[0]))
	})
	for _, name := range []string{guardStride, guardSpread} {
		add(name, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return args[0], b.Charge(weigh(args[0]))
		})
	}
	for _, name := range []string{"list", "tuple", "set", "dict", "sorted", "reversed", "enumerate", "zip", "max", "min", "any", "all", "bytes", "hash"} {
		add(name, b.weighed(name))
	}
	for _, name := range []string{"str", "repr", "print", "fail"} {
		add(name, b.guardPrint(name))
	}
	add("int", b.integer)
	add("getattr", b.getattr)
	return env
}

// universal returns a function of the language itself.
func universal(name string) starlark.Value { return starlark.Universe[name] }

// weighed guards a function that copies or walks its arguments.
func (b *Budget) weighed(name string) builtin {
	return func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		for _, v := range args {
			n := weigh(v)
			if name == "enumerate" || name == "zip" || name == "dict" {
				n *= entrySize / slotSize // a tuple for every item
			}
			if err := b.Charge(n); err != nil {
				return nil, err
			}
		}
		return starlark.Call(t, universal(name), args, kwargs)
	}
}

// guardPrint guards a function that prints its arguments.
func (b *Budget) guardPrint(name string) builtin {
	return func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		for _, v := range args {
			if s, ok := v.(starlark.String); ok && name == "str" {
				return s, nil
			}
			n, err := b.printed(v, 0)
			if err == nil {
				err = b.Charge(n)
			}
			if err != nil {
				return nil, err
			}
		}
		return starlark.Call(t, universal(name), args, kwargs)
	}
}

// integer guards int, which takes quadratic time to read digits.
func (b *Budget) integer(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) > 0 {
		if s, ok := args[0].(starlark.String); ok && len(s) > maxDigits {
			return nil, &LimitError{fmt.Sprintf("reads a number of more than %d digits", maxDigits)}
		}
	}
	return starlark.Call(t, universal("int"), args, kwargs)
}

func (b *Budget) getattr(t *starlark.Thread, fn *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) < 2 {
		return starlark.Call(t, universal("getattr"), args, kwargs)
	}
	name, ok := args[1].(starlark.String)
	if x, has := args[0].(starlark.HasAttrs); ok && has {
		if v, err := x.Attr(string(name)); err == nil && v != nil {
			return b.method(t, fn, args[:2], nil)
		}
	}
	return starlark.Call(t, universal("getattr"), args, kwargs)
}

// binary charges x op y.
func (b *Budget) binary(op syntax.Token, x, y starlark.Value) error {
	switch op {
	case syntax.STAR:
		return b.multiply(x, y)
	case syntax.PERCENT:
		format, ok := x.(starlark.String)
		if !ok {
			return nil
		}
		n, err := b.printed(y, 0)
		if err != nil {
			return err
		}
		return b.Charge(int64(len(format)) + n)
	case syntax.LTLT:
		if n, ok := x.(starlark.Int); ok {
			return b.integerOf(intSize(n)*8 + 512)
		}
		return nil
	case syntax.IN, syntax.NOT_IN:
		b.work(weighSearch(y))
		return nil
	}
	if n, ok := x.(starlark.Int); ok {
		return b.integerOf(intSize(n) * 8)
	}
	return b.Charge(weigh(x) + weigh(y))
}

// weighSearch returns how many bytes a search in y looks at.
func weighSearch(y starlark.Value) int64 {
	switch y.(type) {
	case *starlark.Dict, *starlark.Set:
		return 0
	case starlark.String, starlark.Bytes, *starlark.List, starlark.Tuple:
		return weigh(y)
	}
	return 0
}

func (b *Budget) multiply(x, y starlark.Value) error {
	if n, ok := x.(starlark.Int); ok {
		if m, ok := y.(starlark.Int); ok {
			return b.integerOf((intSize(n) + intSize(m)) * 8)
		}
		x, y = y, x
	}
	n, ok := y.(starlark.Int)
	if !ok {
		return nil
	}
	times, ok := n.Int64()
	if !ok && n.Sign() > 0 {
		times = 1 << 62
	}
	return b.Charge(product(weigh(x), max(times, 0)))
}

// integerOf charges an integer of a number of bits.
func (b *Budget) integerOf(bits int64) error {
	if bits > maxIntBits {
		return &LimitError{fmt.Sprintf("makes an integer of more than %d bits", maxIntBits)}
	}
	return b.Charge(bits / 8)
}

// augment is a[i] op= y.
func (b *Budget) augment(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	x, i, word, y := args[0], args[1], string(args[2].(starlark.String)), args[3]
	var old starlark.Value
	var err error
	switch x := x.(type) {
	case starlark.Mapping:
		var found bool
		if old, found, err = x.Get(i); err == nil && !found {
			err = fmt.Errorf("key %s not in %s", short(i), x.Type())
		}
	case starlark.Indexable:
		var at int
		if at, err = starlark.AsInt32(i); err == nil {
			if at < 0 {
				at += x.Len()
			}
			if at < 0 || at >= x.Len() {
				return nil, fmt.Errorf("index %s out of range: %s has %d elements", i, x.Type(), x.Len())
			}
			old = x.Index(at)
		}
	default:
		err = fmt.Errorf("unhandled index operation %s[%s]", x.Type(), i.Type())
	}
	if err != nil {
		return nil, err
	}
	op := tokenOf(word)
	if guarded[op] != "" {
		if err := b.binary(op, old, y); err != nil {
			return nil, err
		}
	}
	if list, ok := old.(*starlark.List); ok && op == syntax.PLUS {
		if more, ok := y.(starlark.Iterable); ok { // in place, as the language demands
			it := more.Iterate()
			defer it.Done()
			var e starlark.Value
			for it.Next(&e) {
				if err := list.Append(e); err != nil {
					return nil, err
				}
			}
			return starlark.None, nil
		}
	}
	sum, err := starlark.Binary(op, old, y)
	if err != nil {
		return nil, err
	}
	switch x := x.(type) {
	case starlark.HasSetKey:
		return starlark.None, x.SetKey(i, sum)
	case starlark.HasSetIndex:
		at, _ := starlark.AsInt32(i) // checked above
		if at < 0 {
			at += x.Len()
		}
		return starlark.None, x.SetIndex(at, sum)
	}
	return nil, fmt.Errorf("%s value does not support item assignment", x.Type())
}

func tokenOf(word string) syntax.Token {
	for _, op := range augmented {
		if op.String() == word {
			return op
		}
	}
	return syntax.ILLEGAL
}

// attr is x.name.
func attr(x starlark.Value, name string) (starlark.Value, error) {
	if has, ok := x.(starlark.HasAttrs); ok {
		v, err := has.Attr(name)
		if v != nil || err != nil {
			return v, err
		}
		if near := diag.Nearest(name, has.AttrNames()); near != "" {
			return nil, fmt.Errorf("%s has no .%s (did you mean .%s?)", x.Type(), name, near)
		}
	}
	return nil, fmt.Errorf("%s has no .%s", x.Type(), name)
}

// callMethod is x.name(...).
func (b *Budget) callMethod(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	name := string(args[1].(starlark.String))
	fn, err := attr(args[0], name)
	if err != nil {
		return nil, err
	}
	if err := b.charged(args[0], name, args[2:], kwargs); err != nil {
		return nil, err
	}
	return starlark.Call(t, fn, args[2:], kwargs)
}

// method is x.name as a value: a function that charges when it is called.
func (b *Budget) method(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	x, name := args[0], string(args[1].(starlark.String))
	fn, err := attr(x, name)
	if err != nil {
		return nil, err
	}
	if _, callable := fn.(starlark.Callable); !callable {
		return fn, nil
	}
	return starlark.NewBuiltin(name, func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := b.charged(x, name, args, kwargs); err != nil {
			return nil, err
		}
		return starlark.Call(t, fn, args, kwargs)
	}), nil
}

// charged takes the cost of a method off the budget.
func (b *Budget) charged(x starlark.Value, name string, args starlark.Tuple, kwargs []starlark.Tuple) error {
	switch x := x.(type) {
	case starlark.String:
		return b.stringMethod(string(x), name, args, kwargs)
	case *starlark.List:
		switch name {
		case "append":
			return b.Charge(slotSize)
		case "extend":
			return b.weighAll(args)
		}
		b.work(weigh(x))
	case *starlark.Dict:
		switch name {
		case "update", "items", "keys", "values":
			if err := b.weighAll(args); err != nil {
				return err
			}
			return b.Charge(weigh(x))
		}
	case *starlark.Set, starlark.Bytes:
		if name == "add" {
			return b.Charge(entrySize)
		}
		if err := b.weighAll(args); err != nil {
			return err
		}
		return b.Charge(weigh(x))
	}
	return nil
}

func (b *Budget) weighAll(args starlark.Tuple) error {
	for _, v := range args {
		n := weigh(v)
		if _, text := v.(starlark.String); !text {
			n *= entrySize / slotSize
		}
		if err := b.Charge(n); err != nil {
			return err
		}
	}
	return nil
}

func (b *Budget) stringMethod(s, name string, args starlark.Tuple, kwargs []starlark.Tuple) error {
	n := int64(len(s))
	switch name {
	case "join":
		if len(args) == 0 {
			return nil
		}
		list, ok := args[0].(starlark.Iterable)
		if !ok {
			return nil
		}
		sum := int64(0)
		it := list.Iterate()
		defer it.Done()
		var e starlark.Value
		for it.Next(&e) {
			if sum += weigh(e) + n; sum > b.limits.Value {
				break
			}
		}
		return b.Charge(sum)
	case "replace":
		if len(args) < 2 {
			return nil
		}
		before, _ := starlark.AsString(args[0])
		after, _ := starlark.AsString(args[1])
		found := int64(strings.Count(s, before))
		b.thread.Steps += uint64(found)
		return b.Charge(n + product(found, int64(len(after))))
	case "format":
		most := int64(0)
		for _, v := range args {
			m, err := b.printed(v, 0)
			if err != nil {
				return err
			}
			most = max(most, m)
		}
		for _, kv := range kwargs {
			m, err := b.printed(kv[1], 0)
			if err != nil {
				return err
			}
			most = max(most, m)
		}
		return b.Charge(n + product(int64(strings.Count(s, "{")), most))
	case "split", "rsplit", "splitlines", "elems", "codepoints", "elem_ords", "codepoint_ords":
		return b.Charge(product(n, slotSize))
	case "upper", "lower", "title", "capitalize":
		return b.Charge(3 * n)
	}
	b.work(n)
	return nil
}
