package spectest

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"html"
	"maps"
	"math/big"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/jsonpath"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/engine/speclang"
	"github.com/thresh-dev/thresh/engine/xpath"
)

// valueFilter converts a value to another one: $.ref | split("-") | last. It returns null for a
// value that it does not apply to.
type valueFilter func(speclang.Value) speclang.Value

// filterKind is the form of a filter. takes has one letter for each operand: t a text, n a whole
// number.
type filterKind struct {
	takes string
	make  func(args []string) (valueFilter, error)
}

// ofText makes a filter of a function on texts that may fail.
func ofText(f func(string) (string, bool)) valueFilter {
	return func(v speclang.Value) speclang.Value {
		if s, ok := v.Str(); ok {
			if out, ok := f(s); ok {
				return speclang.StringValue(out)
			}
		}
		return speclang.NullValue()
	}
}

// plainFilter is a filter without operands.
func plainFilter(f valueFilter) filterKind {
	return filterKind{"", func([]string) (valueFilter, error) { return f, nil }}
}

// converts is a filter without operands that maps any text to a text.
func converts(f func(string) string) filterKind {
	return plainFilter(ofText(func(s string) (string, bool) { return f(s), true }))
}

func decodedBase64(e *base64.Encoding) filterKind {
	return plainFilter(ofText(func(s string) (string, bool) {
		b, err := e.WithPadding(base64.NoPadding).DecodeString(strings.TrimRight(s, "="))
		return validText(b), err == nil
	}))
}

// item is a filter that selects one item of a list, from the end if at is negative.
func item(at int) valueFilter {
	return func(v speclang.Value) speclang.Value {
		list := v.Items()
		if i := at; i < len(list) && -i <= len(list) {
			if i < 0 {
				i += len(list)
			}
			return list[i]
		}
		return speclang.NullValue()
	}
}

// filterKinds are all filters, by name.
var filterKinds = map[string]filterKind{
	"base64_decode":     decodedBase64(base64.StdEncoding),
	"base64_encode":     converts(func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }),
	"base64_url_decode": decodedBase64(base64.URLEncoding),
	"base64_url_encode": converts(func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }),
	"html_escape":       converts(html.EscapeString),
	"html_unescape":     converts(html.UnescapeString),
	"url_decode":        plainFilter(ofText(func(s string) (string, bool) { out, err := url.PathUnescape(s); return out, err == nil })),
	"url_encode":        converts(func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }),
	"url_query_param": {"t", func(args []string) (valueFilter, error) {
		return ofText(func(s string) (string, bool) {
			u, err := url.Parse(s)
			if err != nil || !u.Query().Has(args[0]) {
				return "", false
			}
			return u.Query().Get(args[0]), true
		}), nil
	}},
	"replace": {"tt", func(args []string) (valueFilter, error) {
		return ofText(func(s string) (string, bool) { return strings.ReplaceAll(s, args[0], args[1]), true }), nil
	}},
	"replace_regex": {"tt", func(args []string) (valueFilter, error) {
		p, err := regexp.Compile(args[0])
		return ofText(func(s string) (string, bool) { return p.ReplaceAllString(s, args[1]), true }), err
	}},
	"regex": {"t", func(args []string) (valueFilter, error) {
		p, err := regexp.Compile(args[0])
		return ofText(func(s string) (string, bool) { return firstGroup(p, s) }), err
	}},
	"split": {"t", func(args []string) (valueFilter, error) {
		return func(v speclang.Value) speclang.Value {
			s, ok := v.Str()
			if !ok {
				return speclang.NullValue()
			}
			var list []speclang.Value
			for part := range strings.SplitSeq(s, args[0]) {
				list = append(list, speclang.StringValue(part))
			}
			return speclang.ListValue(list)
		}, nil
	}},
	"first": plainFilter(item(0)),
	"last":  plainFilter(item(-1)),
	"nth": {"n", func(args []string) (valueFilter, error) {
		at, err := strconv.Atoi(args[0])
		return item(at), err
	}},
	"count": plainFilter(func(v speclang.Value) speclang.Value {
		if n, ok := v.Len(); ok {
			return speclang.IntValue(int64(n))
		}
		return speclang.NullValue()
	}),
	"to_string": plainFilter(func(v speclang.Value) speclang.Value { return speclang.StringValue(textual(v)) }),
	"to_int":    plainFilter(toNumber(true)),
	"to_float":  plainFilter(toNumber(false)),
	"json": {"t", func(args []string) (valueFilter, error) {
		p, err := jsonpath.Compile(args[0])
		return func(v speclang.Value) speclang.Value {
			found, f := searched(p, textual(v), "the value")
			if f != nil {
				return speclang.NullValue()
			}
			return found
		}, err
	}},
	"xpath": {"t", func(args []string) (valueFilter, error) {
		p, err := xpath.Compile(args[0])
		return func(v speclang.Value) speclang.Value {
			found, err := p.In([]byte(textual(v)))
			if err != nil {
				return speclang.NullValue()
			}
			return found
		}, err
	}},
}

// firstGroup returns the match of a pattern's first group, or the whole match if it has no group.
func firstGroup(p *regexp.Regexp, s string) (string, bool) {
	m := p.FindStringSubmatch(s)
	if m == nil {
		return "", false
	}
	return m[min(1, len(m)-1)], true
}

// toNumber is a filter that converts a text or another number to a number.
func toNumber(whole bool) valueFilter {
	return func(v speclang.Value) speclang.Value {
		text := strings.TrimSpace(textual(v))
		if i, ok := new(big.Int).SetString(text, 10); ok && whole {
			return speclang.BigValue(i)
		}
		x, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil, whole && v.Kind() == speclang.String:
			return speclang.NullValue()
		case whole:
			i, _ := big.NewFloat(x).Int(nil)
			return speclang.BigValue(i)
		}
		return speclang.FloatValue(x)
	}
}

// oneFilter matches a bar and a filter with its operands.
var oneFilter = lazy.Pattern(`^\s*\|\s*([A-Za-z_]\w*)\s*(?:\(\s*((?:` + operandText + `)(?:\s*,\s*(?:` + operandText + `))*)?\s*\))?`)

// operandText matches a quoted text or a whole number.
const operandText = `"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|-?\d+`

var oneOperand = lazy.Pattern(operandText)

// readFilters reads the filters at the beginning of a text and returns their length, even if one of
// them is wrong.
func readFilters(text string) (list []valueFilter, length int, err error) {
	for {
		m := oneFilter().FindStringSubmatch(text[length:])
		if m == nil {
			return list, length, err
		}
		length += len(m[0])
		f, wrong := readFilter(m[1], oneOperand().FindAllString(m[2], -1))
		list, err = append(list, f), cmp.Or(err, wrong)
	}
}

func readFilter(name string, args []string) (valueFilter, error) {
	kind, known := filterKinds[name]
	if !known {
		names := slices.Sorted(maps.Keys(filterKinds))
		return nil, fmt.Errorf("there is no filter %s: %s", name, cmp.Or(diag.DidYouMean(name, names), "there are "+oneOf(names)))
	}
	right := len(args) == len(kind.takes)
	for i := range args {
		quoted := args[i][0] == '"' || args[i][0] == '\''
		right = right && quoted == (kind.takes[i] == 't')
		if quoted {
			args[i] = unquoted(args[i])
		}
	}
	if !right {
		example := map[string]string{"": "no operand", "t": "a text, such as (\"a\")", "tt": "two texts, such as (\"a\", \"b\")", "n": "a whole number, such as (0)"}[kind.takes]
		return nil, fmt.Errorf("the filter %s takes %s", name, example)
	}
	f, err := kind.make(args)
	if err != nil {
		return nil, fmt.Errorf("the filter %s: %w", name, err)
	}
	return f, nil
}

// unquoted removes the quotes of a text. Patterns keep their backslashes.
func unquoted(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\'`, `'`, `\n`, "\n", `\t`, "\t").Replace(s[1 : len(s)-1])
}

// filtered applies filters one after another. Null stays null.
func filtered(v speclang.Value, filters []valueFilter) speclang.Value {
	for _, f := range filters {
		if v.Kind() != speclang.Null {
			v = f(v)
		}
	}
	return v
}

// searched returns what a path finds in JSON: a list if the path may match several places.
func searched(p *jsonpath.Expr, text, target string) (speclang.Value, *Failure) {
	doc, err := jsontree.Parse([]byte(text), jsontree.Python())
	if err != nil {
		return speclang.Value{}, notJSON(target, text, err)
	}
	list, err := p.In(&doc.Root)
	if err != nil {
		return speclang.Value{}, &Failure{Category: Schema, Message: target + ": " + err.Error()}
	}
	values := seq.Map(list, speclang.OfJSON)
	switch {
	case !p.Single():
		return speclang.ListValue(values), nil
	case len(values) == 0:
		return speclang.NullValue(), nil
	}
	return values[0], nil
}
