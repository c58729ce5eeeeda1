package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Error codes of JSON-RPC for invalid messages.
const (
	codeParse   = -32700
	codeInvalid = -32600
)

// noBatches is the first version of the protocol without batches.
const noBatches = "2025-06-18"

// lines passes valid messages of a client on and answers the other lines itself. The SDK ends the
// session at an unreadable message, but an agent that once sends half a message should lose no more
// than that message.
type lines struct {
	in      *bufio.Reader
	out     io.Writer
	rest    []byte // of the current line
	version string // requested by the client
}

// Read implements [io.Reader].
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.next()
		if len(line) > 0 {
			if bad := l.check(line); bad != nil {
				if err := l.refuse(line, bad); err != nil {
					return 0, err
				}
			} else {
				l.rest = append(line, '\n')
				break
			}
		}
		if err != nil {
			return 0, err // the end of the input is passed on
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// next returns the next line without its end. Of a line that is too long it keeps just enough to
// show that.
func (l *lines) next() ([]byte, error) {
	var line []byte
	for {
		part, err := l.in.ReadSlice('\n')
		if len(line) <= MaxMessage {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(line), err
		}
	}
}

// check returns what is wrong with a line; nil if it is a message, or a batch in a version that has
// batches.
func (l *lines) check(line []byte) *jsonrpc.Error {
	invalid := func(format string, args ...any) *jsonrpc.Error {
		return &jsonrpc.Error{Code: codeInvalid, Message: "Invalid Request: " + fmt.Sprintf(format, args...)}
	}
	if len(line) > MaxMessage {
		return invalid("a message has at most %d bytes", MaxMessage)
	}
	if !json.Valid(line) {
		return &jsonrpc.Error{Code: codeParse, Message: "Parse error: a line must hold one JSON value"}
	}
	if line[0] == '[' {
		var batch []json.RawMessage
		if json.Unmarshal(line, &batch) != nil || len(batch) == 0 || l.version >= noBatches {
			return invalid("batches of messages are not supported")
		}
		ids := map[jsonrpc.ID]bool{}
		for _, x := range batch {
			m, err := jsonrpc.DecodeMessage(x)
			if err != nil {
				return invalid("%v", err)
			}
			if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
				if ids[r.ID] {
					return invalid("an id is used twice in a batch")
				}
				ids[r.ID] = true
			}
		}
		return nil
	}
	m, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		return invalid("%v", err)
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.Method == "initialize" {
		var asked struct {
			Version string `json:"protocolVersion"`
		}
		if json.Unmarshal(r.Params, &asked) == nil {
			l.version = asked.Version
		}
	}
	return nil
}

// refuse answers an invalid line, with its id if it has one.
func (l *lines) refuse(line []byte, why *jsonrpc.Error) error {
	var of struct {
		ID json.RawMessage `json:"id"`
	}
	if len(line) > MaxMessage || json.Unmarshal(line, &of) != nil || len(of.ID) == 0 || !bytes.ContainsAny(of.ID[:1], `"-0123456789`) {
		of.ID = json.RawMessage("null")
	}
	answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": of.ID, "error": map[string]any{"code": why.Code, "message": why.Message}})
	if err != nil {
		return fmt.Errorf("answering what is not a message: %w", err)
	}
	if _, err := l.out.Write(append(answer, '\n')); err != nil {
		return fmt.Errorf("answering what is not a message: %w", err)
	}
	return nil
}

// whole writes each message in one piece, whichever side it comes from.
type whole struct {
	mu  sync.Mutex
	out io.Writer
}

// Write implements [io.Writer].
func (w *whole) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

// Close implements [io.Closer]. It does nothing, because the session does not own the stream.
func (w *whole) Close() error { return nil }
