package app

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/seq"
)

// Document is a spec with its contract.
type Document struct {
	campaign.Spec
	Contract campaign.Contract
	Named    bool // runs only when named, not with its folder
}

// Documents reads the paths that the user named: a file must be a document of some contract, a
// folder is searched for documents. problems lists everything that is wrong with the paths.
func (a *App) Documents(paths []string, set campaign.Settings) (docs []Document, problems diag.List, err error) {
	for _, typed := range paths {
		path := typed
		if !strings.Contains(path, "..") { // the system follows a link before it goes up from it
			path = filepath.Clean(path)
		}
		info, err := os.Stat(path)
		if err != nil {
			d := diag.Diagnostic{Code: "input.unreadable", Pos: diag.Pos{File: typed}, Message: Reason(err)}
			if strings.HasPrefix(typed, "http://") || strings.HasPrefix(typed, "https://") {
				d.Hint = "documents are files; a service is tested by: thresh try " + typed
			}
			problems = append(problems, d)
			continue
		}
		if info.IsDir() {
			found, left, err := a.Search(path, set)
			if err != nil {
				return nil, nil, err
			}
			if len(found) == 0 {
				problems = append(append(problems, a.emptyFolder(path, set)), left...)
			} else {
				a.warn(left)
			}
			docs = append(docs, found...)
			continue
		}
		d, err := a.Document(path)
		if err != nil {
			problems = append(problems, diag.Diagnostic{Code: "input.unreadable", Pos: diag.Pos{File: path}, Message: Reason(err)})
			continue
		}
		if d.Contract == nil {
			problems = append(problems, a.unknownFormat(d.Spec))
			continue
		}
		docs = append(docs, d)
	}
	return docs, problems, nil
}

// Faults returns everything that is wrong with documents, without running them.
func Faults(ctx context.Context, docs []Document, set campaign.Settings) diag.List {
	c, err := Compile(ctx, docs, NewBundle().Fill(set))
	if list, ok := errors.AsType[diag.List](err); ok {
		return list
	}
	return c.Warnings
}

// unknownFormat refuses a text that no format recognizes. It points to a syntax error, if there is
// one.
func (a *App) unknownFormat(doc campaign.Spec) diag.Diagnostic {
	d := diag.Diagnostic{
		Code: "input.unknown-format", Pos: diag.Pos{File: doc.Path, Line: 1, Col: 1}, Message: "not a document of " + a.formats(), Hint: formatHint(doc.Path),
	}
	var err error
	switch filepath.Ext(doc.Path) {
	case ".json":
		_, err = doctree.ParseJSON(doc.Data, jsontree.Options{})
	case ".yaml", ".yml":
		_, err = doctree.Parse(doc.Data, doctree.Options{})
	}
	if len(bytes.TrimSpace(doc.Data)) == 0 {
		d.Message = "the file is empty"
	} else if e, ok := errors.AsType[*doctree.Error](err); ok {
		d.Pos, d.Source = e.Pos.In(doc.Path), e.Source
		d.Message += "; it cannot be read: " + e.Message()
	}
	return d
}

// formatHint says what a file of that name needs to be a document.
func formatHint(path string) string {
	switch filepath.Ext(path) {
	case ".md":
		return "a block of test cases opens with ```yaml spec-test; thresh init spectest writes a starter document"
	case ".yaml", ".yml":
		return "a flakestorm file has the sections agent, golden_prompts and invariants; thresh init flakestorm writes a starter"
	}
	return "a JSON object with the schema_version \"llmfuzz.fuzzspec.v1\" is a FuzzSpec, with \"thresh.operators.v1\" an operator campaign; thresh init KIND writes a starter"
}

func (a *App) formats() string {
	names := seq.Map(a.Contracts, func(c campaign.Contract) string { return c.Name() })
	return "a known format (" + strings.Join(names, ", ") + ")"
}

func (a *App) Document(path string) (Document, error) {
	f, err := os.Open(path)
	if err != nil {
		return Document{}, err
	}
	defer f.Close()
	x, err := a.texts.read(f)
	if err != nil {
		return Document{}, err
	}
	d := Document{Spec: campaign.Spec{Path: path, Name: diag.DocumentName(path), Data: x.data}}
	for _, c := range a.Contracts {
		if c.Detect(d.Spec) {
			d.Contract = c
			break
		}
	}
	if d.Contract != nil {
		x = a.texts.hold(x)
		d.Data, d.Release = x.data, x.release
	}
	return d, nil
}

// emptyFolder says of a folder that there is nothing to run in it, or what must be named.
func (a *App) emptyFolder(path string, set campaign.Settings) diag.Diagnostic {
	d := diag.Diagnostic{
		Code: "input.empty-folder", Pos: diag.Pos{File: path},
		Message: "the folder holds no document of " + a.formats(),
		Hint:    "thresh init KIND FOLDER writes a starter document; thresh try THING needs none",
	}
	if named, _, err := a.everyDocument(path, set); err == nil && len(named) > 0 {
		d.Message = "the folder holds only documents that run when they are named, such as " + named[0].Path
		d.Hint = "name it instead of the folder: " + named[0].Path
	}
	return d
}

// Search finds the documents in a folder and the folders in it, in path order. It skips files that
// are not documents and files that runs have left. left says what a contract does not take from
// folders.
func (a *App) Search(root string, set campaign.Settings) (docs []Document, left diag.List, err error) {
	docs, left, err = a.everyDocument(root, set)
	return slices.DeleteFunc(docs, func(d Document) bool { return d.Named }), left, err
}

// everyDocument also finds documents that are run only when they are named.
func (a *App) everyDocument(root string, set campaign.Settings) (docs []Document, left diag.List, err error) {
	paths, left, err := FilesIn(root)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range paths {
		switch filepath.Ext(p) {
		case ".json", ".yaml", ".yml", ".md", ".star":
		default:
			continue
		}
		d, err := a.Document(p)
		if errors.Is(err, fs.ErrNotExist) {
			left = append(left, diag.Diagnostic{Code: "input.unreadable", Level: diag.Warning, Pos: diag.Pos{File: p}, Message: "the document is gone: it was there when the folder was searched"})
			continue
		}
		if err != nil {
			return nil, nil, diag.Environment("%s: %s", p, Reason(err))
		}
		if d.Contract == nil {
			continue
		}
		if ch, ok := d.Contract.(campaign.Chooser); ok {
			choice := ch.Chooses(root, p, set)
			if choice.Left {
				continue
			}
			if d.Named = !choice.Taken; choice.Hint != "" {
				left = append(left, diag.Diagnostic{
					Code: "input.left-out", Level: diag.Warning, Pos: diag.Pos{File: p},
					Message: "skipped: " + d.Contract.Name() + " does not take this file from a folder", Hint: choice.Hint,
				})
			}
		}
		docs = append(docs, d)
	}
	return docs, left, nil
}

// FilesIn returns the files below a folder in path order, without hidden ones.
// It follows links to files, but not to folders, which may form circles.
func FilesIn(root string) (paths []string, left diag.List, err error) {
	top := strings.TrimSuffix(root, "/") + "/" // the slash makes WalkDir follow a link
	err = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path == top:
			return err
		case err != nil: // it may contain no document, and the user may not have asked for -r
			left = append(left, diag.Diagnostic{Code: "input.unreadable", Level: diag.Warning, Pos: diag.Pos{File: path}, Message: "not searched for documents: " + Reason(err)})
		case d.IsDir() && path != top && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.Type().IsRegular() || d.Type()&fs.ModeSymlink != 0 && isFile(path):
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		return nil, nil, diag.Environment("searching %s for documents: %w", root, err)
	}
	sort.Strings(paths)
	return paths, left, nil
}

// isFile reports whether a link leads to a file.
func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

// Reason returns an error's text without its path, for messages that name the path.
func Reason(err error) string { return diag.Reason(err) }
