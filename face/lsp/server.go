package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/thresh-dev/thresh/app"
)

// Config is what a server needs.
type Config struct {
	Editor  *app.Editor
	Version string
	// Enter makes the folder opened in the editor the working directory.
	Enter func(dir string) error
	// Show returns everything that is known about a stored finding, as text.
	Show func(finding string) (string, error)
}

// server is one session with a client.
type server struct {
	Config
	*wire
	ctx           context.Context
	began         bool
	leaving       bool // the client has sent shutdown
	shows         bool // the client can open documents
	lenses        bool // the client can refresh lenses
	pages         map[string]*open
	work          sync.WaitGroup
	running       sync.Mutex // only one command runs at a time
	memory        *keeper
	scratch       string // folder of the texts shown
	removeScratch func() error
	onceScratch   sync.Once
}

// open is a document that the client has open.
type open struct {
	uri   string
	text  *text
	page  *app.Page
	check chan *open // the newest text, for the goroutine that checks it
}

// Serve answers a client until it leaves. An error means that it left without the protocol's
// shutdown.
func Serve(ctx context.Context, in io.Reader, out io.Writer, c Config) error {
	ctx, stop := context.WithCancel(ctx)
	s := &server{Config: c, wire: newWire(in, out), ctx: ctx, pages: map[string]*open{}, memory: newKeeper()}
	defer func() {
		stop()
		for _, o := range s.pages {
			close(o.check)
		}
		s.work.Wait()
		if s.removeScratch != nil {
			_ = s.removeScratch()
		}
	}()
	for {
		m, err := s.read()
		var bad *failure
		switch {
		case errors.As(err, &bad):
			s.write(message{ID: json.RawMessage("null"), Error: bad})
			continue
		case err != nil && s.leaving:
			return nil
		case err != nil:
			return fmt.Errorf("the editor disconnected: %w", err)
		case m.Method == "exit":
			if !s.leaving {
				return errors.New("the editor exited without a shutdown request")
			}
			return nil
		case m.Method == "":
			continue // an answer to a request of the server
		}
		s.handle(m)
	}
}

// reply answers a request. A notification gets no reply.
func (s *server) reply(m *message, result any, err error) {
	if m.ID == nil {
		return
	}
	var bad *failure
	switch {
	case errors.As(err, &bad):
		s.write(message{ID: m.ID, Error: bad})
	case err != nil:
		s.write(message{ID: m.ID, Error: &failure{requestFailed, err.Error()}})
	default:
		s.write(message{ID: m.ID, Result: encode(result)})
	}
}

// later answers a request that may take long.
func (s *server) later(m *message, answer func() (any, error)) {
	s.work.Go(func() {
		result, err := answer()
		s.reply(m, result, err)
	})
}

func params[T any](m *message) (T, error) {
	var v T
	if err := json.Unmarshal(m.Params, &v); err != nil {
		return v, &failure{invalidParams, m.Method + ": " + err.Error()}
	}
	return v, nil
}

// handle processes a message.
func (s *server) handle(m *message) {
	if m.Method == "initialize" {
		p, err := params[initialize](m)
		if err == nil {
			s.initialize(p)
		}
		s.reply(m, capabilities(s.Version), err)
		return
	}
	switch {
	case !s.began:
		s.reply(m, nil, &failure{notInitialized, m.Method + " came before initialize"})
		return
	case s.leaving:
		s.reply(m, nil, &failure{invalidRequest, m.Method + " came after shutdown"})
		return
	}
	switch m.Method {
	case "shutdown":
		s.leaving = true
		s.reply(m, nil, nil)
	case "textDocument/didOpen":
		if p, err := params[at](m); err == nil {
			s.opened(p.Document)
		}
	case "textDocument/didChange":
		if p, err := params[changed](m); err == nil {
			s.changed(p)
		}
	case "textDocument/didClose":
		if p, err := params[at](m); err == nil {
			s.closed(p.Document.URI)
		}
	case "textDocument/didSave":
		if p, err := params[at](m); err == nil && s.pages[p.Document.URI] != nil {
			o := s.pages[p.Document.URI]
			s.set(o, o.text.text) // files named in it may have changed
		}
	case "workspace/executeCommand":
		p, err := params[command](m)
		if err != nil {
			s.reply(m, nil, err)
			return
		}
		s.execute(m, p)
	case "workspace/symbol":
		p, err := params[at](m)
		s.later(m, func() (any, error) { return s.symbols(p.Query), err })
	default:
		s.ask(m)
	}
}

// ask answers a question about a place in a document.
func (s *server) ask(m *message) {
	var answer func(o *open, p at) (any, error)
	slow := false
	switch m.Method {
	case "textDocument/completion":
		answer = s.complete
	case "textDocument/hover":
		answer = s.hover
	case "textDocument/definition":
		answer, slow = s.definition, true
	case "textDocument/codeAction":
		answer, slow = s.actions, true
	case "textDocument/codeLens":
		answer, slow = s.codeLenses, true
	default:
		if m.ID != nil {
			s.reply(m, nil, &failure{unknownMethod, "there is no method " + m.Method})
		}
		return
	}
	p, err := params[at](m)
	if err != nil {
		s.reply(m, nil, err)
		return
	}
	o := s.pages[p.Document.URI]
	if o == nil {
		s.reply(m, nil, &failure{invalidParams, p.Document.URI + " is not open"})
		return
	}
	now := *o // later changes do not affect the answer
	if slow {
		s.later(m, func() (any, error) { return answer(&now, p) })
		return
	}
	result, err := answer(&now, p)
	s.reply(m, result, err)
}

func (s *server) initialize(p initialize) {
	s.began = true
	s.shows = p.Capabilities.Window.ShowDocument.Support
	s.lenses = p.Capabilities.Workspace.CodeLens.RefreshSupport
	if dir := pathOf(p.RootURI); dir != "" && s.Enter != nil {
		if err := s.Enter(dir); err != nil {
			s.showMessage(warningMessage, err.Error())
		}
	}
}

func (s *server) opened(d document) {
	if s.pages[d.URI] != nil {
		s.closed(d.URI)
	}
	o := &open{uri: d.URI, check: make(chan *open, 1)}
	s.pages[d.URI] = o
	s.work.Go(func() { s.checks(o.check) })
	s.set(o, d.Text)
}

func (s *server) changed(p changed) {
	o := s.pages[p.Document.URI]
	if o == nil {
		return
	}
	now := o.text
	for _, c := range p.Changes {
		if c.Range == nil {
			now = newText(c.Text)
			continue
		}
		from, to := now.offset(c.Range.Start), now.offset(c.Range.End)
		now = newText(now.text[:from] + c.Text + now.text[max(from, to):])
	}
	s.set(o, now.text)
}

func (s *server) closed(uri string) {
	if o := s.pages[uri]; o != nil {
		close(o.check)
		delete(s.pages, uri)
		s.notify("textDocument/publishDiagnostics", map[string]any{"uri": uri, "diagnostics": []diagnostic{}})
	}
}

// set replaces the text of a document and starts a check.
func (s *server) set(o *open, now string) {
	path := pathOf(o.uri)
	if path == "" {
		path = o.uri
	}
	o.text, o.page = newText(now), s.Editor.Open(path, []byte(now), o.page)
	s.recheck(o)
}

// recheck queues the newest text for a check, replacing a text that still waits.
func (s *server) recheck(o *open) {
	select {
	case <-o.check:
	default:
	}
	now := *o
	s.memory.checking()
	o.check <- &now
}

// Types of messages that editors show.
const (
	errorMessage = 1 + iota
	warningMessage
	infoMessage
)

func (s *server) showMessage(kind int, text string) {
	s.notify("window/showMessage", map[string]any{"type": kind, "message": text})
}
