package systemfile

import (
	"fmt"
	"testing"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/internal/golden"
)

// What is read of system files, with every character missing or cut there, and in what
// words they are refused.
func TestEverySmallChange(t *testing.T) {
	golden.Sweep(t, "systems", golden.Changed("", []string{
		shop,
		"schema: thresh.system.v1\nname: cmd\nkind: command\nper: case\ncommand: [sh, run.sh, \"{input}\"]\noperations:\n  add: {args: [\"--n={n}\", \"{file}\"], stdin: \"{text}\", returns: stdout, rejects: [3], changes: true}\nreset: none\nenv: {A: b}\nlimits: {timeout: 250ms, memory: 64MiB}\n",
		"schema: thresh.system.v1\nname: tools\nkind: mcp\ncommand: [node, srv.mjs]\nreset: restart\nready: {log: \"^up \\\\d+\"}\nallow: [get_*]\n",
		"schema: thresh.system.v1\nname: bot\nkind: chat\nurl: https://h.example/chat\nmodel: m1\nreply: \"$.text\"\nlimits: {rate: 90/m, retries: 0}\n",
	}...), func(text string) string {
		p, list := decode("dir/x.yaml", []byte(text))
		if p == nil {
			return list.Render(diag.Style{})
		}
		return fmt.Sprintf("%+v %s %v %v", *p, list.Render(diag.Style{}), p.ResetBy(), p.Shared())
	})
}
