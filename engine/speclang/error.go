package speclang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
)

// Category is the kind of a failure, in the words of the contract.
type Category string

// The categories. Assertion is never an error of this package: callers use it for a
// falsy value.
const (
	Schema    Category = "schema"
	Assertion Category = "assertion"
	Runtime   Category = "runtime"
)

// Error is a failed evaluation.
type Error struct {
	Category  Category
	Message   string // with the contract's tokens: "spec_lang budget exceeded: steps"
	Symbol    string // the form or builtin at fault; may be empty
	Line, Col int    // position of the form at fault; 0: unknown
	Cause     error  // such as an error of engine/match; may be nil
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Col, e.Message)
}

func (e *Error) Unwrap() error { return e.Cause }

// Symbols returns the names of all forms and functions, sorted.
func Symbols() []string {
	list := []string{"and", "call", "fn", "if", "let", "or", "subject", "var"}
	for i := range builtins {
		list = append(list, builtins[i].symbol)
	}
	slices.Sort(list)
	return list
}

// aliases are names of functions in other languages.
var aliases = map[string]string{"equals": "eq", "equal": "eq", "==": "eq", "is": "eq", "not_equals": "neq", "ne": "neq", "!=": "neq",
	"length": "len", "size": "len", "count": "len", "includes": "contains", "contain": "contains", "has": "has_key", "matches": "regex_match",
	"match": "regex_match", "regex": "regex_match", "startswith": "starts_with", "endswith": "ends_with", "plus": "add", "+": "add",
	"minus": "sub", "-": "sub", "lowercase": "lower", "uppercase": "upper", "strip": "trim", "parse_json": "json_parse", "json": "json_parse",
	"type": "json_type", "exists": "path_exists", "lambda": "fn", "cond": "if", "value": "subject", "it": "subject"}

// Alias returns the name of the function that other languages call name; name itself
// if there is none.
func Alias(name string) string {
	if a, ok := aliases[strings.ToLower(name)]; ok {
		return a
	}
	return name
}

// Near suggests the function that an unknown name may mean; "" if none is similar.
func Near(name string) string {
	if a := Alias(name); a != name {
		return "did you mean " + a + "?"
	}
	list := Symbols()
	for a := range aliases {
		if len(a) > 3 { // nearly any short word is similar to another one
			list = append(list, a)
		}
	}
	slices.Sort(list)
	hint := diag.DidYouMean(name, list)
	for a, is := range aliases {
		if hint == "did you mean "+a+"?" {
			return "did you mean " + is + "?"
		}
	}
	return hint
}

// Advice says how an error may be fixed, in words for people; "" if there is nothing
// to say.
func (e *Error) Advice() string {
	const values = `write a list of values as ["json_parse", "[\"a\", \"b\"]"]`
	switch {
	case e.Message == noHead, e.Message == noItems:
		return "a list is a call, which begins with the name of a function; " + values
	case !strings.HasPrefix(e.Message, "unsupported spec_lang symbol: "):
		return ""
	}
	if near := Near(e.Symbol); near != "" {
		return near
	}
	return fmt.Sprintf(`a list is a call, and there is no function %q; %s`, e.Symbol, values)
}
