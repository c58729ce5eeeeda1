package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/judge"
	"github.com/thresh-dev/thresh/engine/match"
)

// Schema is a compiled JSON Schema.
type Schema struct{ s *jsonschema.Schema }

// CompileSchema compiles a schema. It fetches nothing: everything that the schema refers to must be
// contained in it.
func CompileSchema(text []byte) (*Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(nothingElse{})
	c.UseRegexpEngine(pattern)
	const name = "thresh:schema"
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	s, err := c.Compile(name)
	if err != nil {
		return nil, errors.New(causes(err))
	}
	return &Schema{s}, nil
}

// nothingElse refuses to load any schema.
type nothingElse struct{}

// Load implements [jsonschema.URLLoader].
func (nothingElse) Load(string) (any, error) {
	return nil, errors.New("it is not fetched; what a schema refers to must stand in it, such as in $defs")
}

// pattern compiles a schema's pattern: as a Go expression if possible, in which \d means an ASCII
// digit as it does for schemas, otherwise as one with look-around and back-references.
func pattern(text string) (jsonschema.Regexp, error) {
	p, err := regexp.Compile(text)
	if err == nil {
		return p, nil
	}
	if b, berr := match.Compile(text, match.Options{ASCII: true}); berr == nil {
		return backtracking{b}, nil
	}
	return nil, err
}

type backtracking struct{ *match.Pattern }

// MatchString implements [jsonschema.Regexp]. It panics with an undecided value if the search takes
// too long: inside a "not", either answer could make the text satisfy the schema.
func (b backtracking) MatchString(s string) bool {
	ok, err := b.Search(s)
	if err != nil {
		panic(undecided{err})
	}
	return ok
}

type undecided struct{ error }

// breach says how a value violates the schema; "": it does not. It returns an error if a pattern
// gave no answer.
func (s *Schema) breach(doc any) (why string, err error) {
	defer func() {
		if r := recover(); r != nil {
			u, ok := r.(undecided)
			if !ok {
				panic(r)
			}
			err = u.error
		}
	}()
	if err := s.s.Validate(doc); err != nil {
		return causes(err), nil
	}
	return "", nil
}

// causes returns the innermost messages of a validator's error, on one line.
func causes(err error) string {
	var list []string
	for _, line := range strings.Split(err.Error(), "\n")[1:] {
		if line = strings.TrimPrefix(strings.TrimSpace(line), "- "); !strings.HasSuffix(line, " failed") {
			list = append(list, strings.Replace(line, " is not valid ", " is not a valid ", 1)) // messages about formats
		}
	}
	if len(list) == 0 {
		return err.Error()
	}
	slices.Sort(list) // a validator visits properties and branches in no fixed order
	return strings.Join(list, "; ")
}

// Breaks says how a JSON text violates the schema; "": it does not, or this cannot be decided.
func (s *Schema) Breaks(text json.RawMessage) string {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return "they are not JSON"
	}
	why, err := s.breach(doc)
	if err != nil {
		return ""
	}
	return why
}

func (c *Checker) schema(v *config.Invariant, r *Reply) (Result, error) {
	s := c.Schemas[v.Path]
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(r.Text))
	if err != nil {
		return Result{Passed: v.Negate, Reason: "Invalid JSON, so no document of the schema"}, nil
	}
	why, err := s.breach(doc)
	switch {
	case err != nil:
		return Result{}, fmt.Errorf("%s: %w", v.Path, err)
	case why != "":
		return Result{Passed: v.Negate, Reason: "the reply breaks the schema: " + why}, nil
	}
	return Result{Passed: !v.Negate, Reason: "the reply keeps the schema"}, nil
}

// tools checks which tools were called and how.
func tools(v *config.Invariant, r *Reply) (Result, error) {
	if r.Blind {
		return Result{}, fmt.Errorf("%s: calls of tools cannot be seen: neither the reply lists them nor do they go through Thresh", v.Path)
	}
	meant := judge.Pattern{Kind: judge.Tool, Name: v.Tool}
	var names []string
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	byPath := !strings.ContainsAny(v.Tool, "*?[") && !meant.Owned(nil, slices.Concat(names, r.Own))
	called, known, closest := false, true, ""
	for i, t := range r.Tools {
		also := t.Names
		if byPath {
			also = slices.Concat(also, t.Path)
		}
		if !meant.Named(&judge.Event{Kind: judge.Tool, Name: t.Name, Names: also}) {
			continue
		}
		if !meant.Named(&judge.Event{Kind: judge.Tool, Name: t.Name}) {
			names[i] += " (also " + v.Tool + ")"
		}
		called = true
		if v.Type != "tool_arguments" {
			continue
		}
		got, err := jsontree.Parse(t.Args, jsontree.Python())
		if err != nil {
			known = false
			continue
		}
		why, err := judge.Unlike(&v.Arguments, &got.Root, t.Texts)
		if err != nil {
			return Result{}, fmt.Errorf("%s: %w", v.Path, err)
		}
		if why == "" {
			return Result{Passed: !v.Negate, Reason: fmt.Sprintf("%s was called with the arguments", v.Tool)}, nil
		}
		closest = why
	}
	if !known {
		return Result{}, fmt.Errorf("%s: the arguments of a call of %s cannot be seen: neither JSON, nor a form or query", v.Path, v.Tool)
	}
	seen := "no tool was called"
	if len(names) > 0 {
		seen = "called were " + strings.Join(names, ", ")
	}
	switch {
	case v.Type == "tool_arguments" && called:
		return Result{Passed: v.Negate, Reason: fmt.Sprintf("%s was called with other arguments: %s", v.Tool, closest)}, nil
	case v.Type == "tool_arguments" || v.Type == "tool_called" && !called:
		return Result{Passed: v.Negate, Reason: fmt.Sprintf("%s was not called; %s", v.Tool, seen)}, nil
	case v.Type == "tool_called":
		return Result{Passed: !v.Negate, Reason: v.Tool + " was called"}, nil
	case called:
		return Result{Passed: v.Negate, Reason: fmt.Sprintf("%s was called, but must not be; %s", v.Tool, seen)}, nil
	}
	return Result{Passed: !v.Negate, Reason: v.Tool + " was not called, as required"}, nil
}

// Aggregate reports whether an invariant is checked on all replies of a cell together, by a
// percentile.
func Aggregate(v *config.Invariant) bool {
	return v.Percentile > 0 && slices.Contains([]string{"latency", "tokens", "cost"}, v.Type)
}
