package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/secret"
	"github.com/thresh-dev/thresh/store"
)

// Fill adds to settings the functions by which documents read files, and records what they read.
func (b *Bundle) Fill(set campaign.Settings) campaign.Settings {
	set.Read, set.List, set.Digest, set.Self = b.Read, b.List, b.digest, self()
	return set
}

// Bundle records the files that documents read during compilation, so that they are stored with the
// run.
type Bundle struct {
	files   map[string][]byte
	digests map[string]string
}

func NewBundle() *Bundle {
	return &Bundle{files: make(map[string][]byte), digests: make(map[string]string)}
}

func (b *Bundle) Read(path string) ([]byte, error) {
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

// Changed returns the first file that has changed since a run began; "" if none has.
func (b *Bundle) Changed(m store.Manifest) string {
	for _, path := range slices.Sorted(maps.Keys(b.files)) {
		sum := sha256.Sum256(credentials{}.sealed(path, b.files[path]))
		if kept, ok := m.Files[path]; ok && kept != hex.EncodeToString(sum[:]) {
			return path
		}
	}
	for _, path := range slices.Sorted(maps.Keys(b.digests)) {
		if kept, ok := m.Digests[path]; ok && kept != b.digests[path] {
			return path
		}
	}
	return ""
}

// listing is the name under which a folder's content is stored.
func listing(dir string) string { return filepath.Clean(dir) + string(filepath.Separator) }

func (b *Bundle) List(dir string) ([]string, error) {
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

func (b *Bundle) digest(path string) (string, error) {
	if d, ok := b.digests[path]; ok {
		return d, nil
	}
	d, err := fileDigest(path)
	if err == nil {
		b.digests[path] = d
		if path == self() {
			b.digests[campaign.Self] = d // the program may be elsewhere when the run is compiled again
		}
	}
	return d, err
}

// self is the path of this program; "" if unknown.
var self = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return ""
	}
	return path
})

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

// Compiled holds documents that are ready to run.
type Compiled struct {
	Docs      []Document
	Campaigns []campaign.Any
	Sources   []string // the document of each campaign
	Warnings  diag.List
	kept      [][]byte // what the store keeps of each document
	secrets   credentials
}

// cut returns the errors of documents, or what ended their compilation: then they say nothing about the documents.
func cut(ctx context.Context, list diag.List) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return list
}

// Compile compiles every document and returns everything that is wrong with
// them.
func Compile(ctx context.Context, docs []Document, set campaign.Settings) (Compiled, error) {
	run := docs
	if len(set.Options[ShardOption]) > 0 { // documents of other shards may use the options
		run = nil
	}
	return compileOf(ctx, run, docs, set)
}

// compileOf is Compile for documents of a run that may have more of them in other shards.
func compileOf(ctx context.Context, run, docs []Document, set campaign.Settings) (Compiled, error) {
	options, err := valued(set.Options)
	if err != nil {
		return Compiled{}, err
	}
	set.Options = options
	c, names := Compiled{Docs: docs, secrets: credentialsOf(docs, set.Options)}, make(campaignNames)
	all := idle(run, set.Options)
	for i, d := range docs {
		camps, kept, list, err := compileSealed(ctx, &d, set, c.secrets)
		c.kept = append(c.kept, kept)
		if err != nil {
			return c, err
		}
		docs[i] = d
		all = append(all, list...)
		for _, x := range camps {
			x, list := names.add(d.Path, x)
			c.Campaigns = append(c.Campaigns, x)
			c.Sources = append(c.Sources, d.Path)
			all = append(all, list...)
		}
	}
	if set.Strict && !set.Stored { // warnings that are new since the run began do not stop it
		all.Strict()
	}
	if all.HasErrors() {
		return c, cut(ctx, all)
	}
	c.Warnings = all
	return c, nil
}

// campaignNames maps the format and name of each campaign of a run to its document.
type campaignNames map[[2]string]string

// add renames a campaign whose name another document's campaign has already, with a warning, so
// that each finding, trend and count belongs to one document.
func (n campaignNames) add(path string, c campaign.Any) (campaign.Any, diag.List) {
	id := c.Identity()
	key := [2]string{id.Contract, id.Name}
	other, taken := n[key]
	if !taken {
		n[key] = path
	}
	if !taken || other == path {
		return c, nil
	}
	list := diag.List{{
		Level: diag.Warning, Code: "input.duplicate-id", Pos: diag.Pos{File: path},
		Message: fmt.Sprintf("%s names its campaign %s, too: this one is reported as %s", other, id.Name, nameBeside(id.Name, path, other)),
		Hint:    "give each campaign its own name, or run the documents apart",
	}}
	id.Name = nameBeside(id.Name, path, other)
	return renamed{c, id}, list
}

// nameBeside returns a campaign's name in a run that already has one of that name. It adds the
// document's path relative to the folder that holds both documents. The name, the digest and the
// ids of findings therefore do not depend on where that folder is.
func nameBeside(name, path, other string) string {
	at, err := filepath.Abs(path)
	dir, fails := filepath.Abs(filepath.Dir(other))
	if err != nil || fails != nil {
		return fmt.Sprintf("%s (%s)", name, path)
	}
	for filepath.Dir(dir) != dir && !strings.HasPrefix(at, dir+string(filepath.Separator)) {
		dir = filepath.Dir(dir)
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(at, dir), string(filepath.Separator))
	return fmt.Sprintf("%s (%s)", name, filepath.ToSlash(rel))
}

// isNameBeside reports whether [nameBeside] gave a document's campaign its name.
func isNameBeside(was, name, path string) bool {
	rel, ok := strings.CutPrefix(was, name+" (")
	rel, ends := strings.CutSuffix(rel, ")")
	at, err := filepath.Abs(path)
	return ok && ends && err == nil && strings.HasSuffix(filepath.ToSlash(at), "/"+rel)
}

// renamed is a campaign with another name.
type renamed struct {
	campaign.Any
	id campaign.Identity
}

func (r renamed) Identity() campaign.Identity { return r.id }

// Unwrap implements [campaign.Wrapper].
func (r renamed) Unwrap() any { return r.Any }

// Settings is a run's settings in its manifest.
type Settings struct {
	Seed    *int64              `json:"seed,omitempty"`
	Strict  bool                `json:"strict,omitempty"`
	Cases   int64               `json:"cases,omitempty"`
	Options map[string][]string `json:"options,omitempty"`
}

// manifest collects everything needed to compile the run again.
func (a *App) manifest(st *store.Store, c Compiled, b *Bundle, set campaign.Settings, cases int64) (store.Manifest, error) {
	m := store.Manifest{Command: a.commandLine(c.secrets), Version: Version, Files: make(map[string]string), Digests: b.digests}
	m.Folder, _ = os.Getwd() // an unknown folder is omitted
	release := func() {}
	for _, d := range c.Docs {
		if d.Release != nil {
			release = d.Release // every document has this function
		}
		ref := store.SpecRef{Path: d.Path, Contract: d.Contract.Name()}
		if d.Name != d.Path {
			ref.Name = d.Name // it is compiled again in other folders
		}
		m.Specs = append(m.Specs, ref)
	}
	kept := c.kept
	for _, d := range c.Docs[len(kept):] { // compiled by a contract's own command
		kept = append(kept, sealed(d.Data))
	}
	if err := st.PutSpecs(m.Specs, kept, release); err != nil {
		return m, diag.Environment("keeping the documents with the run: %w", err)
	}
	for path, data := range b.files {
		blob, err := st.PutBlob(c.secrets.sealed(path, data))
		if err != nil {
			return m, diag.Environment("keeping %s in the store: %w", path, err)
		}
		m.Files[path] = blob
	}
	for _, x := range c.Campaigns {
		m.Identities = append(m.Identities, x.Identity())
	}
	var err error
	m.Settings, err = json.Marshal(Settings{Seed: set.Seed, Strict: set.Strict, Cases: cases, Options: secret.Unvalued(set.Options, optVar, c.secrets.names)})
	return m, err
}

// Stored compiles a run again from what was stored with it; blob reads the stored files. changed
// names the programs that have changed since.
func (a *App) Stored(ctx context.Context, blob func(name string) ([]byte, error), m store.Manifest) (c Compiled, set Settings, changed []string, err error) {
	return a.storedWith(ctx, blob, m, func(*campaign.Settings) {})
}

// storedWith is Stored with settings changed by swap.
func (a *App) storedWith(ctx context.Context, blob func(name string) ([]byte, error), m store.Manifest, swap func(*campaign.Settings)) (c Compiled, set Settings, changed []string, err error) {
	if err := json.Unmarshal(m.Settings, &set); err != nil {
		return c, set, nil, fmt.Errorf("reading the settings of run %s: %w", m.RunID, err)
	}
	err = store.ReadSpecs(m.Specs, blob, func(s store.SpecRef, data []byte) error {
		x := a.texts.hold(text{data: data})
		d := Document{Spec: campaign.Spec{Path: s.Path, Name: s.Name, Data: x.data, Release: x.release}}
		for _, k := range a.Contracts {
			if k.Name() == s.Contract {
				d.Contract = k
			}
		}
		if d.Contract == nil {
			return diag.Refused("run %s is of format %s, which this version does not know", m.RunID, s.Contract)
		}
		c.Docs = append(c.Docs, d)
		return nil
	})
	if err != nil {
		return c, set, nil, err
	}
	if set.Options == nil {
		set.Options = make(map[string][]string) // as without flags
	}
	read := func(path string) ([]byte, error) {
		name, ok := m.Files[path]
		if !ok {
			return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
		}
		return blob(name)
	}
	settings := campaign.Settings{
		Seed: set.Seed, Strict: set.Strict, Options: set.Options, Stored: true, Read: read, Self: self(),
		List: func(dir string) ([]string, error) {
			names, err := read(listing(dir))
			if err != nil || len(names) == 0 {
				return nil, err
			}
			return strings.Split(string(names), "\x00"), nil
		},
		Digest: func(path string) (string, error) {
			kept, ok := m.Digests[path]
			if path == self() && m.Digests[campaign.Self] != "" {
				kept, ok = m.Digests[campaign.Self], true
			}
			if !ok {
				return "", &fs.PathError{Op: "digest", Path: path, Err: fs.ErrNotExist}
			}
			if slices.Contains(changed, path) { // an earlier document already reported it
				return kept, nil
			}
			if now, err := fileDigest(path); err != nil || now != kept {
				changed = append(changed, path)
			}
			return kept, nil
		},
	}
	swap(&settings)
	c, err = Compile(ctx, c.Docs, settings)
	return c, set, changed, err
}
