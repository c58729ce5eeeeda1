package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/system/program"
)

// connectLimit is the time limit for starting an MCP server, negotiating a protocol version with it
// and listing its tools.
const connectLimit = 30 * time.Second

// sessionVersion is the newest version of the protocol that starts with initialize.
const sessionVersion = "2025-11-25"

// server is an MCP server as an agent: a call calls one of its tools.
type server struct {
	lead
	extra     []string
	arguments agentcall.Template
	child     *program.Child // the server's process; nil: reached by URL
	session   *mcp.ClientSession
	meter     *meter
	transport *http.Transport // for a server with a URL
	tools     []string
	schemas   []*mcp.Tool
	ended     *program.Child // the last child that was dropped
	died      *program.Child // the last program known to have ended
	starts    int
	stateless bool // the server refused initialize
}

func openMCP(ctx context.Context, l lead, extra []string) (agentcall.Agent, error) {
	p := l.plan.MCP
	text := p.Arguments
	text = cmp.Or(text, defaultTemplate)
	s := &server{lead: l, extra: extra, arguments: agentcall.ParseTemplate(text)}
	if p.URL == "" {
		s.gone = s.leftAlone
	}
	if p.Tool != "" && s.arguments.Form() != agentcall.FormJSON {
		return nil, errors.New("the arguments of the MCP tool are no JSON object")
	}
	if err := s.connect(ctx); err != nil {
		return nil, errors.Join(err, s.drop())
	}
	if p.Tool != "" && !slices.Contains(s.tools, p.Tool) {
		return nil, errors.Join(diag.Environment("the MCP server has no tool %s, it has %s", p.Tool, named(s.tools)), s.drop())
	}
	return s, nil
}

func named(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// connect starts the server if it is ours, and opens a session.
func (s *server) connect(ctx context.Context) (err error) {
	p := s.plan.MCP
	limited, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	var transport mcp.Transport
	s.meter = &meter{most: s.plan.MaxReply} // reads of an earlier session must not count for this one
	name := p.URL
	if p.URL == "" {
		name = strings.Join(p.Argv, " ")
		if s.child, err = program.Start(program.Spec{Noun: "agent", Argv: p.Argv, Dir: p.Dir, Env: append(slices.Clone(p.Env), s.extra...), Talks: true}); err != nil {
			return err
		}
		transport = &mcp.IOTransport{Reader: s.meter.lines(s.child.Stdout), Writer: s.child.Stdin, MaxLineLength: -1}
	} else {
		if s.service != nil {
			if _, err := s.service.Ensure(ctx); err != nil {
				return err
			}
		}
		if s.transport, err = newProxyTransport(p.Via); err != nil {
			return err
		}
		transport = &mcp.StreamableClientTransport{Endpoint: s.address(p.URL), MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: -1,
			HTTPClient: &http.Client{Transport: &metered{s.transport, s.meter, p.Headers}}}
	}
	s.starts++
	client := mcp.NewClient(&mcp.Implementation{Name: "thresh", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	// The newest version starts with server/discover, which many servers do not answer or exit at;
	// all servers except those of that version alone support initialize.
	options := &mcp.ClientSessionOptions{ProtocolVersion: sessionVersion}
	if s.stateless {
		options = nil
	}
	s.session, err = client.Connect(limited, transport, options)
	if refused := (*jsonrpc.Error)(nil); !s.stateless && errors.As(err, &refused) {
		if err := s.drop(); err != nil {
			return err
		}
		s.stateless = true
		return s.connect(ctx)
	}
	if err == nil {
		s.tools, s.schemas, err = listTools(limited, s.session)
	}
	if err == nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	switch line := s.meter.strange.Load(); {
	case limited.Err() != nil:
		err = fmt.Errorf("no answer within %s", connectLimit)
	case line != nil:
		err = fmt.Errorf("it printed a line that is not a message of MCP: %q", *line)
	case s.child != nil && s.child.EndsWithin(limited, grace):
		err = fmt.Errorf("it ended before it answered: %s", s.child.End())
	}
	wrote := ""
	if s.child != nil {
		wrote = s.child.Output.Last()
	}
	return diag.Environment("connect to the MCP server %s: %w%s", name, program.Plain(err), wrote)
}

func listTools(ctx context.Context, session *mcp.ClientSession) (names []string, schemas []*mcp.Tool, err error) {
	if c := session.InitializeResult(); c == nil || c.Capabilities == nil || c.Capabilities.Tools == nil {
		return nil, nil, errors.New("it has no tools")
	}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, nil, fmt.Errorf("list its tools: %w", err)
		}
		names, schemas = append(names, tool.Name), append(schemas, tool)
	}
	slices.Sort(names)
	return names, schemas, nil
}

// drop ends the session, and the server if it is ours.
func (s *server) drop() error {
	if s.child != nil {
		s.child.Stop()
	}
	if s.session != nil {
		s.session.Close() // the other end may already be gone
	}
	if s.transport != nil {
		s.transport.CloseIdleConnections()
	}
	s.ended, s.child, s.session, s.transport = s.child, nil, nil, nil
	return nil
}

// Call implements agentcall.Agent.
func (s *server) Call(ctx context.Context, c agentcall.Call) (agentcall.Reply, error) {
	if err := s.check(&c); err != nil {
		return agentcall.Reply{}, err
	}
	params, problem, err := s.params(&c)
	if err != nil {
		return agentcall.Reply{}, err
	}
	r := agentcall.Reply{End: agentcall.Answered, Attempts: 1}
	if problem != "" {
		return fail(r, agentcall.Malformed, "%s", problem), nil
	}
	done, err := s.shared.acquire(ctx)
	if err != nil {
		return agentcall.Reply{}, err
	}
	defer done()
	if s.endedBefore() || s.child != nil && s.child == s.died {
		if err := s.drop(); err != nil {
			return agentcall.Reply{}, err
		}
	}
	if s.session == nil {
		if err := s.connect(ctx); err != nil {
			if ctx.Err() == nil {
				err = fmt.Errorf("%w: %w", agentcall.ErrGone, err)
			}
			return agentcall.Reply{}, errors.Join(err, s.drop())
		}
		r.Fresh = true
	}
	args, _ := params.Arguments.(json.RawMessage)
	if !slices.Contains(s.tools, params.Name) {
		return fail(r, agentcall.NoTool, "the server has no tool %s, it has %s", params.Name, named(s.tools)), nil
	}
	s.meter.begin()
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	result, err := s.session.CallTool(limited, params)
	r.Latency, r.Size = time.Since(began), s.meter.size()
	s.meter.calling.Store(false)
	if ctx.Err() != nil {
		return agentcall.Reply{}, ctx.Err()
	}
	call := agentcall.ToolCall{Tool: params.Name, Args: args}
	switch hollow := s.meter.hollow.Load(); {
	case hollow != nil:
		r = fail(r, agentcall.Malformed, "the result of the tool has no list %q: %s", "content", *hollow)
	case err != nil:
		r = s.failed(limited, r, err, c.Timeout)
	default:
		r = mcpReply(r, result)
	}
	if call.Error = r.Error; r.OK() {
		call.Result, err = json.Marshal(r.Text)
		if err != nil {
			return agentcall.Reply{}, fmt.Errorf("write down what the tool gave: %w", err)
		}
	}
	r.Tools = []agentcall.ToolCall{call}
	switch {
	case s.meter.strange.Load() != nil: // what it printed since may be about its closed streams
	case s.child != nil:
		r.Printed = s.child.Output.Take()
	case s.service != nil:
		r.Printed = s.service.Printed()
	}
	var died *program.Child
	if r.End == agentcall.Died {
		died = s.died
	}
	s.called(&r, died)
	spoilt := s.transport != nil && r.End == agentcall.Malformed // a malformed answer ends a session over HTTP
	if spoilt || r.End == agentcall.TimedOut || r.End == agentcall.Cut || r.End == agentcall.Unreachable || r.End == agentcall.TooLarge || r.End == agentcall.Died || s.meter.strange.Load() != nil {
		r.Fresh = true // its current work must not affect the next call
		return r, s.drop()
	}
	return r, nil
}

// params returns the tool and arguments of a call; problem says why a prompt does not name them.
func (s *server) params(c *agentcall.Call) (params *mcp.CallToolParams, problem string, err error) {
	if tool := s.plan.MCP.Tool; tool != "" {
		text := s.arguments.JSON(agentcall.Values{Prompt: c.Prompt, Session: c.Session, Fields: agentcall.Fields(c.Prompt)})
		if !json.Valid([]byte(text)) {
			return nil, "", errors.New("the arguments of the MCP tool are not JSON")
		}
		return &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(text)}, "", nil
	}
	root, err := agentcall.ParseReply([]byte(c.Prompt))
	if err != nil || root.Kind != jsontree.Object {
		return nil, `the prompt is not a call of a tool: {"tool": NAME, "arguments": {...}} is expected`, nil
	}
	name, args := root.Get("tool"), root.Get("arguments")
	if name == nil || name.Kind != jsontree.String {
		return nil, "the prompt names no tool", nil
	}
	params = &mcp.CallToolParams{Name: name.Text, Arguments: json.RawMessage("{}")}
	if args != nil {
		if params.Arguments = agentcall.JSON(args); args.Kind != jsontree.Object {
			return nil, "the arguments of the tool are not an object", nil
		}
	}
	return params, "", nil
}

// failed classifies a call without a result.
func (s *server) failed(ctx context.Context, r agentcall.Reply, err error, limit time.Duration) agentcall.Reply {
	var wire *jsonrpc.Error
	answered := errors.As(err, &wire) && wire.Code != rejected && !errors.Is(err, mcp.ErrConnectionClosed)
	switch {
	case s.meter.over():
		return fail(r, agentcall.TooLarge, "the reply is larger than %d bytes", s.meter.most)
	case ctx.Err() != nil:
		return fail(r, agentcall.TimedOut, "no whole reply within %s", limit)
	case s.meter.strange.Load() != nil: // this has ended the session
		return fail(r, agentcall.Malformed, "the server printed a line that is not a message of MCP: %q", *s.meter.strange.Load())
	case answered:
		return fail(r, agentcall.Reported, "MCP error %d: %s", wire.Code, wire.Message)
	case s.child != nil && s.child.EndsWithin(ctx, grace):
		s.died = s.child
		return fail(r, agentcall.Died, "the server ended during the call: %s", s.child.End())
	}
	if s.service != nil {
		if c := s.service.Died(ctx); c != nil {
			s.died = c
			return fail(r, agentcall.Died, "the agent's program ended during the call: %s", c.End())
		}
	}
	if s.transport != nil && !s.meter.sent.Load() {
		return fail(r, agentcall.Unreachable, "the server ended before the call")
	}
	if wire != nil || errors.Is(err, mcp.ErrConnectionClosed) || s.meter.broken.Load() {
		return fail(r, agentcall.Cut, "the connection ended before the reply did")
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fail(r, agentcall.Malformed, "the result of the tool is malformed: %s is of type %s", wrong.Field, wrong.Value)
	}
	f := failure(ctx, err, limit)
	if f.End == agentcall.Unreachable && (s.child != nil || s.meter.reached.Load()) {
		f.End = agentcall.Malformed // the server was reached, as a pipe always is, but its answer is not MCP
	}
	return fail(r, f.End, "%s", f.Error)
}

// leftAlone returns the child of a server without a service if it has ended by itself; it does so
// once.
func (s *server) leftAlone() *program.Child {
	if s.child == nil || s.child == s.died || s.child.Failed() == nil {
		return nil
	}
	s.died = s.child
	return s.died
}

// rejected is the code of errors of the SDK's own transport.
const rejected = -32005

// mcpReply converts a tool's result to a reply.
func mcpReply(r agentcall.Reply, result *mcp.CallToolResult) agentcall.Reply {
	var parts []string
	for _, c := range result.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			parts = append(parts, c.Text)
		case *mcp.ImageContent:
			parts = append(parts, fmt.Sprintf("[image: %s, %d bytes]", c.MIMEType, len(c.Data)))
		case *mcp.AudioContent:
			parts = append(parts, fmt.Sprintf("[audio: %s, %d bytes]", c.MIMEType, len(c.Data)))
		case *mcp.ResourceLink:
			parts = append(parts, "[resource: "+c.URI+"]")
		case *mcp.EmbeddedResource:
			if c.Resource != nil {
				parts = append(parts, c.Resource.Text)
			}
		}
	}
	r.Text = strings.ToValidUTF8(strings.Join(parts, "\n"), "�")
	if result.StructuredContent != nil {
		if value, err := json.Marshal(result.StructuredContent); err == nil { // it was JSON before
			r.Value = value
		}
	} else if json.Valid([]byte(r.Text)) {
		r.Value = json.RawMessage(r.Text)
	}
	if result.IsError {
		return fail(r, agentcall.Reported, "the tool failed: %s", r.Text)
	}
	return r
}

// Reset implements agentcall.Agent.
func (s *server) Reset(ctx context.Context, limit time.Duration) error {
	p := &s.plan.Reset
	if p.URL != "" {
		t := newTransport()
		defer t.CloseIdleConnections()
		return postReset(ctx, t, s.address(s.plan.MCP.URL), s.address(p.URL), limit)
	}
	if !p.Renew {
		return nil
	}
	s.endedBefore()
	if err := s.drop(); err != nil {
		return err
	}
	if s.service != nil {
		if err := s.service.Renew(ctx); err != nil {
			return err
		}
	}
	return s.connect(ctx)
}

// Forgets implements agentcall.Agent.
func (s *server) Forgets() bool { return s.plan.Reset.URL != "" || s.plan.Reset.Renew }

// Notes implements agentcall.Agent.
func (s *server) Notes() []string {
	notes := s.notes()
	if s.starts > 1 {
		notes = append(notes, fmt.Sprintf("the MCP server was connected to %d times", s.starts))
	}
	return notes
}

// Close implements agentcall.Agent.
func (s *server) Close() error { return errors.Join(s.drop(), s.lead.close()) }
