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
	"github.com/thresh-dev/thresh/store"
)

// changedSince names the files of a stored run's document that are not what they
// were: the document, and what documents of the run name. What is gone has not
// changed: the stored copy is all there is.
func changedSince(st *store.Store, m store.Manifest, source string) ([]string, error) {
	var changed []string
	differs := func(path string, kept []byte) {
		if now, err := os.ReadFile(path); err == nil && !bytes.Equal(now, kept) && !bytes.Equal(sealed(now), kept) {
			changed = append(changed, path)
		}
	}
	err := store.ReadSpecs(m.Specs, st.Blob, func(s store.SpecRef, text []byte) error {
		if s.Path == source {
			differs(s.Path, text)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(m.Files)) {
		if strings.HasSuffix(path, string(os.PathSeparator)) {
			continue // the names in a folder
		}
		kept, err := st.Blob(m.Files[path])
		if err != nil {
			return nil, fmt.Errorf("reading %s back from the store: %w", path, err)
		}
		differs(path, kept)
	}
	return changed, nil
}

// inapplicable says that a stored case is none of the document as it is now.
func inapplicable(f campaign.Finding, source, format string, args ...any) error {
	return diag.WithHint(diag.Environment("%s does not apply to %s as it is now: %s", f.ID, source, fmt.Sprintf(format, args...)),
		"thresh replay "+f.ID+" --as-stored runs it under the document that was stored with it")
}

// current compiles the document of a stored campaign as it is now and returns
// the campaign with the finding's case in it.
func (a *App) current(ctx context.Context, r *revived, f campaign.Finding, at campaign.Case) (*revived, campaign.Case, error) {
	d, err := a.Document(r.source)
	if errors.Is(err, fs.ErrNotExist) || err == nil && d.Contract == nil {
		return nil, at, inapplicable(f, r.source, "the file is no document any more")
	}
	if err != nil {
		return nil, at, diag.Environment("%s: %s", r.source, Reason(err))
	}
	set := campaign.Settings{Seed: r.settings.Seed, Options: r.settings.Options}
	c, err := Compile(ctx, []Document{d}, NewBundle().Fill(set))
	var list diag.List
	if errors.As(err, &list) {
		a.warn(list)
		return nil, at, inapplicable(f, r.source, "the document is refused")
	}
	if err != nil {
		return nil, at, err
	}
	for _, x := range c.Campaigns {
		if id := x.Identity(); id.Contract != f.Contract || id.Name != f.Campaign {
			continue
		}
		if at, err = sameCase(r.campaign, x, at); err != nil {
			return nil, at, inapplicable(f, r.source, "%s", err)
		}
		facts, err := x.Probe(ctx)
		if err != nil {
			return nil, at, diag.Environment("starting the target: %w", err)
		}
		exec, err := x.Open(ctx, campaign.Lane{Of: 1, Cold: true})
		if err != nil {
			return nil, at, diag.Environment("starting the target: %w", err)
		}
		return &revived{campaign: x, state: x.Start(facts), exec: exec, source: r.source, settings: r.settings}, at, nil
	}
	return nil, at, inapplicable(f, r.source, "it has no campaign %q", f.Campaign)
}

// sameCase is the case of a campaign that is the same as a case of another one:
// that of the same name where cases have names, and one with the same input
// elsewhere.
func sameCase(old, now campaign.Any, at campaign.Case) (campaign.Case, error) {
	was, named := campaign.As[campaign.Namer](old)
	is, both := campaign.As[campaign.Namer](now)
	if !named || !both {
		if at.Payload == nil {
			return at, errors.New("the store keeps no input of the case")
		}
		return at, nil
	}
	name := was.CaseName(campaign.Case{Round: at.Round, Index: at.Index})
	planned := int64(0)
	if p, ok := campaign.As[campaign.Planner](now); ok {
		planned = p.Planned()
	}
	for i := range planned {
		if is.CaseName(campaign.Case{Index: i}) == name {
			at.Index = i
			return at, nil
		}
	}
	return at, fmt.Errorf("it has no case %q", name)
}
