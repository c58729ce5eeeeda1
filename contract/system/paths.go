package system

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/engine/schemagen"
	"github.com/thresh-dev/thresh/port/sut"
)

// pathLike matches names of arguments that take a path.
var pathLike = lazy.Pattern(`(?i)(path|dir|directory|folder|repo|repository|root|database)$`)

// scripts lists extensions of programs that an interpreter runs.
var scripts = []string{".py", ".js", ".mjs", ".cjs", ".ts", ".jar", ".rb", ".php"}

// paths returns the absolute paths in a server's command line, except its program and script: that
// is what it may access, and its tools refuse all other paths.
func (c *Campaign) paths() (list []any) {
	for i, word := range c.plan.Command {
		script := i == 1 && len(c.plan.Command) > 2 || slices.Contains(scripts, filepath.Ext(word))
		if i > 0 && !script && filepath.IsAbs(word) {
			list = append(list, word)
		}
	}
	return list
}

// quoted returns the examples that descriptions give in quotes, by name of the argument: from its
// own description, or from that of an operation with one text argument.
func quoted(ops []sut.Operation) map[string]any {
	found := make(map[string]any)
	for i := range ops {
		_, texts := textsOf(ops[i].Schema)
		for name, p := range texts {
			description, _ := p["description"].(string)
			if len(texts) == 1 {
				description += "\n" + ops[i].Description
			}
			if example, _ := schemagen.Quoted(description); example != "" && found[name] == nil {
				found[name] = example
			}
		}
	}
	return found
}

// textsOf returns the arguments of a schema that are texts without a value.
func textsOf(schema json.RawMessage) (whole map[string]any, texts map[string]map[string]any) {
	dec := json.NewDecoder(bytes.NewReader(schema))
	dec.UseNumber()
	if dec.Decode(&whole) != nil {
		return nil, nil
	}
	texts = make(map[string]map[string]any)
	properties, _ := whole["properties"].(map[string]any)
	for name, v := range properties {
		p, _ := v.(map[string]any)
		given := slices.ContainsFunc([]string{"default", "example", "examples", "enum", "const"}, func(key string) bool { return p[key] != nil })
		if p["type"] == "string" && !given {
			texts[name] = p
		}
	}
	return whole, texts
}

// withExamples returns the schema of an operation with examples added to arguments that have none.
// Arguments that take a path get the paths with which the server was started; others get what a
// description on the same server quotes for an argument of the same name. Operations that may
// change something do not get the paths, because they are the user's.
func (c *Campaign) withExamples(o *sut.Operation, examples map[string]any) json.RawMessage {
	whole, texts := textsOf(o.Schema)
	paths, changed := c.paths(), false
	for name, p := range texts {
		description, _ := p["description"].(string)
		if _, own := schemagen.Quoted(description); pathLike().MatchString(name) {
			if len(paths) > 0 && o.Reads {
				p["examples"], changed = paths, true
			}
		} else if examples[name] != nil && !own {
			p["examples"], changed = []any{examples[name]}, true
		}
	}
	if !changed {
		return o.Schema
	}
	text, err := json.Marshal(whole)
	if err != nil {
		return o.Schema
	}
	return text
}
