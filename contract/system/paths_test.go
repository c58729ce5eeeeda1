package system

import (
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/port/sut"
)

// A server that works on a folder is asked about that folder, by tools that only read.
func TestPathsOfAServer(t *testing.T) {
	const schema = `{"type": "object", "properties": {"repo_path": {"type": "string"}, "name": {"type": "string"}, "path": {"type": "string", "default": "."}}}`
	for command, want := range map[string]bool{
		"server --repository /srv/repo":     true,
		"server /srv/files":                 true,
		"node /opt/server /srv/files":       true,
		"node /opt/server.js":               false,
		"/opt/server relative/files":        false,
		"python3 /opt/server.py --port 123": false,
	} {
		c := &Campaign{plan: &sut.Plan{Kind: sut.MCP, Command: strings.Fields(command)}}
		for _, reads := range []bool{true, false} {
			got := string(c.withExamples(&sut.Operation{Schema: []byte(schema), Reads: reads}, nil))
			if has := strings.Contains(got, `"repo_path":{"examples":["/srv/`); has != (want && reads) {
				t.Errorf("%s, reads %t: %s", command, reads, got)
			}
			if strings.Count(got, "examples") > 1 {
				t.Errorf("%s: an argument that takes no path, or has a value, got one: %s", command, got)
			}
		}
	}
}

// What one description quotes as an example, other arguments of that name get too.
func TestExamplesOfOtherOperations(t *testing.T) {
	text := func(name, description string) []byte {
		return []byte(`{"type":"object","properties":{"` + name + `":{"type":"string","description":"` + description + `"}}}`)
	}
	ops := []sut.Operation{
		{Name: "get_item", Description: "Get an item by its name, e.g. 'tea'", Schema: text("name", "")},
		{Name: "add_to_cart", Schema: text("name", "what to buy")},
		{Name: "find", Description: "Find an item, e.g. by its price", Schema: text("query", "")},
		{Name: "rename", Schema: text("name", "such as mug")},
	}
	c := &Campaign{plan: &sut.Plan{Kind: sut.MCP}}
	for i, want := range []string{`"examples":["tea"]`, `"examples":["tea"]`, "", ""} {
		if got := string(c.withExamples(&ops[i], quoted(ops))); !strings.Contains(got, want) || want == "" && strings.Contains(got, "examples") {
			t.Errorf("%s: %s", ops[i].Name, got)
		}
	}
}
