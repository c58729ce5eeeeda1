package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/report"
	"github.com/thresh-dev/thresh/store"
)

//go:embed page
var pageFiles embed.FS

// UseCases is what pages offer besides showing the store.
type UseCases interface {
	// Since returns what changed in a run since the newest earlier one like it.
	Since(runID string) (*report.Since, error)
	// Compare compares two runs by what the stored lists say about their findings.
	Compare(a, b string) (store.Comparison, error)
	// Promote writes a finding as a regression test, as thresh promote does, and returns the files'
	// names as the user would write them.
	Promote(ctx context.Context, runID, findingID string) (files []string, err error)
	// Cases returns the cases of a run, for report formats that list cases.
	Cases(rec campaign.Record, format string) report.Cases
	// KeptCase returns the outcome and exhibits that a run keeps of one case.
	KeptCase(runID, contract, name string, index int64) (campaign.Outcome, []campaign.Exhibit, error)
	// FindingID returns the id of the finding that a failing case of a campaign belongs to.
	FindingID(contract, name string, o *campaign.Outcome) string
	// Shows reports whether an outcome shows a finding again.
	Shows(f *campaign.Finding, o *campaign.Outcome) bool
	// KnownEntry returns the entry for a finding in the file of accepted findings.
	KnownEntry(f *campaign.Finding) string
	// RunCase runs one case of a run again, as thresh replay does, and returns its outcome and
	// exhibits.
	RunCase(ctx context.Context, runID, contract, name string, index int64) (campaign.Outcome, []campaign.Exhibit, error)
	// PromoteCommand, ResumeCommand and ReplayCommand return the command lines that promote a
	// finding, continue a run, and run one case again of a run with a single campaign.
	// PromoteCommand returns nil for a finding that cannot be promoted.
	PromoteCommand(runID string, f *campaign.Finding) []string
	ResumeCommand(runID string) []string
	ReplayCommand(runID string, index int64) []string
}

// Config is what a server needs.
type Config struct {
	Store    *store.Store
	Use      UseCases
	Version  string   // of Thresh
	Contract []string // names of the contracts, for filters
	// KnownFile is the name of the file beside documents that lists accepted findings.
	KnownFile string
	// Token is required from every request; "" requires none, for a server used within its own
	// process.
	Token string
	// Desk gives access to the documents that can be edited and run from a page; nil: none.
	Desk Desk
	// Fleet returns the members of the watched fleet; nil: no fleet is watched.
	Fleet func() []Member
	// Hosts are further names, without ports, by which clients may call the server. Addresses and
	// "localhost" are always allowed.
	Hosts []string
}

// Server serves the pages of one store.
type Server struct {
	cfg   Config
	pages interface {
		ExecuteTemplate(w io.Writer, name string, data any) error
	}
	assets  map[string]asset // by name
	hub     *journalHub
	metrics metrics
	single  sync.Mutex // held while a case runs, because its target may not tolerate two
	handler http.Handler
}

type asset struct {
	path string // with the digest of the content
	kind string
	body []byte
}

// New returns a server. It fails only if its embedded files are broken.
func New(cfg Config) (*Server, error) {
	s := &Server{cfg: cfg, hub: newJournalHub(cfg.Store)}
	if err := s.loadAssets(); err != nil {
		return nil, fmt.Errorf("read the pages' files: %w", err)
	}
	t, err := report.Parts()
	if err != nil {
		return nil, err
	}
	s.pages, err = t.Funcs(map[string]any{
		"asset": func(name string) string { return s.assets[name].path },
		"ago":   func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"clock": func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") },
		"join":  strings.Join,
		"int":   func(n int) int64 { return int64(n) },
		"mark":  statusSign,
	}).ParseFS(pageFiles, "page/*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("parse the pages' templates: %w", err)
	}
	s.handler = s.guard(s.routes())
	return s, nil
}

func (s *Server) loadAssets() error {
	s.assets = make(map[string]asset)
	add := func(name string, body []byte) {
		kind := map[string]string{".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}[path.Ext(name)]
		sum := sha256.Sum256(body)
		s.assets[name] = asset{"/static/" + hex.EncodeToString(sum[:6]) + "/" + name, kind + "; charset=utf-8", body}
	}
	style, err := report.Style()
	if err != nil {
		return err
	}
	add("page.css", style)
	// Scripts refer to each other by digest too, so those referred to come first.
	for _, name := range [...]string{"web.css", "icon.svg", "rows.js", "live.js", "fleet.js", "app.js"} {
		body, err := fs.ReadFile(pageFiles, "page/"+name)
		if err != nil {
			return err
		}
		if path.Ext(name) == ".js" {
			for other, a := range s.assets {
				body = bytes.ReplaceAll(body, []byte(`"./`+other+`"`), []byte(`"`+a.path+`"`))
			}
		}
		add(name, body)
	}
	return nil
}

// route is one kind of request. The pattern is one of http.ServeMux.
type route struct {
	pattern string
	serve   func(w http.ResponseWriter, r *http.Request) error
}

func (s *Server) routeList() []route {
	return append([]route{
		{"GET /{$}", s.runsPage},
		{"GET /runs/{run}", s.runPage},
		{"GET /runs/{run}/findings/{finding}", s.findingPage},
		{"GET /runs/{run}/cases/{case}", s.casePage},
		{"POST /runs/{run}/cases/{case}", s.runCase},
		{"GET /findings/{finding}", s.findFinding},
		{"GET /compare", s.comparePage},
		{"POST /runs/{run}/findings/{finding}/promote", s.promote},
		{"GET /runs/{run}/download/{name}", s.downloadReport},
		{"GET /runs/{run}/findings/{finding}/download/{part}", s.downloadInput},
		{"GET /static/{digest}/{name}", s.static},
		{"GET /metrics", s.metricsText},
		{"GET /fleet", s.fleetPage},
		{"POST /theme", s.chooseTheme},
	}, append(s.deskRoutes(), s.apiRoutes()...)...)
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for _, r := range s.routeList() {
		mux.HandleFunc(r.pattern, func(w http.ResponseWriter, q *http.Request) {
			began := time.Now()
			c := &counted{ResponseWriter: w, code: http.StatusOK}
			if err := r.serve(c, q); err != nil {
				s.fail(c, q, err)
			}
			s.metrics.request(r.pattern, c.code, time.Since(began))
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, q *http.Request) {
		s.fail(w, q, &statusError{http.StatusNotFound, fmt.Errorf("there is no page %s", q.URL.Path)})
	})
	return mux
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Serve answers on a listener until ctx ends. It then ends the streams of live pages and lets other
// answers finish.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	s.hub.start(ctx)
	defer s.hub.wait()
	srv := &http.Server{
		Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	over := make(chan error, 1)
	go func() { over <- srv.Serve(l) }()
	select {
	case err := <-over:
		return fmt.Errorf("serve pages on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := srv.Shutdown(last); err != nil {
		_ = srv.Close() // cuts off what does not end in time
	}
	if err := <-over; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (s *Server) static(w http.ResponseWriter, r *http.Request) error {
	a, ok := s.assets[r.PathValue("name")]
	if !ok || a.path != r.URL.Path {
		return &statusError{http.StatusNotFound, errors.New("there is no such file")}
	}
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(a.body) // the reader may be gone
	return nil
}
