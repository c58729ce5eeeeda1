package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/store"
)

// Config is what a server needs.
type Config struct {
	Use     UseCases
	Store   *store.Store
	Version string // of Thresh
	// Contracts are those whose schemas, examples and starters clients may read.
	Contracts []campaign.Contract
}

// Server serves the tools and resources. All its sessions share campaigns and runs.
type Server struct {
	cfg    Config
	mcp    *sdk.Server
	names  []string           // of the tools
	boxes  []campaign.Toolbox // of the contracts
	runs   runs
	ending sync.WaitGroup // announcements of ended runs
}

const instructions = `Thresh tests software: it runs documents that describe tests, groups failures into findings, minimizes them and says how to reproduce them.
run_spec runs a document of any format in the background; run_status (wait_secs) follows it, run_findings lists what it found, explain_finding shows one with its evidence and replay runs it again.
thresh://schemas/FORMAT, thresh://examples/FORMAT and thresh://starters/FORMAT say how documents are written; prompts help to begin.`

// New returns a server.
func New(cfg Config) *Server {
	s := &Server{cfg: cfg}
	says := []string{instructions}
	for _, c := range cfg.Contracts {
		if k, ok := c.(campaign.Toolmaker); ok {
			box := k.Tools(desk{cfg.Use, s})
			s.boxes = append(s.boxes, box)
			says = append(says, box.Instructions)
		}
	}
	s.mcp = sdk.NewServer(&sdk.Implementation{Name: "thresh", Title: "Thresh", Version: cfg.Version}, &sdk.ServerOptions{
		Instructions: strings.Join(says, "\n"), CompletionHandler: s.complete,
		SubscribeHandler:   func(context.Context, *sdk.SubscribeRequest) error { return nil }, // the SDK keeps the subscribers
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
	})
	for _, t := range s.tools() {
		s.names = append(s.names, t.Name)
		s.mcp.AddTool(&sdk.Tool{
			Name: t.Name, Description: t.About, InputSchema: schema(&t), Annotations: &sdk.ToolAnnotations{ReadOnlyHint: t.Reads},
		}, s.handler(t))
	}
	s.mcp.AddReceivingMiddleware(s.unknownTool)
	s.addResources()
	s.addFormats()
	s.addPrompts()
	return s
}

// Serve serves one client until it leaves or ctx ends.
func (s *Server) Serve(ctx context.Context, t sdk.Transport) error { return s.mcp.Run(ctx, t) }

// maxBody is the largest body of a request over HTTP, in bytes: a module of 64 MiB in base64, and
// its frame.
const maxBody = 64<<20/3*4 + 1<<20

// idle is how long an idle session over HTTP is kept.
const idle = 2 * time.Hour

// Handler serves clients over HTTP that have the token.
func (s *Server) Handler(token string) http.Handler {
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.mcp }, &sdk.StreamableHTTPOptions{
		SessionTimeout: idle, MaxRequestBodyBytes: maxBody,
	})
	return guard(token, h)
}

// Close stops all runs and waits until their results are stored.
func (s *Server) Close() {
	all := s.runs.all()
	for _, r := range all {
		r.Stop()
	}
	for _, r := range all {
		<-r.Done()
	}
	s.ending.Wait()
}

// tools returns the tools of the contracts and the tools for all formats.
func (s *Server) tools() []campaign.Tool {
	var all []campaign.Tool
	for _, box := range s.boxes {
		all = append(all, box.Tools...)
	}
	general := append(s.runTools(), s.findingTools()...)
	for i := range general {
		general[i].Mode = s.modeOfCall
	}
	return append(all, general...)
}

// withProgress adapts a function that reports progress to the type of a tool's call.
func withProgress(f func(context.Context, *call) (any, error)) func(context.Context, campaign.ToolCall) (any, error) {
	return func(ctx context.Context, c campaign.ToolCall) (any, error) { return f(ctx, c.(*call)) }
}

// schema returns the JSON Schema of the tool's input.
func schema(t *campaign.Tool) map[string]any {
	props, required := map[string]any{}, []string{}
	for _, p := range t.Params {
		x := map[string]any{"type": p.Kind, "description": p.About}
		if p.Kind == "object" {
			x["additionalProperties"] = map[string]any{"type": []string{"string", "number", "boolean", "array"}}
		}
		props[p.Name] = x
		if p.Required {
			required = append(required, p.Name)
		}
	}
	s := map[string]any{"type": "object", "properties": props}
	if len(required) > 0 {
		s["required"] = required
	}
	if !t.Lenient {
		s["additionalProperties"] = false
	}
	return s
}

// handler decodes a call's arguments and encodes its answer.
func (s *Server) handler(t campaign.Tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		c := &call{req: req}
		if len(req.Params.Arguments) > 0 {
			if err := json.Unmarshal(req.Params.Arguments, &c.args); err != nil && !t.Lenient {
				return failed(fmt.Errorf("the arguments must be an object: %w", err), modeOf(&t, c)), nil
			}
		}
		if !t.Lenient {
			if err := refuse(&t, c.args); err != nil {
				return failed(err, modeOf(&t, c)), nil
			}
		}
		v, err := t.Call(ctx, c)
		if err != nil {
			return failed(err, modeOf(&t, c)), nil
		}
		return answer(v, false), nil
	}
}

// modeOf returns the mode that a call's error states.
func modeOf(t *campaign.Tool, c *call) string {
	if t.Mode == nil {
		return ""
	}
	return t.Mode(c)
}

// refuse returns what is wrong with the names of a call's arguments.
func refuse(t *campaign.Tool, args map[string]json.RawMessage) error {
	var names []string
	for _, p := range t.Params {
		names = append(names, p.Name)
		if _, ok := args[p.Name]; p.Required && !ok {
			return fmt.Errorf("missing required parameter: %s", p.Name)
		}
	}
	for _, name := range sortedKeys(args) {
		if slices.Contains(names, name) {
			continue
		}
		err := fmt.Errorf("%s has no parameter %q", t.Name, name)
		if hint := diag.DidYouMean(name, names); hint != "" {
			err = fmt.Errorf("%w; %s", err, hint)
		}
		return err
	}
	return nil
}

// unknownTool answers a call of an unknown tool with a failed result instead of a protocol error,
// because the model reads a result but may never see the error.
func (s *Server) unknownTool(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if p, ok := req.GetParams().(*sdk.CallToolParamsRaw); ok && method == "tools/call" && !slices.Contains(s.names, p.Name) {
			err := fmt.Errorf("unknown tool: %s", p.Name)
			if hint := diag.DidYouMean(p.Name, s.names); hint != "" {
				err = fmt.Errorf("%w; %s", err, hint)
			}
			return failed(err, ""), nil
		}
		return next(ctx, method, req)
	}
}
