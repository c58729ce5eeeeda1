package cli_test

import (
	"os"
	"path/filepath"
	"testing"
)

// A client can have a finding run again on another system, as people can, but
// on none that lies elsewhere.
func TestMCPReplayOnAnotherSystem(t *testing.T) {
	t.Parallel() // mostly waits
	g := newAgent(t)
	for name, text := range map[string]string{
		"calls.spec.md":      "```yaml spec-test\nid: K\ntype: system.call\nharness: {system: faulty.system.yaml}\ninput: hello\nassert: [{target: output, must: [{contain: [hello]}]}]\n```\n",
		"faulty.system.yaml": "schema: thresh.system.v1\nname: faulty\nkind: command\ncommand: [sh, -c, echo wrong]\n",
		"mended.system.yaml": "schema: thresh.system.v1\nname: mended\nkind: command\ncommand: [cat]\n",
	} {
		must(t, os.WriteFile(filepath.Join(g.dir, name), []byte(text), 0o644))
	}
	run := g.call("run_spec", map[string]any{"path": "calls.spec.md", "wait": true})
	found := g.call("run_findings", map[string]any{"run_id": run.text("run_id")})
	id := object(found.at("findings").([]any)[0].(map[string]any)).text("id")
	for _, c := range []struct {
		args  map[string]any
		shows bool
	}{
		{map[string]any{}, true},
		{map[string]any{"system": "mended.system.yaml"}, false},
		{map[string]any{"system": "mended.system.yaml", "as_stored": true}, false},
	} {
		c.args["finding"] = id
		if o := g.call("replay", c.args); o.at("shows_again") != c.shows {
			t.Errorf("%v: %v", c.args, o)
		}
	}
	g.refuses("replay", map[string]any{"finding": id, "system": "../mended.system.yaml"}, "is outside this server's folder")
	g.refuses("replay", map[string]any{"finding": id, "system": 1}, "a string")
	g.refuses("replay", map[string]any{"finding": id, "as_stored": "yes"}, "true or false")
}
