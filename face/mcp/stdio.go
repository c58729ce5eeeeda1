package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// MaxMessage is the largest size of a message on standard input, in bytes.
const MaxMessage = maxBody

// lastAnswers is how long a session continues after its input has ended, to answer open calls. A
// script that pipes calls in waits for the answers; a client that has gone does not.
const lastAnswers = 10 * time.Second

// Stdio speaks over a pair of streams, one message per line.
func Stdio(in io.Reader, out io.Writer) sdk.Transport {
	w := &whole{out: out}
	return stdio{&sdk.IOTransport{Reader: io.NopCloser(&lines{in: bufio.NewReader(in), out: w}), Writer: w, MaxLineLength: MaxMessage + 2}}
}

type stdio struct{ sdk.Transport }

// Connect implements [sdk.Transport].
func (t stdio) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &piped{Connection: c, open: make(map[jsonrpc.ID]bool), idle: make(chan struct{}), closed: make(chan struct{})}, nil
}

// piped is a connection whose input ends only when all calls are answered, because the SDK drops
// open calls at the end of the input.
type piped struct {
	sdk.Connection
	mu     sync.Mutex
	open   map[jsonrpc.ID]bool // calls without an answer
	ended  bool                // the input has ended
	idle   chan struct{}       // closed once the input has ended and all calls are answered
	closed chan struct{}
	once   sync.Once
}

// Read implements [sdk.Connection].
func (p *piped) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := p.Connection.Read(ctx)
	if errors.Is(err, io.EOF) {
		p.settle(func() { p.ended = true })
		grace := time.NewTimer(lastAnswers)
		defer grace.Stop()
		select {
		case <-p.idle:
		case <-p.closed:
		case <-ctx.Done():
		case <-grace.C:
		}
		return nil, err
	}
	if r, ok := m.(*jsonrpc.Request); ok && err == nil {
		p.settle(func() {
			if r.IsCall() {
				p.open[r.ID] = true
			} else if r.Method == "notifications/cancelled" {
				delete(p.open, cancelled(r.Params)) // it may never be answered
			}
		})
	}
	return m, err
}

// cancelled returns the id of the call that a client cancels.
func cancelled(params json.RawMessage) jsonrpc.ID {
	var v struct {
		ID any `json:"requestId"`
	}
	if json.Unmarshal(params, &v) != nil {
		return jsonrpc.ID{}
	}
	id, err := jsonrpc.MakeID(v.ID)
	if err != nil {
		return jsonrpc.ID{}
	}
	return id
}

// Write implements [sdk.Connection].
func (p *piped) Write(ctx context.Context, m jsonrpc.Message) error {
	err := p.Connection.Write(ctx, m)
	if r, ok := m.(*jsonrpc.Response); ok {
		p.settle(func() { delete(p.open, r.ID) })
	}
	return err
}

// settle changes the open calls, and closes idle when nothing is left to answer.
func (p *piped) settle(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	if !p.ended || len(p.open) > 0 {
		return
	}
	select {
	case <-p.idle:
	default:
		close(p.idle)
	}
}

// Close implements [sdk.Connection].
func (p *piped) Close() error {
	p.once.Do(func() { close(p.closed) })
	return p.Connection.Close()
}
