package app

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/assist"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/lazy"
)

// How much of a file a frame shows around the line that matters, how long a file
// may be that one is taken from, and how much of what a target said is searched.
const (
	frameAround = 4
	frameFile   = 4 << 20
	frameSearch = 64 << 10
)

var (
	// The innermost call stands last in traces of Python, and first in others.
	framePython = lazy.Pattern(`File "([^"\n]+)", line (\d+)`)
	// Node prints the line that threw again before the trace of the error itself.
	frameAt = lazy.Pattern(`(?m)^\s+at (?:.*[( ])?(?:file://)?([^\s"'()<>:]+\.[A-Za-z]{1,6}):(\d+)(?::\d+)?\)?$`)
	// Java names a file without its folders, which are those of the class.
	frameJava  = lazy.Pattern(`(?m)^\s+at (?:[\w.]*/)*((?:[a-z_]\w*\.)+)[A-Z][\w$]*\.[\w$<>]+\((\w+\.(?:java|kt|scala|groovy)):(\d+)\)$`)
	frameOther = lazy.Pattern(`([^\s"'()<>:]+\.[A-Za-z]{1,6}): ?(?:line )?(\d+)(?::\d+)?\b`)
	// framePointer is a place in a document: $.functions.close.
	framePointer = lazy.Pattern(`^\$((?:\.[^.\s]+)+)$`)
	// frameItem is a key with the places of items below it: turns[1].
	frameItem = lazy.Pattern(`^(.*?)((?:\[\d+\])+)$`)
)

// javaFolders are where builds of Java and its kin keep their packages.
var javaFolders = [...]string{"src/main/java/", "src/main/kotlin/", "src/main/scala/", "src/main/groovy/", "src/", "", "app/src/main/java/", "app/src/main/kotlin/"}

// framer finds the source lines that findings speak of, below the working folder
// and the folders of documents: a target may name any file of the machine.
type framer struct {
	app   *App
	root  string
	mu    sync.Mutex
	names map[string]assist.Names // of documents
}

func (a *App) framer() *framer {
	root, err := os.Getwd()
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		root = "" // no frame is found
	}
	return &framer{app: a, root: root, names: make(map[string]assist.Names)}
}

// frames are the source lines of a finding of a document: where its stack trace
// ends, or else what of the document it is about.
func (r *framer) frames(source string, f *campaign.Finding) []campaign.Exhibit {
	if r.root == "" {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	shown := slices.ContainsFunc(f.Evidence, func(e campaign.Exhibit) bool { return e.Document != nil }) // by the format
	for i := range f.Evidence {
		t := f.Evidence[i].Text
		if t == nil || shown && t.ReportOf == "" {
			continue
		}
		text := t.Body[:min(len(t.Body), frameSearch)]
		python := framePython().FindAllStringSubmatch(text, -1)
		for k := range python {
			if e := r.frameAt(source, python[len(python)-1-k]); e != nil {
				return []campaign.Exhibit{*e}
			}
		}
		for _, m := range frameJava().FindAllStringSubmatch(text, 64) {
			file := strings.ReplaceAll(m[1], ".", "/") + m[2]
			for _, folder := range javaFolders {
				if e := r.frameAt(source, []string{"", folder + file, m[3]}); e != nil {
					return []campaign.Exhibit{*e}
				}
			}
		}
		for _, m := range slices.Concat(frameAt().FindAllStringSubmatch(text, 64), frameOther().FindAllStringSubmatch(text, 64)) {
			if e := r.frameAt(source, m); e != nil {
				return []campaign.Exhibit{*e}
			}
		}
	}
	if shown {
		return nil
	}
	if e := r.inDocument(source, f); e != nil {
		return []campaign.Exhibit{*e}
	}
	return nil
}

// frameAt is the frame of a match of a file and a line.
func (r *framer) frameAt(source string, m []string) *campaign.Exhibit {
	line, err := strconv.Atoi(m[2])
	if err != nil || line < 1 {
		return nil
	}
	places := []string{m[1]}
	if !filepath.IsAbs(m[1]) {
		places = append(places, filepath.Join(filepath.Dir(source), m[1]))
	}
	for _, p := range places {
		if text := r.read(source, p); text != nil {
			return r.frame(p, text, line)
		}
	}
	return nil
}

// read reads a text file below the working folder or that of the document, links
// followed; nil: it is none, or hidden.
func (r *framer) read(source, path string) []byte {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return nil
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(source))
	if err == nil {
		folder, err = filepath.Abs(folder)
	}
	if err != nil {
		folder = r.root
	}
	for _, root := range []string{r.root, folder} {
		rel, err := filepath.Rel(root, real)
		if err != nil || !filepath.IsLocal(rel) || strings.HasPrefix(rel, ".") || strings.Contains(rel, string(filepath.Separator)+".") {
			continue
		}
		info, err := os.Stat(real)
		if err != nil || info.Mode().Type() != fs.FileMode(0) || info.Size() > frameFile {
			return nil
		}
		text, err := os.ReadFile(real)
		if err != nil || bytes.IndexByte(text, 0) >= 0 {
			return nil
		}
		return sealed(text)
	}
	return nil
}

// frame is the lines around one; nil: the file has no such line.
func (r *framer) frame(path string, text []byte, line int) *campaign.Exhibit {
	lines := strings.Split(strings.TrimSuffix(strings.ToValidUTF8(string(text), "\uFFFD"), "\n"), "\n")
	if line > len(lines) {
		return nil
	}
	if abs, err := filepath.Abs(path); err == nil {
		if rel, err := filepath.Rel(r.root, abs); err == nil && filepath.IsLocal(rel) {
			path = rel
		}
	}
	from, to := max(line-frameAround, 1), min(line+frameAround, len(lines))
	return &campaign.Exhibit{Kind: "document", Title: fmt.Sprintf("Source: %s:%d", path, line), Document: &campaign.Document{
		Name: path, Line: line, First: from, Body: strings.Join(lines[from-1:to], "\n") + "\n",
		Blocks: []campaign.Block{{From: line - from + 1, To: line - from + 1, Verdict: campaign.VerdictFail}},
	}}
}

// inDocument is the frame of what a finding names of its document.
func (r *framer) inDocument(source string, f *campaign.Finding) *campaign.Exhibit {
	text := r.read(source, source)
	if text == nil {
		return nil
	}
	for i := range f.Evidence {
		t := f.Evidence[i].Text
		if t == nil {
			continue
		}
		if m := framePointer().FindStringSubmatch(strings.TrimSpace(t.Body)); m != nil {
			if line := lineOf(text, strings.Split(m[1][1:], ".")); line > 0 {
				return r.frame(source, text, line)
			}
		}
	}
	names, read := r.names[source]
	if !read {
		names = r.app.Editor("").Open(source, text, nil).text.Names()
		r.names[source] = names
	}
	if at := cause(f.Title, names); at > 0 && at <= len(text) {
		return r.frame(source, text, 1+bytes.Count(text[:at], []byte("\n")))
	}
	return nil
}

// lineOf is the line of a key in a document; 0: it has none.
func lineOf(text []byte, keys []string) int {
	doc, err := doctree.Parse(text, doctree.Options{})
	if err != nil {
		return 0
	}
	n, line := &doc.Root, 0
	for _, key := range keys {
		var items []string
		if m := frameItem().FindStringSubmatch(key); m != nil && n.Get(key) == nil {
			key, items = m[1], strings.Split(strings.Trim(m[2], "[]"), "][")
		}
		var next *doctree.Node
		for i := range n.Members() {
			if m := &n.Members()[i]; m.Key.Text == key {
				next, line = &m.Value, m.Key.Pos.Line
			}
		}
		for _, item := range items {
			if i, err := strconv.Atoi(item); next != nil && next.Kind == doctree.Seq && err == nil && i < len(next.Items()) {
				next = &next.Items()[i]
				line = next.Pos.Line
			} else {
				return 0
			}
		}
		if next == nil {
			return 0
		}
		n = next
	}
	return line
}
