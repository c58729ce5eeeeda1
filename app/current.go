package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/systemfile"
	"github.com/thresh-dev/thresh/run"
	"github.com/thresh-dev/thresh/store"
)

// changedSince names the files of a stored run's document that have changed: the document itself
// and the files that documents of the run name. A missing file does not count as changed, because
// only the stored copy is left.
func changedSince(st *store.Store, m store.Manifest, source string, options map[string][]string) ([]string, error) {
	var changed []string
	differs := func(path string, kept []byte, stored func([]byte) []byte) {
		if now, err := os.ReadFile(path); err == nil && !bytes.Equal(now, kept) && !bytes.Equal(stored(now), kept) {
			changed = append(changed, path)
		}
	}
	var docs []Document
	err := store.ReadSpecs(m.Specs, st.Blob, func(s store.SpecRef, text []byte) error {
		docs = append(docs, Document{Spec: campaign.Spec{Data: text}})
		if s.Path == source {
			differs(s.Path, text, sealed)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	c := credentialsOf(docs, options)
	for _, path := range slices.Sorted(maps.Keys(m.Files)) {
		if strings.HasSuffix(path, string(os.PathSeparator)) {
			continue // a list of the names in a folder
		}
		kept, err := st.Blob(m.Files[path])
		if err != nil {
			return nil, fmt.Errorf("reading %s back from the store: %w", path, err)
		}
		differs(path, kept, func(now []byte) []byte { return c.sealed(path, now) })
	}
	return changed, nil
}

// inapplicable is the error for a stored case that does not exist in the campaign's replacement.
func (a *App) inapplicable(ctx context.Context, what string, r *revived, now bool, system string, format string, args ...any) error {
	why := fmt.Sprintf(format, args...)
	if !now {
		return diag.Environment("%s does not apply to the system of %s: %s", what, system, why)
	}
	if fault := a.unread(ctx, r); fault != nil {
		why = "it cannot be read: " + fault.Text()
	}
	return diag.WithHint(diag.Environment("%s does not apply to %s as it is now: %s", what, r.source, why),
		"thresh replay "+what+" --as-stored uses the stored document")
}

// unread returns why the document of a stored case cannot be read as it is now. [App.Document] does
// not always say so: formats whose documents hold many texts still run the readable ones, and a
// damaged document may match no format at all.
func (a *App) unread(ctx context.Context, r *revived) *diag.Diagnostic {
	d, err := a.Document(r.source)
	if err != nil {
		return nil
	}
	for _, c := range a.Contracts {
		if c.Name() != r.campaign.Identity().Contract {
			continue
		}
		d.Contract = c
		_, _, list, _ := compileSealed(ctx, &d, NewBundle().Fill(campaign.Settings{Check: true, Options: map[string][]string{}}), credentials{})
		for i := range list {
			if list[i].Level == diag.Error && strings.HasSuffix(list[i].Code, ".syntax") {
				return &list[i]
			}
		}
	}
	return nil
}

// recompiled compiles the campaign of a stored case with the current document, with the system of a
// file, or both. It returns the campaign, ready to execute, and the matching case. f is the case's
// finding, or nil.
func (a *App) recompiled(ctx context.Context, st *store.Store, r *revived, at campaign.Case, f *campaign.Finding, now bool, system string) (*revived, campaign.Case, error) {
	what, signature := fmt.Sprintf("case %d", at.Index), ""
	if f != nil {
		what, signature = f.ID, f.Signature
	}
	swap, err := a.replacement(r, system)
	if err != nil {
		return nil, at, err
	}
	var c Compiled
	if now {
		c, err = a.current(ctx, r, what, swap)
	} else {
		c, _, _, err = a.storedWith(ctx, st.Blob, r.journal.Manifest(), swap)
	}
	if err != nil {
		return nil, at, err
	}
	was := r.campaign.Identity()
	for _, x := range c.Campaigns {
		if id := x.Identity(); id.Contract != was.Contract || id.Name != was.Name && !isNameBeside(was.Name, id.Name, r.source) {
			continue
		}
		if at, err = sameCase(ctx, r.campaign, x, at, signature); err != nil {
			return nil, at, a.inapplicable(ctx, what, r, now, system, "%s", err)
		}
		facts, err := x.Probe(ctx)
		if err != nil {
			return nil, at, diag.Environment("starting the target: %w", err)
		}
		again := &revived{campaign: x, state: x.Start(facts), source: r.source, settings: r.settings}
		again.exec, err = campaign.Solo(campaign.WithLife(ctx, &again.life), x, campaign.Lane{Of: 1, Cold: true})
		if err != nil {
			return nil, at, diag.Environment("starting the target: %w", err)
		}
		return again, at, nil
	}
	return nil, at, a.inapplicable(ctx, what, r, now, system, "it has no campaign %q", was.Name)
}

// current compiles the document of a stored campaign as it is now.
func (a *App) current(ctx context.Context, r *revived, what string, swap func(*campaign.Settings)) (Compiled, error) {
	d, err := a.Document(r.source)
	d.Name = storedName(r.journal.Manifest(), r.source)
	if errors.Is(err, fs.ErrNotExist) || err == nil && d.Contract == nil {
		return Compiled{}, a.inapplicable(ctx, what, r, true, "", "the file is no longer a document")
	}
	if err != nil {
		return Compiled{}, diag.Environment("%s: %s", r.source, Reason(err))
	}
	set := NewBundle().Fill(campaign.Settings{Seed: r.settings.Seed, Options: r.settings.Options})
	swap(&set)
	c, err := Compile(ctx, []Document{d}, set)
	if list, ok := errors.AsType[diag.List](err); ok {
		a.warn(list)
		return c, a.inapplicable(ctx, what, r, true, "", "the document is refused")
	}
	return c, err
}

// storedName returns the name that a document has in a run; "": that of its path.
func storedName(m store.Manifest, source string) string {
	for _, s := range m.Specs {
		if s.Path == source {
			return s.Name
		}
	}
	return ""
}

// optSystem is the option of formats that replaces the document's system.
const optSystem = "system"

// replacement returns a function that makes documents compile with the system of a file, and notes
// the replacement. The file and the files it names are read as they are now, even if stored copies
// exist. Without a file, the function does nothing.
func (a *App) replacement(r *revived, file string) (swap func(*campaign.Settings), err error) {
	if file == "" {
		return func(*campaign.Settings) {}, nil
	}
	format := r.campaign.Identity().Contract
	for _, c := range a.Contracts {
		if c.Name() == format && !slices.ContainsFunc(c.Options(), func(o campaign.Option) bool { return o.Name == optSystem }) {
			return nil, diag.WithHint(diag.Refused("--%s: %s names what it tests, so nothing can replace it", optSystem, r.source), "thresh run "+file)
		}
	}
	if _, err := os.Stat(file); err != nil {
		return nil, diag.Refused("--%s: %s: %s", optSystem, file, Reason(err))
	}
	b := NewBundle()
	plan, faults := systemfile.Load(file, b.Read, b.digest)
	if plan == nil {
		return nil, faults
	}
	a.note("note: the system is that of %s, in place of the run's own", file)
	return func(set *campaign.Settings) {
		read, digest := set.Read, set.Digest
		set.Options = maps.Clone(set.Options)
		set.Options[optSystem] = []string{file}
		set.Read = func(path string) ([]byte, error) {
			if data, ok := b.files[path]; ok {
				return data, nil
			}
			return read(path)
		}
		set.Digest = func(path string) (string, error) {
			if d, ok := b.digests[path]; ok {
				return d, nil
			}
			return digest(path)
		}
	}, nil
}

// sameCase finds the counterpart of a case of campaign old in campaign now: the payload that now
// adopts if it can, else the case of the same name if cases have names, else the case with the same
// input. signature is that of the failure to show; "": any.
func sameCase(ctx context.Context, old, now campaign.Any, at campaign.Case, signature string) (campaign.Case, error) {
	if x, ok := campaign.As[campaign.Adopter](now); ok && at.Payload != nil {
		var err error
		at.Payload, err = x.Adopt(ctx, old, at.Payload, signature)
		return at, err
	}
	was, is := campaign.NamesOf(old, old.Start(campaign.Facts{})), campaign.NamesOf(now, now.Start(campaign.Facts{}))
	if was == nil || is == nil {
		if at.Payload == nil {
			return at, errors.New("the store keeps no input of the case")
		}
		return at, nil
	}
	name := was(campaign.Case{Round: at.Round, Index: at.Index})
	for i := range campaign.TraitsOf(now).Planned {
		if is(campaign.Case{Index: i}) == name {
			at.Index = i
			return at, nil
		}
	}
	return at, fmt.Errorf("it has no case %q", name)
}

// watch makes the executor run cases in the way in which the finding shows.
func (r *revived) watch(f *campaign.Finding) {
	if f.Kind == campaign.KindEndedLater {
		r.call = run.NewCaller(r.exec, &r.life, 0)
		r.call.Watch(f.Kind)
	}
}
