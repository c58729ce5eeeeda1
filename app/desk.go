package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// MostText is the largest size, in bytes, of a document that a [Desk] shows and saves.
const MostText = 1 << 20

// Desk gives access to the documents below a folder: to check, edit and run them, and to stop their
// runs. Its methods are safe for concurrent use.
type Desk struct {
	*Remote
	set  campaign.Settings
	mu   sync.Mutex
	runs map[string]*Background // by id; those that this desk began
}

// Desk returns a [Desk] for a folder. Its runs end with ctx.
func (a *App) Desk(ctx context.Context, st *Store, dir, root string) *Desk {
	set := campaign.Settings{Options: map[string][]string{recursive: {"true"}}}
	return &Desk{Remote: a.Remote(ctx, st, dir, root, 0), set: set, runs: make(map[string]*Background)}
}

// Documents returns the documents below the folder, in path order, including those that run only
// when they are named.
func (d *Desk) Documents() ([]Document, error) {
	docs, _, err := d.app.everyDocument(d.root, d.set)
	return docs, err
}

// Text returns the text of a document's file.
func (d *Desk) Text(path string) ([]byte, error) {
	name, err := d.pathBelowRoot(path)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(name); err == nil && info.Size() > MostText {
		return nil, ErrLong
	}
	return d.Read(path, MostText)
}

// ErrLong says that a document is larger than [MostText].
var ErrLong = diag.Refused("the document has more than %d bytes", MostText)

// CheckText checks a document as if its file contained text.
func (d *Desk) CheckText(ctx context.Context, path string, text []byte) (Checked, error) {
	name, err := d.pathBelowRoot(path)
	if err != nil {
		return Checked{}, err
	}
	doc := Document{Spec: campaign.Spec{Path: name, Data: text}}
	for _, c := range d.app.Contracts {
		if c.Detect(doc.Spec) {
			doc.Contract = c
			return check(ctx, []Document{doc}, NewBundle().Fill(campaign.Settings{Check: true})), nil
		}
	}
	return Checked{Diagnostics: diag.List{d.app.unknownFormat(doc.Spec)}}, nil
}

// ErrChanged says that a file has changed since it was shown.
var ErrChanged = errors.New("the file changed meanwhile; load the page again to see it as it is")

// TextVersion returns the version of a text. It differs once the text has changed.
func TextVersion(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Save writes a document unless its file has changed since that version was shown.
func (d *Desk) Save(path, version string, text []byte) error {
	name, err := d.pathBelowRoot(path)
	if err != nil {
		return err
	}
	now, err := d.Text(path)
	switch {
	case err != nil:
		return err
	case TextVersion(now) != version:
		return ErrChanged
	case bytes.Equal(now, text):
		return nil
	case len(text) > MostText:
		return diag.Refused("%s has more than %d bytes", path, MostText)
	}
	info, err := os.Stat(name)
	if err == nil {
		err = WriteWhole(name, text, info.Mode().Perm())
	}
	if err != nil {
		return diag.Environment("writing %s: %s", path, Reason(err))
	}
	return nil
}

// Flags returns the settings of a stored run as flags of thresh run.
func (d *Desk) Flags(run string) ([]string, error) {
	set, err := d.settings(run)
	if err != nil {
		return nil, err
	}
	var flags []string
	if set.Seed != nil {
		flags = append(flags, "--seed="+strconv.FormatInt(*set.Seed, 10))
	}
	if set.Cases > 0 {
		flags = append(flags, "--cases="+strconv.FormatInt(set.Cases, 10))
	}
	if set.Strict {
		flags = append(flags, "--strict")
	}
	for _, name := range slices.Sorted(maps.Keys(set.Options)) {
		for _, v := range set.Options[name] {
			flags = append(flags, "--"+name+"="+v)
		}
	}
	return flags, nil
}

// settings returns the settings of a stored run, none for "".
func (d *Desk) settings(run string) (set Settings, err error) {
	if run == "" {
		return set, nil
	}
	if run, err = d.store.ResolveRun(run); err != nil {
		return set, err
	}
	j, err := d.store.OpenJournal(run)
	if err != nil {
		return set, err
	}
	defer j.Close()
	if m := j.Manifest(); len(m.Settings) > 0 {
		if err := json.Unmarshal(m.Settings, &set); err != nil {
			return set, diag.Environment("reading the settings of run %s: %s", run, err)
		}
	}
	return set, nil
}

// Begin starts to run a document in the background and returns the run's id. If like is not "", it
// uses the settings of that stored run.
func (d *Desk) Begin(ctx context.Context, path, like string) (string, error) {
	set, err := d.settings(like)
	if err != nil {
		return "", err
	}
	flags, err := d.Flags(like)
	if err != nil {
		return "", err
	}
	remote, as := *d.Remote, *d.app
	as.Command = append([]string{"thresh", "run", path}, flags...)
	if d.dir != DefaultStore {
		as.Command = append(as.Command, "--store", d.dir)
	}
	remote.app = &as
	draft := Draft{Path: path, Seed: set.Seed, Strict: set.Strict, Cases: set.Cases}
	draft.Options = set.Options
	r, err := remote.Start(ctx, draft)
	if err != nil {
		return "", err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.runs[r.ID()] = r
	go func() {
		<-r.Done()
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.runs, r.ID())
	}()
	return r.ID(), nil
}

// Going reports whether a run that this desk started is still running.
func (d *Desk) Going(run string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.runs[run] != nil
}

// Stop interrupts a run that this desk started, and waits for its end.
func (d *Desk) Stop(run string) error {
	d.mu.Lock()
	r := d.runs[run]
	d.mu.Unlock()
	if r == nil {
		return diag.Refused("run %s was not started here, or has ended", run)
	}
	r.Stop()
	<-r.Done()
	return nil
}

// Wait waits for the end of all runs, which end with the desk's context.
func (d *Desk) Wait() {
	d.mu.Lock()
	var going []*Background
	for _, r := range d.runs {
		going = append(going, r)
	}
	d.mu.Unlock()
	for _, r := range going {
		<-r.Done()
	}
}
