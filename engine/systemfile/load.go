package systemfile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/port/sut"
)

// Load reads a system file and what it names: the module of wasm, the file that
// describes operations. The plan's digest covers what decides a run: the bytes
// of the file and of those that it names, and the digests of the local programs
// that it starts.
func Load(path string, read func(string) ([]byte, error), digest func(string) (string, error)) (*sut.Plan, diag.List) {
	text, err := read(path)
	if err != nil {
		return nil, diag.List{{Code: "system.unreadable", Pos: diag.Pos{File: path}, Message: "the system file cannot be read: " + err.Error()}}
	}
	d, root := parse(path, text)
	return d.complete(root, text, read, digest)
}

// Embedded reads a system that is a mapping in another document. text is that
// mapping in a form that is equal for equal systems, and line returns a line of
// the document. It need not name the schema.
func Embedded(path string, n *doctree.Node, text []byte, line func(int) string, read func(string) ([]byte, error), digest func(string) (string, error)) (*sut.Plan, diag.List) {
	return newDecoder(path, line).complete(n, text, read, digest)
}

// complete decodes a plan, reads what it names, and computes its digest.
func (d *decoder) complete(root *doctree.Node, text []byte, read func(string) ([]byte, error), digest func(string) (string, error)) (*sut.Plan, diag.List) {
	p := d.decode(root)
	if p == nil {
		return nil, d.List
	}
	h := sha256.New()
	part := func(name string, b []byte) { fmt.Fprintf(h, "%s %d\n%s", name, len(b), b) }
	part("file", text)
	below := func(dir, name string) string {
		if filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(dir, name)
	}
	local := func(name string) string { return below(p.Dir, name) }
	unreadable := func(key, name string, err error) {
		d.refuse(root.Get(key).Pos, key, "unreadable", "paths are relative to the system file", "%s cannot be read: %v", name, err)
	}
	named := func(key, name string) []byte {
		data, err := read(local(name))
		if err != nil {
			unreadable(key, name, err)
		}
		part(key, data)
		return data
	}
	switch {
	case p.Kind == sut.WASM:
		p.Module = named("entry", p.Entry)
	case p.OpenAPI != "" && !Remote(p.OpenAPI):
		p.Document = named("openapi", p.OpenAPI)
	}
	covered := false
	if p.Kind == sut.Python {
		file, _, _ := strings.Cut(p.Entry, ":")
		sum, err := digest(local(file))
		if err != nil {
			unreadable("entry", file, err)
		}
		part(file, []byte(sum))
	}
	for _, word := range p.Command {
		if strings.Contains(word, "{") {
			continue
		}
		// A word that is not a file beside the system file is an option, or a
		// program on PATH.
		if sum, err := digest(below(p.StartDir(), word)); err == nil {
			part(word, []byte(sum))
			covered = true
		}
	}
	switch {
	case d.List.HasErrors():
		return nil, d.List
	case len(p.Command) > 0 && !covered:
		p.Unknown = "the system file starts no local program, so the run's identity includes no program digest"
	case len(p.Command) == 0 && (p.Kind == sut.HTTP || p.Kind == sut.Chat || p.Kind == sut.MCP):
		p.Unknown = "the system runs elsewhere, so the run's identity includes no digest of its program"
	}
	p.Digest = hex.EncodeToString(h.Sum(nil))
	return p, d.List
}

// Remote reports whether operations are read from the service itself.
func Remote(openapi string) bool {
	return strings.HasPrefix(openapi, "/") || strings.HasPrefix(openapi, "http://") || strings.HasPrefix(openapi, "https://")
}
