package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// Remote provides the use cases for a client that may name only files below a root and whose runs
// are in the background.
type Remote struct {
	app     *App
	store   *Store
	dir     string // the store's folder, as the user named it
	root    string
	workers int
	ctx     context.Context // ends with the server
}

// Remote returns the use cases for a client. Runs continue after the call that started them, and
// end with ctx.
func (a *App) Remote(ctx context.Context, st *Store, dir, root string, workers int) *Remote {
	return &Remote{app: a, store: st, dir: dir, root: root, workers: workers, ctx: ctx}
}

// pathBelowRoot returns the path that a client names. It refuses a path that leads outside the
// root, directly or through symbolic links.
func (u *Remote) pathBelowRoot(path string) (string, error) {
	name, err := u.named(path)
	if err != nil {
		return "", err
	}
	root, err := filepath.EvalSymlinks(u.root)
	if err != nil {
		return "", fmt.Errorf("finding the folder %s: %w", u.root, err)
	}
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return name, nil // opening the file reports what is wrong
	}
	if rel, err := filepath.Rel(root, target); err != nil || !filepath.IsLocal(rel) {
		return "", diag.Refused("%s leaves this server's folder through a symbolic link", path)
	}
	return name, nil
}

func (u *Remote) named(path string) (string, error) {
	refused := diag.Refused("%s is outside this server's folder; thresh mcp --root names another", path)
	if !filepath.IsAbs(path) {
		if !filepath.IsLocal(path) {
			return "", refused
		}
		return filepath.Join(u.root, path), nil
	}
	root, err := filepath.Abs(u.root)
	if err != nil {
		return "", fmt.Errorf("finding the folder %s: %w", u.root, err)
	}
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", refused
	}
	return filepath.Join(u.root, rel), nil
}

// Read is thresh Read for a client.
func (u *Remote) Read(path string, limit int64) ([]byte, error) {
	name, err := u.pathBelowRoot(path)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, diag.Refused("%s: %s", path, Reason(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, diag.Refused("%s: %s", path, Reason(err))
	}
	if int64(len(data)) > limit {
		return nil, diag.Refused("%s has more than %d bytes", path, limit)
	}
	return data, nil
}

// confine restricts options that name files to files below the root and files that the client sent.
func (u *Remote) confine(options map[string][]string, brought map[string][]byte) (err error) {
	done := make(map[string]bool) // contracts share option names
	for _, c := range u.app.Contracts {
		for _, o := range c.Options() {
			if !o.Path || done[o.Name] {
				continue
			}
			done[o.Name] = true
			for i, v := range options[o.Name] {
				if _, ok := brought[v]; ok || v == o.NoPath {
					continue
				}
				if options[o.Name][i], err = u.pathBelowRoot(v); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// documents turns a client's draft into documents, and the settings to compile them with. left is what
// a folder has besides: the client does not see what the server prints.
func (u *Remote) documents(d Draft, b *Bundle) (docs []Document, set campaign.Settings, left diag.List, err error) {
	set = campaign.Settings{Seed: d.Seed, Strict: d.Strict, Options: map[string][]string{}}
	options, err := u.app.Options(d.Options)
	if err != nil {
		return nil, set, nil, err
	}
	maps.Copy(set.Options, options)
	// The client's files take precedence over those on disk.
	maps.Copy(b.files, d.Files)
	if err := u.confine(set.Options, d.Files); err != nil {
		return nil, set, nil, err
	}
	set = b.Fill(set)
	if d.Path != "" {
		path, err := u.pathBelowRoot(d.Path)
		if err != nil {
			return nil, set, nil, err
		}
		reader := *u.app
		reader.Warn = func(list diag.List) { left = append(left, list...) }
		found, problems, err := reader.Documents([]string{path}, set)
		if err != nil {
			return nil, set, nil, err
		}
		if len(problems) > 0 {
			return nil, set, nil, problems
		}
		docs = found
	} else {
		name := d.Name
		if name == "" {
			sum := sha256.Sum256(d.Text)
			name = "text-" + hex.EncodeToString(sum[:4])
		}
		if name != filepath.Base(name) || !filepath.IsLocal(name) {
			return nil, set, nil, diag.Refused("the name of a document must be a file name, got %q", name)
		}
		x := Document{Spec: campaign.Spec{Path: filepath.Join(u.root, name), Data: d.Text}}
		for _, c := range u.app.Contracts {
			if d.Contract == c.Name() || d.Contract == "" && c.Detect(x.Spec) {
				x.Contract = c
				break
			}
		}
		docs = append(docs, x)
	}
	for _, x := range docs {
		if x.Contract == nil || d.Contract != "" && x.Contract.Name() != d.Contract {
			want := u.app.formats()
			if d.Contract != "" {
				want = "the format " + d.Contract
			}
			return nil, set, nil, diag.List{{Code: "input.unknown-format", Pos: diag.Pos{File: x.Path}, Message: "not a document of " + want}}
		}
	}
	return docs, set, left, nil
}

// Check is thresh Check for a client.
func (u *Remote) Check(ctx context.Context, d Draft) (Checked, error) {
	var out Checked
	b := NewBundle()
	docs, set, left, err := u.documents(d, b)
	if errors.As(err, &out.Diagnostics) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	set.Check = true
	out = check(ctx, docs, set)
	out.Diagnostics = append(left, out.Diagnostics...)
	return out, nil
}

// Compile is Check for tools that look at the campaigns themselves.
func (u *Remote) Compile(ctx context.Context, d campaign.Draft) (all []campaign.Any, list diag.List, err error) {
	docs, set, _, err := u.documents(Draft{Draft: d}, NewBundle()) // one document, of which nothing is left
	if errors.As(err, &list) {
		return nil, list, nil
	}
	if err != nil {
		return nil, nil, err
	}
	set.Check = true
	list = eachCompiled(ctx, docs, set, func(_ Document, c campaign.Any) { all = append(all, c) })
	return all, list, nil
}

// Replay runs a stored finding again.
func (u *Remote) Replay(ctx context.Context, finding string, job ReplayJob) (_ Replayed, err error) {
	if strings.Contains(finding, "#") {
		return Replayed{}, diag.Refused("must be a finding's id, got %q", finding)
	}
	if job.System != "" {
		if job.System, err = u.pathBelowRoot(job.System); err != nil {
			return Replayed{}, err
		}
	}
	return u.app.Replay(ctx, u.store, finding, job)
}

// Draft is a client's document and how to run it. Its fields mean what the flags of thresh run
// mean.
type Draft struct {
	campaign.Draft        // Text is used only if Path is ""
	Path           string // a file or a folder
	Seed           *int64
	Strict         bool
	Cases          int64
	// MaxErrors ends the run once more of its cases have no result; nil: never.
	MaxErrors *ErrorLimit
}
