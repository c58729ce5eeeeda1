package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/store"
)

// application is what every verb works with.
type application struct {
	io        *Stdio
	contracts []campaign.Contract
	// texts is where documents are held; nil: on the heap, for verbs that go on
	// after a run, and those that make none.
	texts *texts
	// ran is the last run of this process, whose campaigns need not be compiled
	// again to be told about.
	ran struct {
		id        string
		campaigns []campaign.Any
	}
}

// document is a spec together with the contract it is of.
type document struct {
	campaign.Spec
	contract campaign.Contract
}

// documents reads the paths that the user named: files must be documents of
// some contract, folders are searched for documents. The problems are all that
// is wrong with the paths.
func (a *application) documents(paths []string, set campaign.Settings) (docs []document, problems diag.List, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			problems = append(problems, diag.Diagnostic{Code: "input.unreadable", Pos: diag.Pos{File: path}, Message: reason(err)})
			continue
		}
		if info.IsDir() {
			found, left, err := a.search(path, set)
			if err != nil {
				return nil, nil, err
			}
			if len(found) == 0 {
				problems = append(problems, diag.Diagnostic{
					Code: "input.empty-folder", Pos: diag.Pos{File: path},
					Message: "the folder holds no document of " + a.formats(),
				})
				problems = append(problems, left...)
			} else {
				a.warn(left)
			}
			docs = append(docs, found...)
			continue
		}
		d, err := a.document(path)
		if err != nil {
			problems = append(problems, diag.Diagnostic{Code: "input.unreadable", Pos: diag.Pos{File: path}, Message: reason(err)})
			continue
		}
		if d.contract == nil {
			problems = append(problems, diag.Diagnostic{
				Code: "input.unknown-format", Pos: diag.Pos{File: path},
				Message: "not a document of " + a.formats(),
				Hint:    formatHint(path),
			})
			continue
		}
		docs = append(docs, d)
	}
	return docs, problems, nil
}

// faults is all that is wrong with documents of which none will be run.
func faults(ctx context.Context, docs []document, set campaign.Settings) diag.List {
	c, err := compile(ctx, docs, newBundle().fill(set))
	var list diag.List
	if errors.As(err, &list) {
		return list
	}
	return c.warnings
}

// formatHint says what would make a file of that name a document.
func formatHint(path string) string {
	if filepath.Ext(path) == ".md" {
		return "a block of test cases opens with ```yaml spec-test; thresh init spectest writes a document to begin with"
	}
	return "a FuzzSpec is a JSON object whose schema_version is \"llmfuzz.fuzzspec.v1\"; thresh init writes one to begin with"
}

func (a *application) formats() string {
	names := make([]string, len(a.contracts))
	for i, c := range a.contracts {
		names[i] = c.Name()
	}
	return "a known format (" + strings.Join(names, ", ") + ")"
}

func (a *application) document(path string) (document, error) {
	f, err := os.Open(path)
	if err != nil {
		return document{}, err
	}
	defer f.Close()
	x, err := a.texts.read(f)
	if err != nil {
		return document{}, err
	}
	d := document{Spec: campaign.Spec{Path: path, Data: x.data}}
	for _, c := range a.contracts {
		if c.Detect(d.Spec) {
			d.contract = c
			break
		}
	}
	if d.contract != nil {
		x = a.texts.keep(x)
		d.Data, d.Release = x.data, x.release
	}
	return d, nil
}

// search finds the documents in a folder and the folders in it, in path order.
// What is no document and what runs have left is passed over.
// What a contract does not take from folders is told in left.
func (a *application) search(root string, set campaign.Settings) (docs []document, left diag.List, err error) {
	paths, left, err := filesIn(root)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range paths {
		switch filepath.Ext(p) {
		case ".json", ".yaml", ".yml", ".md":
		default:
			continue
		}
		d, err := a.document(p)
		if errors.Is(err, fs.ErrNotExist) {
			left = append(left, diag.Diagnostic{Code: "input.unreadable", Level: diag.Warning, Pos: diag.Pos{File: p}, Message: "the document is gone: it was there when the folder was searched"})
			continue
		}
		if err != nil {
			return nil, nil, diag.Environment("%s: %s", p, reason(err))
		}
		if d.contract == nil {
			continue
		}
		if k, ok := d.contract.(campaign.Keeper); ok && k.Keeps(p) {
			continue
		}
		if ch, ok := d.contract.(campaign.Chooser); ok {
			if taken, hint := ch.Chooses(root, p, set); !taken {
				left = append(left, diag.Diagnostic{
					Code: "input.left-out", Level: diag.Warning, Pos: diag.Pos{File: p},
					Message: "the document is left out: it was found in a folder and is not what " + d.contract.Name() + " takes from one", Hint: hint,
				})
				continue
			}
		}
		docs = append(docs, d)
	}
	return docs, left, nil
}

// filesIn are the files in a folder and the folders in it, but for hidden ones,
// in path order. Links to files are taken, links to folders may lead in circles.
func filesIn(root string) (paths []string, left diag.List, err error) {
	top := strings.TrimSuffix(root, "/") + "/" // with the slash a link is followed
	err = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path == top:
			return err
		case err != nil: // it may hold no document, and -r may not be asked for
			left = append(left, diag.Diagnostic{Code: "input.unreadable", Level: diag.Warning, Pos: diag.Pos{File: path}, Message: "not searched for documents: " + reason(err)})
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

// reason is an error without the path that the message around it names.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// fill gives settings what documents are compiled with; what is read is
// recorded.
func (b *bundle) fill(set campaign.Settings) campaign.Settings {
	set.Read, set.List, set.Digest = b.read, b.list, b.digest
	return set
}

// bundle records the files that documents name while they are compiled, so
// that they can be kept with the run.
type bundle struct {
	files   map[string][]byte
	digests map[string]string
}

func newBundle() *bundle {
	return &bundle{files: make(map[string][]byte), digests: make(map[string]string)}
}

func (b *bundle) read(path string) ([]byte, error) {
	if data, ok := b.files[path]; ok {
		return data, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	b.files[path] = data
	return data, nil
}

// listing is the name under which the content of a folder is kept.
func listing(dir string) string { return filepath.Clean(dir) + string(filepath.Separator) }

func (b *bundle) list(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	b.files[listing(dir)] = []byte(strings.Join(names, "\x00"))
	return names, nil
}

func (b *bundle) digest(path string) (string, error) {
	if d, ok := b.digests[path]; ok {
		return d, nil
	}
	d, err := fileDigest(path)
	if err == nil {
		b.digests[path] = d
	}
	return d, err
}

func fileDigest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// compiled is documents, ready to run.
type compiled struct {
	docs      []document
	campaigns []campaign.Any
	sources   []string
	warnings  diag.List
}

// compile compiles every document; all that is wrong with any is returned.
func compile(ctx context.Context, docs []document, set campaign.Settings) (compiled, error) {
	c := compiled{docs: docs}
	var all diag.List
	for _, d := range docs {
		camps, list := d.contract.Compile(ctx, d.Spec, set)
		all = append(all, list...)
		for _, x := range camps {
			c.campaigns = append(c.campaigns, x)
			c.sources = append(c.sources, d.Path)
		}
	}
	if all.HasErrors() {
		return c, all
	}
	if set.Strict && len(all) > 0 {
		for i := range all {
			all[i].Level = diag.Error
		}
		return c, all
	}
	c.warnings = all
	return c, nil
}

// storedSettings is how a run's settings are kept in its manifest.
type storedSettings struct {
	Seed    *int64              `json:"seed,omitempty"`
	Strict  bool                `json:"strict,omitempty"`
	Cases   int64               `json:"cases,omitempty"`
	Options map[string][]string `json:"options,omitempty"`
}

// manifest keeps everything that the run needs to be compiled again.
func manifest(st *store.Store, c compiled, b *bundle, set campaign.Settings, cases int64, argv []string) (store.Manifest, error) {
	m := store.Manifest{Command: argv, Version: Version, Files: make(map[string]string), Digests: b.digests}
	texts := make([][]byte, len(c.docs))
	release := func() {}
	for i, d := range c.docs {
		if d.Release != nil {
			release = d.Release // which is that of all
		}
		m.Specs = append(m.Specs, store.SpecRef{Path: d.Path, Contract: d.contract.Name()})
		texts[i] = d.Data
	}
	if err := st.PutSpecs(m.Specs, texts, release); err != nil {
		return m, diag.Environment("keeping the documents with the run: %w", err)
	}
	for path, data := range b.files {
		blob, err := st.PutBlob(data)
		if err != nil {
			return m, diag.Environment("keeping %s in the store: %w", path, err)
		}
		m.Files[path] = blob
	}
	for _, x := range c.campaigns {
		m.Identities = append(m.Identities, x.Identity())
	}
	var err error
	m.Settings, err = json.Marshal(storedSettings{Seed: set.Seed, Strict: set.Strict, Cases: cases, Options: set.Options})
	return m, err
}

// stored compiles a run again from what was kept with it; blob reads that. changed names the
// programs whose content is not what it was.
func (a *application) stored(ctx context.Context, blob func(name string) ([]byte, error), m store.Manifest) (c compiled, set storedSettings, changed []string, err error) {
	if err := json.Unmarshal(m.Settings, &set); err != nil {
		return c, set, nil, fmt.Errorf("reading the settings of run %s: %w", m.RunID, err)
	}
	err = store.ReadSpecs(m.Specs, blob, func(s store.SpecRef, data []byte) error {
		x := a.texts.keep(text{data: data})
		d := document{Spec: campaign.Spec{Path: s.Path, Data: x.data, Release: x.release}}
		for _, k := range a.contracts {
			if k.Name() == s.Contract {
				d.contract = k
			}
		}
		if d.contract == nil {
			return diag.Refused("run %s is of contract %s, which this version does not know", m.RunID, s.Contract)
		}
		c.docs = append(c.docs, d)
		return nil
	})
	if err != nil {
		return c, set, nil, err
	}
	if set.Options == nil {
		set.Options = make(map[string][]string) // as the flags give it when none is given
	}
	read := func(path string) ([]byte, error) {
		name, ok := m.Files[path]
		if !ok {
			return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
		}
		return blob(name)
	}
	settings := campaign.Settings{
		Seed: set.Seed, Options: set.Options, Stored: true, Read: read,
		List: func(dir string) ([]string, error) {
			names, err := read(listing(dir))
			if err != nil || len(names) == 0 {
				return nil, err
			}
			return strings.Split(string(names), "\x00"), nil
		},
		Digest: func(path string) (string, error) {
			kept, ok := m.Digests[path]
			if !ok {
				return "", &fs.PathError{Op: "digest", Path: path, Err: fs.ErrNotExist}
			}
			if now, err := fileDigest(path); err != nil || now != kept {
				changed = append(changed, path)
			}
			return kept, nil
		},
	}
	c, err = compile(ctx, c.docs, settings)
	return c, set, changed, err
}
