package draft

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/engine/systemfile"
	"github.com/thresh-dev/thresh/port/sut"
)

// SystemFacts describes a service or a server that was opened.
type SystemFacts struct {
	Name, Folder string
	Kind         sut.Kind
	URL          string
	OpenAPI      string // a path on the service, or the name of a file with the content of Described
	Described    []byte
	Command      []string // nil: it runs elsewhere
	Start        string   // folder in which the command starts, relative to Folder or absolute
	Operations   []sut.Operation
	// Headers and Query are the credentials that it requires; Unset means that they use variables that
	// are not set.
	Headers, Query [][2]string
	Unset          bool
	Supposed       bool // nothing says where it runs: URL is a guess
	Yes            bool
}

// DraftSystem returns a system file, which can run as it is: its operations are called with inputs
// made from their schemas.
func DraftSystem(f *SystemFacts) *Draft {
	d := &Draft{Format: "system", Folder: f.Folder, Document: f.Name + ".system.yaml"}
	var called, left []string
	for i := range f.Operations {
		o := &f.Operations[i]
		if writes := o.Destroys || f.Kind == sut.HTTP && o.Method != "GET" && o.Method != "HEAD"; writes && !f.Yes {
			left = append(left, o.Name)
		} else {
			called = append(called, o.Name)
		}
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# A system, and how it is reached. Each of its operations is called with inputs made\n# from its schema: valid ones, and ones that break one rule each.\n#")
	d.why("Called: %s.", strings.Join(called, ", "))
	if len(left) > 0 {
		d.why("Not called, as they may change or delete data: %s. --writes calls them.", strings.Join(left, ", "))
		d.askFlag("writes", "may %s be called? Run with --writes.", strings.Join(left, ", "))
	}
	if f.Yes {
		d.option("writes", "")
	}
	for _, w := range d.Why {
		line("# %s", strings.ReplaceAll(w, "\n", " "))
	}
	line("schema: thresh.system.v1\nname: %s\nkind: %s", strconv.Quote(f.Name), f.Kind)
	if len(f.Command) > 0 {
		line("# Thresh starts it; after a call that ended it, or made it hang, it is started again.\n%s", f.starts())
	}
	if f.URL != "" {
		line("url: %s", strconv.Quote(f.URL))
		if len(f.Command) == 0 {
			line("# QUESTION: how is it started? A call that ends it ends the run, too. Thresh starts it, and starts it\n# again, if you write its command, and {port} in its address:")
			line("# command: [\"python3\", \"server.py\", \"{port}\"]")
			d.ask("# command:", "how is it started? A call that ends it ends the run, too.")
		}
		credentials(&b, f, d, false)
	}
	if f.OpenAPI != "" {
		line("openapi: %s", strconv.Quote(f.OpenAPI))
	}
	line("# QUESTION: how long may an answer take, and how should a case begin? No state is reset\n# between calls; with an operation that does it: reset: {operation: NAME}")
	if len(f.Command) > 0 {
		line("limits: {timeout: 5s}")
	} else {
		line("# One call at a time, so that a call after which nothing answers is the one reported.\nlimits: {timeout: 5s, concurrency: 1}")
	}
	d.ask("limits:", "how long may an answer take? 5s is a guess.")
	d.Files = []campaign.File{{Name: d.Document, Data: []byte(b.String())}}
	if f.Described != nil {
		d.Files = append(d.Files, campaign.File{Name: f.OpenAPI, Data: f.Described})
	}
	return d
}

// starts returns the lines that say how the system is started.
func (f *SystemFacts) starts() string {
	command := "command: [" + strings.Join(seq.Map(f.Command, strconv.Quote), ", ") + "]"
	if f.Start == "" {
		return command
	}
	return command + "\ndir: " + strconv.Quote(f.Start)
}

// credentials writes what to send with every call, as the service's description requires. While a
// variable is unset, nothing is sent unless it must be.
func credentials(b *strings.Builder, f *SystemFacts, d *Draft, must bool) {
	var lines, set []string
	for _, k := range []struct {
		key  string
		list [][2]string
	}{{"headers", f.Headers}, {"query", f.Query}} {
		var pairs []string
		for _, p := range k.list {
			pairs = append(pairs, strconv.Quote(p[0])+": "+strconv.Quote(p[1]))
			names, _ := systemfile.Variables(p[1])
			for _, name := range names {
				if strings.HasPrefix(p[1], "Basic ") {
					name += "=user:password"
				}
				set = append(set, name)
			}
		}
		if pairs != nil {
			lines = append(lines, k.key+": {"+strings.Join(pairs, ", ")+"}\n")
		}
	}
	sign, ask := "", ""
	switch {
	case lines == nil && f.Kind == sut.MCP && must:
		return
	case lines == nil:
		sign, ask, lines = "# ", "does it need a token? It is called without.", []string{"headers: {Authorization: \"Bearer ${TOKEN}\"}\n"}
	case !f.Unset:
		fmt.Fprintln(b, "# Its description requires these of every caller.")
	case must:
		ask = fmt.Sprintf("which credentials? Set %s.", strings.Join(slices.Compact(set), ", "))
	default:
		sign, ask = "# ", fmt.Sprintf("which credentials? Its description requires some: set %s, and remove the #.", strings.Join(slices.Compact(set), ", "))
	}
	if ask != "" {
		fmt.Fprintf(b, "# QUESTION: %s\n", ask)
		d.ask(sign+lines[0], "%s", ask)
	}
	for _, l := range lines {
		b.WriteString(sign + l)
	}
}
