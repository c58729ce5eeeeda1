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
			got := string(c.withPaths(&sut.Operation{Schema: []byte(schema), Reads: reads}))
			if has := strings.Contains(got, `"repo_path":{"examples":["/srv/`); has != (want && reads) {
				t.Errorf("%s, reads %t: %s", command, reads, got)
			}
			if strings.Count(got, "examples") > 1 {
				t.Errorf("%s: an argument that takes no path, or has a value, got one: %s", command, got)
			}
		}
	}
}
