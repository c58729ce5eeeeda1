package system

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/port/sut"
)

// pathLike is how arguments are called that take a path.
var pathLike = lazy.Pattern(`(?i)(path|dir|directory|folder|repo|repository|root|database)$`)

// scripts are the endings of programs that an interpreter runs.
var scripts = []string{".py", ".js", ".mjs", ".cjs", ".ts", ".jar", ".rb", ".php"}

// paths are the absolute paths that a server is started with, beside its program and script:
// what it may work on. Its tools refuse all others.
func (c *Campaign) paths() (list []any) {
	for i, word := range c.plan.Command {
		script := i == 1 && len(c.plan.Command) > 2 || slices.Contains(scripts, filepath.Ext(word))
		if i > 0 && !script && filepath.IsAbs(word) {
			list = append(list, word)
		}
	}
	return list
}

// withPaths is the schema of an operation in which arguments that take a path, and have no
// example, have the paths that the server was started with. What may change something does
// not get them: they are the user's.
func (c *Campaign) withPaths(o *sut.Operation) json.RawMessage {
	schema, paths := o.Schema, c.paths()
	if len(paths) == 0 || !o.Reads {
		return schema
	}
	var whole map[string]any
	dec := json.NewDecoder(bytes.NewReader(schema))
	dec.UseNumber()
	if dec.Decode(&whole) != nil {
		return schema
	}
	properties, _ := whole["properties"].(map[string]any)
	changed := false
	for name, v := range properties {
		p, _ := v.(map[string]any)
		if p["type"] != "string" || !pathLike().MatchString(name) || p["default"] != nil || p["example"] != nil || p["examples"] != nil || p["enum"] != nil || p["const"] != nil {
			continue
		}
		p["examples"], changed = paths, true
	}
	if !changed {
		return schema
	}
	text, err := json.Marshal(whole)
	if err != nil {
		return schema
	}
	return text
}
