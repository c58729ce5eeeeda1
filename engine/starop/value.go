package starop

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/thresh-dev/thresh/engine/starbox"
	"github.com/thresh-dev/thresh/engine/textop"
)

// maxDepth bounds the nesting of values that leave a file.
const maxDepth = 64

// environment is what files have in addition to the language.
func environment(budget *starbox.Budget) starlark.StringDict {
	return starlark.StringDict{
		"ApplyResult": starlark.NewBuiltin("ApplyResult", applyResult),
		"chars": starlark.NewBuiltin("chars", func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			var s string
			if err := starlark.UnpackArgs(b.Name(), args, kwargs, "text", &s); err != nil {
				return nil, err
			}
			if err := budget.Charge(32 * int64(len(s))); err != nil {
				return nil, err
			}
			list := make([]starlark.Value, 0, len(s))
			for len(s) > 0 {
				_, n := utf8.DecodeRuneInString(s)
				list = append(list, starlark.String(s[:n]))
				s = s[n:]
			}
			return starlark.NewList(list), nil
		}),
		"nchars": starlark.NewBuiltin("nchars", func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			var s string
			if err := starlark.UnpackArgs(b.Name(), args, kwargs, "text", &s); err != nil {
				return nil, err
			}
			return starlark.MakeInt(utf8.RuneCountInString(s)), nil
		}),
	}
}

// result is made by ApplyResult.
type result struct {
	status, child, err string
	params             *starlark.Dict // nil: trace is given
	trace              starlark.Value
}

func (r *result) String() string        { return "ApplyResult(" + r.status + ")" }
func (r *result) Type() string          { return "ApplyResult" }
func (r *result) Freeze()               {}
func (r *result) Truth() starlark.Bool  { return starlark.True }
func (r *result) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: ApplyResult") }

func applyResult(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	r := new(result)
	var fault starlark.Value = starlark.None
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "status", &r.status, "child_text", &r.child, "trace?", &r.trace, "error?", &fault, "params?", &r.params); err != nil {
		return nil, err
	}
	if s, ok := starlark.AsString(fault); ok {
		r.err = s
	} else if fault != starlark.None {
		return nil, fmt.Errorf("ApplyResult: error is %s: expected a string or None", named(fault))
	}
	if r.trace != nil && r.trace != starlark.None && r.params != nil {
		return nil, fmt.Errorf("ApplyResult: give trace or params, not both")
	}
	return r, nil
}

// jsonValue converts a value to one that encoding/json writes.
func jsonValue(v starlark.Value, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("is nested deeper than %d levels", maxDepth)
	}
	switch v := v.(type) {
	case starlark.NoneType:
		return nil, nil
	case starlark.Bool:
		return bool(v), nil
	case starlark.String:
		return strings.ToValidUTF8(string(v), "\ufffd"), nil
	case starlark.Int:
		if n, ok := v.Int64(); ok {
			return n, nil
		}
		return json.Number(v.String()), nil
	case starlark.Float:
		if f := float64(v); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f, nil
		}
		return nil, fmt.Errorf("contains the number %s, which JSON cannot represent", v)
	case *starlark.Dict:
		m := make(map[string]any, v.Len())
		for _, item := range v.Items() {
			key, ok := starlark.AsString(item[0])
			if !ok {
				return nil, fmt.Errorf("has a key that is %s: expected strings", named(item[0]))
			}
			e, err := jsonValue(item[1], depth+1)
			if err != nil {
				return nil, err
			}
			m[key] = e
		}
		return m, nil
	case starlark.Sequence: // lists, tuples, sets, ranges
		list := make([]any, 0, min(v.Len(), 1<<16))
		it := v.Iterate()
		defer it.Done()
		var e starlark.Value
		for it.Next(&e) {
			if len(list) == 1<<16 {
				return nil, fmt.Errorf("contains a list of more than %d items", 1<<16)
			}
			x, err := jsonValue(e, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, x)
		}
		return list, nil
	}
	return nil, fmt.Errorf("contains a %s, which JSON cannot represent", v.Type())
}

// params converts a dict to parameters, in the order of the dict.
func params(d *starlark.Dict) (textop.Params, error) {
	var p textop.Params
	if d == nil {
		return p, nil
	}
	for _, item := range d.Items() {
		key, ok := starlark.AsString(item[0])
		if !ok {
			return nil, fmt.Errorf("has a key that is %s: expected strings", named(item[0]))
		}
		v, err := jsonValue(item[1], 0)
		if err != nil {
			return nil, err
		}
		p = append(p, textop.Param{Key: key, Value: v})
	}
	return p, nil
}

// lift converts a value of a context to Starlark.
func lift(v any) (starlark.Value, error) {
	switch v := v.(type) {
	case nil:
		return starlark.None, nil
	case bool:
		return starlark.Bool(v), nil
	case string:
		return starlark.String(v), nil
	case int:
		return starlark.MakeInt(v), nil
	case int64:
		return starlark.MakeInt64(v), nil
	case float64:
		return starlark.Float(v), nil
	case json.Number:
		if n, ok := new(big.Int).SetString(v.String(), 10); ok {
			return starlark.MakeBigInt(n), nil
		}
		f, err := v.Float64()
		return starlark.Float(f), err
	case []any:
		list := make([]starlark.Value, len(v))
		for i, e := range v {
			x, err := lift(e)
			if err != nil {
				return nil, err
			}
			list[i] = x
		}
		return starlark.NewList(list), nil
	case map[string]any:
		d := starlark.NewDict(len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			x, err := lift(v[key])
			if err == nil {
				err = d.SetKey(starlark.String(key), x)
			}
			if err != nil {
				return nil, err
			}
		}
		return d, nil
	}
	return nil, fmt.Errorf("a %T cannot be represented in Starlark", v)
}
