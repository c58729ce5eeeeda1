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

// MostText is the longest document that a desk shows and saves.
const MostText = 1 << 20

// Desk is the documents below a folder: to check, edit and run them, and to stop
// their runs. Its methods may be called at the same time.
type Desk struct {
	*Remote
	set  campaign.Settings
	mu   sync.Mutex
	runs map[string]*Background // by id, those that this desk began
}

// Desk is one over a folder; its runs end with ctx.
func (a *App) Desk(ctx context.Context, st *Store, dir, root string) *Desk {
	set := campaign.Settings{Options: map[string][]string{"recursive": {"true"}}}
	return &Desk{Remote: a.Remote(ctx, st, dir, root, 0), set: set, runs: make(map[string]*Background)}
}

// Documents are the documents below the folder, in path order.
func (d *Desk) Documents() ([]Document, error) {
	docs, _, err := d.app.Search(d.root, d.set)
	return docs, err
}

// Text is a document as it stands in its file.
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

// ErrLong says that a document is too long for a desk to show.
var ErrLong = diag.Refused("the document has more than %d bytes", MostText)

// CheckText is what thresh check says of a document if its file held text.
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

// ErrChanged says that a file is not what it was when it was shown.
var ErrChanged = errors.New("the file changed meanwhile; load the page again to see it as it is")

// TextVersion names a text, to see whether a file still holds it.
func TextVersion(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Save writes a document whose file still holds the version that was shown.
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

// Flags are the settings of a run of the store as flags of thresh run.
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

// settings are those of a run of the store; of "" none.
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

// Begin runs a document in the background, with the settings of a run of the store
// unless like is "", and returns the run's id.
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

// Going reports whether a run that this desk began goes on.
func (d *Desk) Going(run string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.runs[run] != nil
}

// Stop ends a run that this desk began, as an interrupt does, and returns once it
// is over.
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

// Wait returns once all runs of the desk are over, which they are when its
// context has ended.
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
