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

// Limits: lines that a frame shows around the one that matters, bytes of a file that frames are
// taken from, and bytes of a target's output that are searched.
const (
	frameAround = 4
	frameFile   = 4 << 20
	frameSearch = 64 << 10
)

var (
	// Python puts the innermost call last in a trace, others put it first.
	framePython = lazy.Pattern(`File "([^"\n]+)", line (\d+)`)
	// Node prints the line that threw again, before the trace of the error itself.
	frameAt = lazy.Pattern(`(?m)^\s+at (?:.*[( ])?(?:file://)?([^\s"'()<>:]+\.[A-Za-z]{1,6}):(\d+)(?::\d+)?\)?$`)
	// Java names a file without its folders, which follow from the class.
	frameJava = lazy.Pattern(`(?m)^\s+at (?:[\w.]*/)*((?:[a-z_]\w*\.)+)[A-Z][\w$]*\.[\w$<>]+\((\w+\.(?:java|kt|scala|groovy)):(\d+)\)$`)
	// frameVariable is where a variable is defined, which AddressSanitizer names beside the one that was overrun.
	frameVariable = lazy.Pattern(`global variable '[^'\n]*' defined in '[^'\n]*'`)
	frameOther    = lazy.Pattern(`([^\s"'()<>:]+\.[A-Za-z]{1,6}): ?(?:line )?(\d+)(?::\d+)?\b`)
	// framePointer matches a place in a document: $.functions.close.
	framePointer = lazy.Pattern(`^\$((?:\.[^.\s]+)+)$`)
	// frameItem matches a key followed by indices: turns[1].
	frameItem = lazy.Pattern(`^(.*?)((?:\[\d+\])+)$`)
)

// javaFolders lists where builds for the JVM keep their packages.
var javaFolders = [...]string{"src/main/java/", "src/main/kotlin/", "src/main/scala/", "src/main/groovy/", "src/", "", "app/src/main/java/", "app/src/main/kotlin/"}

// framer finds the source lines that findings point to. It reads only below the working folder and
// the folders of documents, because a target may name any file of the machine.
type framer struct {
	app   *App
	root  string
	mu    sync.Mutex
	names map[string]assist.Names // by document
}

func (a *App) framer() *framer {
	root, err := os.Getwd()
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		root = "" // no frame will be found
	}
	return &framer{app: a, root: root, names: make(map[string]assist.Names)}
}

// frames returns the source lines of a finding: where its stack trace ends, or else the part of the
// document that it concerns.
func (r *framer) frames(source string, f *campaign.Finding) []campaign.Exhibit {
	if r.root == "" {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	shown := slices.ContainsFunc(f.Evidence, func(e campaign.Exhibit) bool { return e.Document != nil }) // the format shows a document itself
	for i := range f.Evidence {
		t := f.Evidence[i].Text
		if t == nil || shown && t.ReportOf == "" {
			continue
		}
		text := frameVariable().ReplaceAllString(t.Body[:min(len(t.Body), frameSearch)], "")
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

// frameAt returns the frame for a match of a file and a line.
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

// read reads a text file below the working folder or the document's folder, after following links.
// It returns nil for hidden files and for anything else.
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

// frame returns the lines around a line; nil if the file has no such line.
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

// inDocument returns the frame of the document's part that a finding names.
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

// lineOf returns the line of a key in a document; 0 if the key is missing.
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
