package operator

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/engine/starop"
	"github.com/thresh-dev/thresh/engine/textop"
	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/port/pyhost"
)

// Disk finds and reads plug-ins.
type Disk struct {
	Read func(path string) ([]byte, error)
	List func(dir string) ([]string, error) // names of the regular files, sorted
}

// Plugins are operators from files.
type Plugins struct {
	Entries []mutator.Entry
	Python  []string // absolute paths of usable Python modules, by Entry.Module
	Faults  diag.List
	// HostErr is an error of the environment: Python modules were found but cannot be loaded, or
	// the context ended.
	HostErr error
	open    pyhost.OperatorOpener
	folders []pluginFolder
	// Ignored are the ids of operators that were not loaded because the filter excludes them.
	Ignored []string
}

// pluginFolder is a folder with plug-ins.
type pluginFolder struct {
	path  string
	files []string
}

// Limits of Python operators.
const (
	loadLimit   = 20 * time.Second
	callLimit   = 5 * time.Second
	pythonSpace = 2 << 30
)

// LoadPlugins loads op_*.star and op_*.py from files and folders. Faults lists everything wrong
// with them; the others are usable.
func LoadPlugins(ctx context.Context, paths []string, disk Disk, open pyhost.OperatorOpener) *Plugins {
	return LoadWanted(ctx, paths, disk, open, nil)
}

// LoadWanted is LoadPlugins without the files whose operator id, as far as it shows in their text,
// wanted rejects; nil accepts all.
func LoadWanted(ctx context.Context, paths []string, disk Disk, open pyhost.OperatorOpener, wanted func(id string) bool) *Plugins {
	p := &Plugins{open: open}
	var modules []module
	for _, root := range paths {
		files, fault := pluginFiles(root, disk)
		if fault != nil {
			p.Faults = append(p.Faults, *fault)
		}
		if !isPluginFile(root) {
			p.folders = append(p.folders, pluginFolder{root, files})
		}
		for _, file := range files {
			src, err := disk.Read(file)
			if err != nil {
				p.Faults = append(p.Faults, diag.Diagnostic{Code: "operator.plugin-unreadable", Pos: diag.Pos{File: file}, Message: "cannot be read: " + cause(err)})
				continue
			}
			if id := writtenID(src); id != "" && wanted != nil && !wanted(id) {
				p.Ignored = append(p.Ignored, id)
				continue
			}
			if strings.HasSuffix(file, ".py") {
				modules = append(modules, module{file, src})
				continue
			}
			source, found, err := loadStarlark(ctx, file, src)
			if err != nil {
				p.HostErr = err
				return p
			}
			p.Faults = append(p.Faults, found...)
			if source != nil {
				p.Entries = append(p.Entries, mutator.Entry{
					Meta: &source.Meta, Kind: mutator.Starlark, Source: source.Apply,
					New: func() (textop.Operator, error) { return source.New() },
				})
			}
		}
	}
	if len(modules) > 0 {
		p.python(ctx, modules)
	}
	slices.SortStableFunc(p.Faults, func(a, b diag.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
	})
	return p
}

// loadStarlark is [starop.Load], which runs the top level of the file. An error is the context's.
func loadStarlark(ctx context.Context, file string, src []byte) (*starop.Source, diag.List, error) {
	type loaded struct {
		source *starop.Source
		found  diag.List
	}
	out := make(chan loaded, 1)
	err := untilCancelled(ctx, func() error {
		source, found := starop.Load(file, src)
		out <- loaded{source, found}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("loading %s: %w", file, err)
	}
	l := <-out
	return l.source, l.found, nil
}

func cause(err error) string {
	for u := errors.Unwrap(err); u != nil; u = errors.Unwrap(err) {
		err = u
	}
	return err.Error()
}

func isPluginFile(path string) bool {
	ext := filepath.Ext(path)
	return ext == ".star" || ext == ".py"
}

// literalID matches an operator id written as a literal.
var literalID = regexp.MustCompile(`["']op_id["']\s*:\s*["']([^"'\\]*)["']\s*[,}#]`)

// writtenID is the operator id in a file, if its text alone determines it; "" otherwise.
func writtenID(src []byte) string {
	id := ""
	for _, found := range literalID.FindAllSubmatch(src, -1) { // a trace may contain it too
		if id != "" && id != string(found[1]) {
			return ""
		}
		id = string(found[1])
	}
	return id
}

// Spared returns the faults of the plug-ins. Damaged plug-ins in a folder are no reason to reject
// the others: they are named and left out.
func (p *Plugins) Spared() diag.List {
	list := slices.Clone(p.Faults)
	usable := seq.SetOf(p.Entries, func(e mutator.Entry) string { return e.Source.File })
	for _, folder := range p.folders {
		var damaged []string
		for _, file := range folder.files {
			broken := func(d diag.Diagnostic) bool { return d.Pos.File == file && d.Level == diag.Error }
			if !usable[file] && slices.ContainsFunc(list, broken) {
				damaged = append(damaged, file)
			}
		}
		if len(damaged) == 0 || !slices.ContainsFunc(folder.files, func(file string) bool { return usable[file] }) {
			continue
		}
		var names []string
		are := "are"
		if len(damaged) == 1 {
			are = "is"
		}
		for _, file := range damaged {
			names = append(names, filepath.Base(file))
			for i := range list {
				if list[i].Pos.File == file {
					list[i].Level = diag.Warning
				}
			}
		}
		list = append(list, diag.Diagnostic{
			Code: "operator.plugin-damaged", Level: diag.Warning, Pos: diag.Pos{File: folder.path},
			Message: fmt.Sprintf("%d of %d plug-ins %s damaged and not used: %s", len(damaged), len(folder.files), are, strings.Join(names, ", ")),
			Hint:    "--strict refuses them",
		})
	}
	return list
}

// Settled returns the operators without those whose id another one already has, if the filter
// excludes that id.
func Settled(entries []mutator.Entry, f mutator.Filter) []mutator.Entry {
	excluded := mutator.Filter{Exclude: f.Exclude}
	seen := make(map[string]bool, len(entries))
	return slices.DeleteFunc(entries, func(e mutator.Entry) bool {
		again := seen[e.Meta.ID]
		seen[e.Meta.ID] = true
		return again && !excluded.Named(e.Meta.ID)
	})
}

// pluginFiles returns the plug-ins that a path names.
func pluginFiles(root string, disk Disk) ([]string, *diag.Diagnostic) {
	isPlugin := func(name string) bool {
		ext := filepath.Ext(name)
		return strings.HasPrefix(name, "op_") && (ext == ".star" || ext == ".py")
	}
	if isPluginFile(root) {
		return []string{root}, nil
	}
	names, err := disk.List(root)
	if err != nil {
		return nil, &diag.Diagnostic{Code: "operator.plugin-unreadable", Pos: diag.Pos{File: root}, Message: "cannot be read: " + cause(err),
			Hint: "plug-ins are op_*.star and op_*.py files, or folders with such files"}
	}
	var files []string
	for _, name := range names {
		if isPlugin(name) {
			files = append(files, filepath.Join(root, name))
		}
	}
	if len(files) == 0 {
		return nil, &diag.Diagnostic{Code: "operator.plugin-none", Pos: diag.Pos{File: root}, Message: "the folder holds no op_*.star or op_*.py file"}
	}
	return files, nil
}

// set describes how modules run. Every lane loads the same files.
func (p *Plugins) set() pyhost.OperatorSet {
	return pyhost.OperatorSet{Files: p.Python, LoadLimit: loadLimit, CallLimit: callLimit, Limits: process.Limits{AddressSpace: pythonSpace}}
}

// Open loads the Python modules for a lane; nil if there are none.
func (p *Plugins) Open(ctx context.Context) (pyhost.Operators, error) {
	if p.HostErr != nil {
		return nil, p.HostErr
	}
	if len(p.Python) == 0 {
		return nil, nil
	}
	return p.open(ctx, p.set())
}

// module is a Python file.
type module struct {
	path string
	src  []byte
}

// python loads the modules once, for their metadata.
func (p *Plugins) python(ctx context.Context, files []module) {
	for _, f := range files {
		abs, err := filepath.Abs(f.path)
		if err != nil {
			abs = f.path
		}
		p.Python = append(p.Python, abs)
	}
	if p.open == nil {
		p.HostErr = errors.New("operators in Python cannot be run here")
		return
	}
	host, err := p.open(ctx, p.set())
	if err != nil {
		p.HostErr = fmt.Errorf("loading Python operators: %w", err)
		return
	}
	defer host.Close()
	all := p.Python
	p.Python = nil // do not wait for a hanging module again
	for i, m := range host.Modules() {
		name := files[i].path
		if meta := p.module(name, files[i].src, &m); meta != nil {
			p.Python = append(p.Python, all[i])
			p.Entries = append(p.Entries, mutator.Entry{
				Meta: meta, Kind: mutator.Python, Module: len(p.Python) - 1, Source: diag.Pos{File: name, Line: max(m.ApplyLine, 1), Col: 1},
			})
		}
	}
}

// module reads the result of loading a module; nil if it is unusable.
func (p *Plugins) module(name string, src []byte, m *pyhost.OperatorModule) *textop.Meta {
	lines := strings.Split(string(src), "\n")
	bad := false
	add := func(line int, d diag.Diagnostic) {
		d.Pos = diag.Pos{File: name, Line: max(line, 1), Col: 1}
		if line >= 1 && line <= len(lines) {
			d.Source = strings.TrimRight(lines[line-1], "\r")
		}
		bad = bad || d.Level == diag.Error
		p.Faults = append(p.Faults, d)
	}
	if m.Printed != "" {
		add(1, diag.Diagnostic{Code: "operator.prints", Level: diag.Warning, Message: fmt.Sprintf("prints while it is imported: %q", diag.FirstLine(strings.TrimSpace(m.Printed)))})
	}
	if m.GlobalRandom {
		add(1, diag.Diagnostic{Code: "operator.global-random", Message: "uses the global random generator while it is imported (OC-7.1)"})
	}
	if m.Fault != nil {
		line := 1
		if m.Fault.File != "" && filepath.Base(m.Fault.File) == filepath.Base(name) {
			line = m.Fault.Line
		}
		add(line, diag.Diagnostic{Code: "operator.load", Message: "cannot be loaded: " + m.Fault.Class + ": " + diag.FirstLine(strings.TrimSpace(m.Fault.Message))})
		return nil
	}
	var raw map[string]any
	d := json.NewDecoder(bytes.NewReader(m.Meta))
	d.UseNumber()
	if err := d.Decode(&raw); err != nil {
		add(m.MetaLine, diag.Diagnostic{Code: "operator.meta", Message: "OPERATOR_META cannot be read: " + err.Error()})
		return nil
	}
	meta, found := textop.ParseMeta(raw)
	for _, d := range found {
		field, _, _ := strings.Cut(d.Path, "[")
		line := m.MetaLine
		for i := max(m.MetaLine-1, 0); i < len(lines); i++ {
			if i >= m.MetaLine && lines[i] != "" && !strings.ContainsRune(" \t}])#", rune(lines[i][0])) {
				break // the next statement
			}
			if strings.Contains(lines[i], `"`+field+`"`) || strings.Contains(lines[i], `'`+field+`'`) {
				line = i + 1
				break
			}
		}
		d.Message, d.Path = "OPERATOR_META."+d.Path+": "+d.Message, ""
		add(line, d)
	}
	if why := pythonSignature(lines, m.ApplyLine); why != "" {
		add(m.ApplyLine, diag.Diagnostic{Code: "operator.apply", Message: why + ": expected apply(seed_text, ctx, rng) (OC-3.1)"})
	}
	if bad {
		return nil
	}
	return &meta
}

// pythonSignature says why apply, defined at a line, cannot be called with three arguments; "" if
// it can, or if the text does not show it.
func pythonSignature(lines []string, at int) string {
	if at < 1 || at > len(lines) {
		return ""
	}
	text := strings.Join(lines[at-1:min(at+20, len(lines))], "\n")
	_, list, ok := strings.Cut(text, "apply(")
	if !ok || !strings.Contains(lines[at-1], "def ") {
		return ""
	}
	depth, required, positional, end := 0, 0, 0, -1
	part, star := "", false
	count := func() {
		name := strings.TrimSpace(part)
		part = ""
		switch {
		case name == "" || name == "/":
		case strings.HasPrefix(name, "*"):
			star = star || name != "*" && !strings.HasPrefix(name, "**")
		default:
			positional++
			if !strings.Contains(name, "=") {
				required++
			}
		}
	}
	for i, c := range list {
		switch {
		case strings.ContainsRune("([{", c):
			depth++
		case c == ')' && depth == 0:
			end = i
		case strings.ContainsRune(")]}", c):
			depth--
		case c == ',' && depth == 0:
			count()
			continue
		}
		if end >= 0 {
			break
		}
		part += string(c)
	}
	if end < 0 {
		return ""
	}
	count()
	switch {
	case required > 3:
		return fmt.Sprintf("apply needs %d arguments", required)
	case positional < 3 && !star:
		return fmt.Sprintf("apply takes %d arguments", positional)
	}
	return ""
}
