package draft

import (
	"path/filepath"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/lazy"
)

// Kind is the kind of a thing to try.
type Kind string

// The kinds of things that can be tried.
const (
	Program Kind = "program" // a command line; the input is @@ or standard input
	Pages   Kind = "pages"   // a folder of documents, or one page
	Service Kind = "service" // an OpenAPI document, on a service or in a file
	Server  Kind = "server"  // an MCP server that Thresh starts
	Chat    Kind = "chat"    // a chat endpoint
	Agent   Kind = "agent"   // a Python function or object
	Module  Kind = "module"  // a WebAssembly module
	// Recording is a recorded trace, one JSON line per call.
	Recording Kind = "recording"
)

// Thing is what a user wants to try.
type Thing struct {
	Kind  Kind
	Words []string // the command line, or the one path or address
	Seeds []string // files and folders of a program's initial inputs
}

// Mark stands for the path of the input in a command line.
const Mark = "@@"

// agentEntry is FILE.py:NAME.
var agentEntry = lazy.Pattern(`^[^:]+\.py:[A-Za-z_][A-Za-z0-9_.]*$`)

// Read determines what the words of a command line stand for. Seeds are the words after "--".
// folder reports whether a path is a folder.
func Read(words, seeds []string, folder func(string) bool) (Thing, error) {
	if len(words) == 0 || words[0] == "" {
		return Thing{}, diag.Refused("there is nothing to try")
	}
	t := Thing{Words: words, Seeds: seeds}
	first := words[0]
	url := strings.HasPrefix(first, "http://") || strings.HasPrefix(first, "https://")
	ext := strings.ToLower(filepath.Ext(first))
	switch {
	case strings.HasPrefix(first, "mcp:"):
		t.Kind = Server
		if t.Words = words[1:]; len(first) > len("mcp:") {
			t.Words = append([]string{strings.TrimPrefix(first, "mcp:")}, t.Words...)
		}
		if len(t.Words) == 0 {
			return t, diag.WithHint(diag.Refused("mcp: needs the command that starts the server"), "thresh try mcp: python3 server.py")
		}
		return t, t.single(len(t.Words))
	case first == "chat":
		t.Kind = Chat
		if t.Words = words[1:]; len(t.Words) == 0 {
			return t, diag.WithHint(diag.Refused("chat needs the URL of a chat endpoint"), "thresh try chat http://127.0.0.1:11434/v1")
		}
		if !strings.HasPrefix(t.Words[0], "http://") && !strings.HasPrefix(t.Words[0], "https://") {
			return t, diag.Refused("chat needs a URL that begins with http:// or https://, got %q", t.Words[0])
		}
	case url:
		t.Kind = Service
	case agentEntry().MatchString(first):
		t.Kind = Agent
	case ext == ".wasm":
		t.Kind = Module
	case ext == ".jsonl":
		t.Kind = Recording
	case folder(first) || ext == ".md":
		t.Kind = Pages
	case ext == ".json" || ext == ".yaml" || ext == ".yml":
		t.Kind = Service
	default:
		t.Kind = Program
		return t, nil
	}
	return t, t.single(1)
}

// single rejects words and seeds that a thing does not use.
func (t *Thing) single(n int) error {
	switch {
	case len(t.Words) > n:
		return diag.Refused("try one thing at a time: %s is one, %q another", t.Words[0], t.Words[n])
	case len(t.Seeds) > 0 && t.Kind != Module:
		return diag.Refused("seeds are for a program or a module; %s is a %s", t.Words[0], t.Kind)
	}
	return nil
}

var unfit = lazy.Pattern(`[^A-Za-z0-9._-]+`)

// Name returns a short name of the thing, suitable for files and campaigns.
func (t *Thing) Name() string {
	word := t.Words[0]
	switch t.Kind {
	case Program, Server:
		word = t.called()
	case Service, Chat:
		_, rest, found := strings.Cut(word, "://")
		if !found {
			break
		}
		word, _, _ = strings.Cut(rest, "/")
		return clean(word)
	case Agent:
		word, _, _ = strings.Cut(word, ":")
	}
	base := filepath.Base(filepath.Clean(word))
	return clean(strings.TrimSuffix(base, filepath.Ext(base)))
}

func clean(name string) string {
	if name = strings.Trim(unfit().ReplaceAllString(name, "-"), ".-_"); name == "" {
		return "thing"
	}
	return name
}

// runtimes matches programs whose first argument that is not an option is the thing to try.
var runtimes = lazy.Pattern(`^(python[0-9.]*|node|ruby|perl|php|sh|bash|java|uv|npx|deno|bun)$`)

// called is the word of a command line that names the thing to try.
func (t *Thing) called() string {
	if !runtimes().MatchString(filepath.Base(t.Words[0])) {
		return t.Words[0]
	}
	for _, w := range t.Words[1:] {
		if !strings.HasPrefix(w, "-") && w != Mark && w != "run" {
			return w
		}
	}
	return t.Words[0]
}
