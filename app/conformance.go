package app

import (
	"fmt"
	"io"
)

// conformanceEntrypoint stands in for the Python function of the conformance
// suite: a usage line
// for --help, JSON for --json, a line of text otherwise.
func conformanceEntrypoint(args []string, out io.Writer) int {
	line := "conformance entrypoint of thresh"
	for _, a := range args {
		switch a {
		case "-h", "--help":
			fmt.Fprintln(out, "usage: conformance-entrypoint [--json]")
			return 0
		case "--json":
			line = `{"ok": true, "source": "thresh"}`
		}
	}
	fmt.Fprintln(out, line)
	return 0
}
