package spectest

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
)

// Setup blocks run once before the cases of a document, teardown blocks after them, in their own
// folder with the files of the page. What setup starts in the background serves all cases; what it
// captures becomes variables of the cases, beside FOLDER, PORT and ADDRESS.

// setUp runs the setup blocks before the first case.
func (x *executor) setUp(ctx context.Context) error {
	if x.c.doc.fixture == nil {
		return nil
	}
	s := x.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.set == nil && s.err == nil {
		s.page, s.set, s.err = x.prepare(context.WithoutCancel(ctx)) // it serves the other cases as well
	}
	if s.set != nil {
		x.set = s.set
	}
	return s.err
}

// setupNames are the variables that setup gives to the cases of the document.
func (d *document) setupNames() variables {
	if d.fixture == nil {
		return nil
	}
	names := variables{"FOLDER": {}, "PORT": {}, "ADDRESS": {}}
	for _, a := range d.fixture.page.acts {
		for i := range a.captures {
			names[a.captures[i].name] = given{}
		}
	}
	return names
}

// prepare runs the setup blocks. The returned settings have the variables for the cases.
func (x *executor) prepare(ctx context.Context) (*pageRun, *settings, error) {
	c := x.c.doc.fixture
	p, f, err := x.openPage(ctx, c)
	if err != nil || f != nil {
		return nil, nil, errors.Join(err, f.fatal("setup"))
	}
	if f, err = p.play(ctx, slices.DeleteFunc(slices.Clone(c.page.acts), func(a act) bool { return a.teardown })); f == nil {
		f = p.failure()
	}
	if f == nil {
		f = p.backgroundFailure()
	}
	if f == nil && len(p.skipped) > 0 {
		f = &Failure{Category: Runtime, Message: p.skipped[0], Line: c.From}
	}
	if err != nil || f != nil {
		return nil, nil, errors.Join(err, f.fatal("setup"), p.close())
	}
	set := *x.c.set
	set.vars = maps.Clone(set.vars)
	maps.Copy(set.vars, p.vars)
	port, _ := variable(p.own, "PORT")
	address := "127.0.0.1:" + port
	for name, value := range map[string]string{"FOLDER": p.dir, "PORT": port, "ADDRESS": address} {
		set.vars[name] = textValue(value)
	}
	own := maps.Clone(set.vars) // values that differ from run to run
	maps.DeleteFunc(own, func(name string, _ given) bool {
		g, fixed := x.c.set.vars[name]
		return fixed && !g.secret
	})
	own["LOCALHOST"] = textValue("localhost:" + port)
	set.hidden = own.redactor(true)
	return p, &set, nil
}

// tearDown runs the teardown blocks after the last case and ends what setup started.
func (x *executor) tearDown(p *pageRun) error {
	ctx := context.Background() // an interrupted run is torn down as well
	p.x, p.done = x, nil
	f, err := p.play(ctx, slices.DeleteFunc(slices.Clone(p.c.page.acts), func(a act) bool { return !a.teardown }))
	if f == nil {
		f = p.failure()
	}
	return errors.Join(err, f.fatal("teardown"), p.close())
}

// close ends the background blocks and caches the folder for the next page.
func (p *pageRun) close() error {
	err := p.stop()
	if p.python != nil {
		err = errors.Join(err, p.python.Close())
	}
	if p.folder.Clear() != nil {
		return errors.Join(err, p.folder.Close())
	}
	return errors.Join(err, p.x.session.cache.Put(folderKey, p.folder))
}

// fatal is a failure that leaves cases without what they need.
func (f *Failure) fatal(what string) error {
	if f == nil {
		return nil
	}
	return campaign.Fatal("%s, line %d: %s", what, f.Line, f.summary())
}
