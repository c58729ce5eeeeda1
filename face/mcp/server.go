package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
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

// Server serves the tools and resources; all its sessions share campaigns and
// runs.
type Server struct {
	cfg       Config
	mcp       *sdk.Server
	names     []string // of the tools
	campaigns campaigns
	runs      runs
	ending    sync.WaitGroup // tells of runs that ended
}

const instructions = `Thresh tests software: it runs documents that say how, groups what fails into findings, makes them small and says how to see them again.
run_spec runs a document of any format in the background; run_status (wait_secs) follows it, run_findings lists what it found, explain_finding shows one with its evidence and replay runs it again.
thresh://schemas/FORMAT, thresh://examples/FORMAT and thresh://starters/FORMAT say how documents are written; the prompt write-a-model begins a model.
To explore a FresnelFir model: fresnel_fir_compile (ir_json, or model in the language), load_dut for its WebAssembly module unless bindings.entry names one, fresnel_fir_fuzz_start, then fresnel_fir_fuzz_status and fresnel_fir_findings with since_seqno set to the last next_seqno.
An answer with "mode":"model_only" says nothing of a module: none was loaded.`

// New makes a server.
func New(cfg Config) *Server {
	s := &Server{cfg: cfg}
	s.campaigns.use, s.runs.use = cfg.Use, cfg.Use
	s.mcp = sdk.NewServer(&sdk.Implementation{Name: "thresh", Title: "Thresh", Version: cfg.Version}, &sdk.ServerOptions{
		Instructions: instructions, CompletionHandler: s.complete,
		SubscribeHandler:   func(context.Context, *sdk.SubscribeRequest) error { return nil }, // the SDK keeps who did
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
	})
	for _, t := range slices.Concat(s.modelTools(), s.runTools(), s.findingTools()) {
		s.names = append(s.names, t.name)
		s.mcp.AddTool(&sdk.Tool{
			Name: t.name, Description: t.about, InputSchema: t.schema(), Annotations: &sdk.ToolAnnotations{ReadOnlyHint: t.reads},
		}, s.handler(t))
	}
	s.mcp.AddReceivingMiddleware(s.unknownTool)
	s.addResources()
	s.addFormats()
	s.addPrompts()
	return s
}

// Serve speaks with one client until it leaves or ctx ends.
func (s *Server) Serve(ctx context.Context, t sdk.Transport) error { return s.mcp.Run(ctx, t) }

// maxBody bounds a request over HTTP: a module in base64, and its frame.
const maxBody = maxModule/3*4 + 1<<20

// idle is how long a session over HTTP is kept that asks for nothing.
const idle = 2 * time.Hour

// Handler speaks with clients over HTTP that know the token.
func (s *Server) Handler(token string) http.Handler {
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.mcp }, &sdk.StreamableHTTPOptions{
		SessionTimeout: idle, MaxRequestBodyBytes: maxBody,
	})
	return guard(token, h)
}

// Close stops all runs and waits until what they did is stored.
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

// tool is one tool.
type tool struct {
	name   string
	about  string
	params []param
	open   bool // takes parameters that it does not know, and any form of those that it does
	reads  bool // changes nothing
	call   func(ctx context.Context, c *call) (any, error)
}

// param is a parameter of a tool.
type param struct {
	name     string
	kind     string // of JSON Schema: "string", "integer", "boolean" or "object"
	about    string
	required bool
}

// schema is the JSON Schema of the tool's input.
func (t *tool) schema() map[string]any {
	props, required := map[string]any{}, []string{}
	for _, p := range t.params {
		x := map[string]any{"type": p.kind, "description": p.about}
		if p.kind == "object" {
			x["additionalProperties"] = map[string]any{"type": []string{"string", "number", "boolean", "array"}}
		}
		props[p.name] = x
		if p.required {
			required = append(required, p.name)
		}
	}
	s := map[string]any{"type": "object", "properties": props}
	if len(required) > 0 {
		s["required"] = required
	}
	if !t.open {
		s["additionalProperties"] = false
	}
	return s
}

// handler decodes a call's arguments and encodes its answer.
func (s *Server) handler(t tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		c := &call{req: req}
		if len(req.Params.Arguments) > 0 {
			if err := json.Unmarshal(req.Params.Arguments, &c.args); err != nil && !t.open {
				return failed(fmt.Errorf("the arguments must be an object: %w", err), s.modeOfCall(&t, c)), nil
			}
		}
		if !t.open {
			if err := t.refuse(c.args); err != nil {
				return failed(err, s.modeOfCall(&t, c)), nil
			}
		}
		v, err := t.call(ctx, c)
		if err != nil {
			return failed(err, s.modeOfCall(&t, c)), nil
		}
		return answer(v, false), nil
	}
}

// refuse says what is wrong with the names of a call's arguments.
func (t *tool) refuse(args map[string]json.RawMessage) error {
	var names []string
	for _, p := range t.params {
		names = append(names, p.name)
		if _, ok := args[p.name]; p.required && !ok {
			return fmt.Errorf("missing required parameter: %s", p.name)
		}
	}
	for _, name := range sortedKeys(args) {
		if slices.Contains(names, name) {
			continue
		}
		err := fmt.Errorf("%s has no parameter %q", t.name, name)
		if hint := diag.DidYouMean(name, names); hint != "" {
			err = fmt.Errorf("%w; %s", err, hint)
		}
		return err
	}
	return nil
}

// unknownTool answers a call of a tool that there is not as users of the eight
// tools know it: by an answer that says so, not by an error of the protocol.
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
