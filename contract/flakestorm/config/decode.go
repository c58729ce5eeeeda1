package config

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// Options say how a document is read.
type Options struct {
	// Getenv looks up an environment variable for $NAME and ${NAME}.
	Getenv func(name string) (string, bool)
	// Check says that nothing will be run. Things that existing tools accept but can do nothing
	// with are then errors, not warnings.
	Check bool
	// Read reads a file that the document names; nil: nothing will be run, and no file is read.
	// Seed decides which rows of datasets are sampled.
	Read func(name string) ([]byte, error)
	Seed *int64 // nil: the document's
	// Phases are the phases to run, in place of the document's.
	Phases []string
}

// Decode reads a document. The configuration is usable if the list contains no error.
func Decode(file string, text []byte, o Options) (*Config, diag.List) {
	d := &decoder{file: file, opt: o}
	doc, err := doctree.Parse(text, doctree.Options{})
	if err != nil {
		return nil, syntax(file, err)
	}
	d.doc = doc
	if doc.Root.Kind != doctree.Map {
		d.fail(doc.Root.Pos, "type", "", "must be a mapping with the sections agent and golden_prompts, got %s", describeValue(&doc.Root))
		return nil, d.list
	}
	for _, r := range doc.Duplicates {
		d.warn(r.Repeat, "duplicate-key", r.Key, "", "the key is given twice, first on line %d; the last one counts", r.First.Line)
	}
	c := d.document(&doc.Root)
	d.list.Sort()
	return c, d.list
}

func syntax(file string, err error) diag.List {
	e := err.(*doctree.Error) // Parse returns no other type
	return diag.List{{Code: "flakestorm.syntax", Pos: e.Pos.In(file), Message: e.Message(), Source: e.Source}}
}

func (d *decoder) document(root *doctree.Node) *Config {
	c := &Config{}
	s := d.section(root, "", format().document)
	c.Version = s.str("version", "1.0")
	if n := s.get("agent"); n != nil {
		c.Agent = d.agent(n, "agent")
	}
	c.Model = d.model(s.get("model"), "model")
	c.Mutations = d.mutations(s.get("mutations"), "mutations")
	c.Advanced = d.advanced(s.get("advanced"), "advanced")
	c.Seed = 42 // arbitrary, but fixed: equal documents give equal runs
	for _, seed := range []*int64{c.Advanced.Seed, d.opt.Seed} {
		if seed != nil {
			c.Seed = *seed
		}
	}
	d.seed = c.Seed
	d.prompts(s, c)
	unnamed := make(map[string]int) // by type
	s.items("invariants", false, func(n *doctree.Node, path string) {
		v := d.invariant(n, path, false)
		if v.ID == "" {
			if unnamed[v.Type]++; unnamed[v.Type] > 1 { // its findings must not merge with those of another invariant
				v.ID = fmt.Sprintf("%s %d", v.Type, unnamed[v.Type])
			}
		}
		c.Invariants = append(c.Invariants, v)
	})
	c.Output = d.output(s.get("output"), "output")
	if n := s.opt("chaos"); n != nil {
		x := d.section(n, "chaos", format().chaos)
		chaos := d.chaos(x, true)
		c.Chaos = &chaos
	}
	if n := s.opt("contract"); n != nil {
		c.Contract = d.contract(n, "contract")
	}
	s.items("chaos_matrix", true, func(n *doctree.Node, path string) { c.ChaosMatrix = append(c.ChaosMatrix, d.scenario(n, path)) })
	if n := s.opt("replays"); n != nil {
		c.Replays = d.replays(n, "replays")
	}
	c.Scoring = d.scoring(s.opt("scoring"), "scoring")
	if n := s.opt("judge"); n != nil {
		x := d.section(n, "judge", format().endpoint)
		e := d.endpoint(x)
		c.Judge = &e
	}
	c.Similarity = d.similarity(s.opt("similarity"), "similarity")
	c.ChecksOff = d.checks(s)
	c.Effects = d.effects(s)
	d.classified(c)
	if n := s.opt("phases"); n != nil {
		c.PhasesAt = n.Pos
	}
	s.items("phases", true, func(n *doctree.Node, path string) {
		v, ok := d.str(n, path)
		if ok && !slices.Contains(PhaseNames(), v) {
			d.unknown(n, "unknown-word", path, v, PhaseNames())
		}
		c.Phases = append(c.Phases, v)
	})
	d.together(s, c)
	return c
}

// judgedByContract reports whether only phases are run whose cases are judged by the contract's own
// invariants.
func (d *decoder) judgedByContract(c *Config) bool {
	phases := d.opt.Phases
	if len(phases) == 0 {
		phases = c.Phases
	}
	return c.Contract != nil && len(c.Contract.Invariants) > 0 && len(phases) > 0 &&
		!slices.Contains(phases, "mutation") && !slices.Contains(phases, "chaos")
}

// together checks how sections fit together.
func (d *decoder) together(s *section, c *Config) {
	if n := s.n.Get("invariants"); len(c.Invariants) == 0 && !expects(c) && (n == nil || n.Kind == doctree.Seq) {
		at := s.pos()
		if n != nil {
			at = n.Pos
		}
		if len(c.ChecksOff) == len(CheckNames()) && !d.judgedByContract(c) {
			d.report(diag.Error, at, "empty", "invariants", "output_not_empty needs no settings", "must hold at least one invariant, as the built-in checks are off")
		} else if c.Contract == nil {
			d.warn(at, "empty", "invariants", "output_not_empty needs no settings", "there is no invariant: only the built-in checks judge the agent")
		}
	}
	d.sampled(c)
	judged := func(list []Invariant) {
		for _, v := range list {
			if v.Type == "llm_judge" && c.Judge == nil {
				d.report(diag.Error, v.At, "no-judge", v.Path, "add a section judge with base_url and name", "llm_judge needs a model as judge, and the document names none")
			}
		}
	}
	judged(c.Invariants)
	for i := range c.Prompts {
		judged(c.Prompts[i].Expect)
		for _, t := range c.Prompts[i].Turns {
			judged(t.Expect)
		}
	}
	if c.Contract != nil {
		judged(c.Contract.Invariants)
	}
}

func (d *decoder) agent(n *doctree.Node, path string) Agent {
	shape := *format().agent
	if described(n) {
		shape.Tag = "" // a system file says what type it is
	}
	s := d.section(n, path, &shape)
	a := Agent{At: n.Pos, Type: HTTP}
	a.Type = s.word("type", HTTP)
	a.Endpoint = s.expanded("endpoint", s.str("endpoint", ""))
	a.Method = strings.ToUpper(s.str("method", "POST"))
	methods := []string{"GET", "POST", "PUT", "PATCH", "DELETE"}
	if !slices.Contains(methods, a.Method) {
		d.unknown(s.n.Get("method"), "unknown-word", s.at("method"), a.Method, methods)
	}
	if t := s.opt("request_template"); t != nil {
		if v, ok := d.str(t, s.at("request_template")); ok {
			a.Template = &v
		}
	}
	a.ResponsePath = s.text("response_path")
	a.Query = s.expandedPairs("query_params")
	a.ParseStructured = s.flag("parse_structured_input", true)
	a.Timeout = d.timeout(s)
	a.Headers = s.expandedPairs("headers")
	a.ResetEndpoint = s.text("reset_endpoint")
	a.ResetFunction = s.text("reset_function")
	d.readExtensions(s, &a)
	return a
}

// timeout returns the timeout, which is in milliseconds. Published documents write seconds, such as
// 30; as milliseconds, this would be refused, because the format allows nothing below 1000.
func (d *decoder) timeout(s *section) time.Duration {
	const least, most = 1000, 300_000
	if n := s.get("timeout"); n != nil {
		if v, ok := looseNumber(n); ok && n.Kind != doctree.Bool && v >= 1 && v <= most/1000 && v == math.Trunc(v) {
			d.report(diag.Note, n.Pos, "seconds", s.at("timeout"), fmt.Sprintf("write %g", v*1000), "must be in milliseconds, from %d to %d; %g is read as seconds", least, most, v)
			return time.Duration(v) * time.Second
		}
	}
	return time.Duration(s.integer("timeout", 30000)) * time.Millisecond
}

// readExtensions reads the keys that Thresh adds to the agent.
func (d *decoder) readExtensions(s *section, a *Agent) {
	if n := s.opt("command"); n != nil {
		if n.Kind == doctree.String {
			var closed bool
			if a.Argv, closed = words(n.Text); !closed {
				d.report(diag.Error, n.Pos, "syntax", s.at("command"), "a list needs no quotes: [python3, agent.py]", "a quote is not closed")
			}
		} else {
			a.Argv = d.texts(n, s.at("command"))
		}
		if len(a.Argv) == 0 && (n.Kind == doctree.String || n.Kind == doctree.Seq) {
			d.fail(n.Pos, "empty", s.at("command"), "must name a program")
		}
	}
	a.Dir = s.text("dir")
	if n := s.opt("env"); n != nil {
		a.Env = s.expandedPairs("env")
	}
	a.Ready = s.text("ready")
	a.ReadyTimeout = time.Duration(s.count("ready_timeout", 30000)) * time.Millisecond
	a.Model, a.System = s.text("model"), s.text("system")
	a.APIKey = d.apiKey(s, false)
	if n := s.opt("tools"); n != nil {
		a.Tools = d.texts(n, s.at("tools"))
	}
	a.Registry, a.Tool = s.text("tool_registry"), s.text("tool")
	a.Interpreter = s.text("python")
	a.Isolate = s.opt("isolate") != nil && s.flag("isolate", false)
	if s.opt("tool_gateways") != nil {
		a.Gateways = s.expandedPairs("tool_gateways")
	}
	a.LLMGateway = s.expanded("llm_gateway", s.text("llm_gateway"))
	if s.n == nil {
		return
	}
	if a.System != "" && described(s.n) {
		a.Type, a.SystemFile, a.System = System, a.System, ""
		for i := range s.n.Members() {
			if m := &s.n.Members()[i]; slices.Contains(describedElsewhere, m.Key.Text) {
				d.report(diag.Error, m.Key.Pos, "other-kind", s.at(m.Key.Text), "say it in "+a.SystemFile, "belongs to an agent that the document describes; a system file describes this one")
			}
		}
		return
	}
	d.checkAgentKeys(s, a)
}

// described reports whether a system file says how to reach the agent.
func described(n *doctree.Node) bool {
	return n.Get("system") != nil && n.Get("type") == nil && n.Get("endpoint") == nil && n.Get("command") == nil
}

// describedElsewhere lists the keys for which a system file has words of its own.
var describedElsewhere = []string{"method", "request_template", "response_path", "query_params", "parse_structured_input", "headers", "reset_endpoint",
	"reset_function", "dir", "env", "ready", "ready_timeout", "model", "api_key", "tools", "tool_registry", "tool", "python", "isolate", "tool_gateways", "llm_gateway"}

// checkAgentKeys checks the keys of an agent against its type.
func (d *decoder) checkAgentKeys(s *section, a *Agent) {
	python := a.Type == Python || a.Type == LangChain
	switch {
	case a.Type == Command || a.Type == MCP && a.Endpoint == "":
		if s.n.Get("command") == nil {
			d.fail(s.pos(), "missing-key", s.at("command"), "must be given for type %s", a.Type)
		}
	case a.Endpoint == "" && s.n.Get("endpoint").IsNull():
		s.missing("endpoint")
	case a.Endpoint == "":
		d.fail(s.n.Get("endpoint").Pos, "empty", s.at("endpoint"), "must not be empty")
	case python && !strings.Contains(a.Endpoint, ":"):
		d.report(diag.Error, s.n.Get("endpoint").Pos, "endpoint", s.at("endpoint"), "such as my_agent:run", "must be module:attribute for type %s, got %q", a.Type, a.Endpoint)
	case !python && !strings.HasPrefix(a.Endpoint, "http://") && !strings.HasPrefix(a.Endpoint, "https://"):
		hint := "such as http://localhost:8000/chat"
		if a.Type == MCP {
			hint = "leave it out if the server talks on standard input and output"
		}
		d.report(diag.Error, s.n.Get("endpoint").Pos, "endpoint", s.at("endpoint"), hint, "must be an http or https address for type %s, got %q", a.Type, a.Endpoint)
	}
	if a.ResetFunction != "" && !strings.Contains(a.ResetFunction, ":") {
		d.report(diag.Error, s.n.Get("reset_function").Pos, "endpoint", s.at("reset_function"), "such as my_agent:reset_state", "must be module:function, got %q", a.ResetFunction)
	}
	if u := a.ResetEndpoint; u != "" && !strings.HasPrefix(u, "http://") && !strings.HasPrefix(u, "https://") && !(strings.HasPrefix(u, "/") && strings.HasPrefix(a.Endpoint, "http")) {
		d.report(diag.Error, s.n.Get("reset_endpoint").Pos, "endpoint", s.at("reset_endpoint"), "a path such as /reset is one on the agent's host", "must be an http or https address, got %q", u)
	}
	if n := s.n.Get("isolate"); n != nil && !python && len(a.Argv) == 0 {
		d.warn(n.Pos, "no-effect", s.at("isolate"), "", "is for an agent that Thresh keeps running between cases")
	}
	if n := s.n.Get("system"); n != nil && a.Type != OpenAI {
		d.fail(n.Pos, "unknown-key", s.at("system"), "is not a key of type %s; it belongs to openai, and to an agent that a system file describes, without type, endpoint and command", a.Type)
	}
	d.gateways(s, a)
	if len(a.Argv) == 0 {
		for _, key := range []string{"dir", "env", "ready", "tool_gateways", "llm_gateway"} {
			if n := s.n.Get(key); n != nil && !python {
				d.warn(n.Pos, "no-effect", s.at(key), "", "is for an agent that Thresh starts; add agent.command")
			}
		}
	}
}

// gatewayMark matches the placeholder for the address of a gateway.
var gatewayMark = regexp.MustCompile(`\{gateway:([^{}]*)\}`)

// gateways checks that the agent receives the address of every gateway.
func (d *decoder) gateways(s *section, a *Agent) {
	var names []string
	for _, g := range a.Gateways {
		names = append(names, g.Key)
	}
	if a.LLMGateway != "" {
		names = append(names, "llm")
	}
	told := make(map[string]bool)
	look := func(text string, n *doctree.Node, path string) {
		for _, m := range gatewayMark.FindAllStringSubmatch(text, -1) {
			if told[m[1]] = true; !slices.Contains(names, m[1]) {
				d.report(diag.Error, n.Pos, "unknown-gateway", path, diag.DidYouMean(m[1], names), "there is no gateway %q: agent.tool_gateways names those of tools, agent.llm_gateway is llm", m[1])
			}
		}
	}
	for _, arg := range a.Argv {
		look(arg, s.n.Get("command"), s.at("command"))
	}
	for _, p := range a.Env {
		look(p.Value, s.n.Get("env"), s.at("env"))
	}
	for _, name := range names {
		if !told[name] {
			d.warn(s.pos(), "unused-gateway", s.at("tool_gateways"), "put {gateway:"+name+"} into agent.env or agent.command, from which the agent reads the address", "the agent does not get the address of the gateway %s, so no call goes through it", name)
		}
	}
}

// providers lists the providers of the section model.
var providers = []string{"ollama", "openai", "anthropic", "google"}

const localOllama = "http://localhost:11434"

func (d *decoder) model(n *doctree.Node, path string) Model {
	m := Model{Provider: "ollama", Name: "qwen3:8b", Temperature: 0.8, BaseURL: localOllama}
	if n == nil {
		return m
	}
	s := d.section(n, path, format().model)
	m.At, m.Given = n.Pos, true
	if p := s.opt("provider"); p != nil {
		if v, ok := d.str(p, s.at("provider")); ok && v != "" {
			m.Provider = strings.ToLower(strings.TrimSpace(v))
			if !slices.Contains(providers, m.Provider) {
				hint := diag.DidYouMean(m.Provider, providers)
				if m.Provider == "gemini" {
					hint = "did you mean google?"
				}
				d.report(diag.Error, p.Pos, "unknown-word", s.at("provider"), hint, "must be one of %s, got %q", strings.Join(providers, ", "), v)
			}
		}
	}
	m.Name = s.expanded("name", s.str("name", m.Name))
	m.APIKey = d.apiKey(s, m.Provider == "ollama")
	// The default address is Ollama's, so it is wrong for any other provider.
	if u := s.get("base_url"); u.IsNull() {
		if m.Provider != "ollama" {
			m.BaseURL = ""
		}
	} else if v, ok := d.str(u, s.at("base_url")); ok {
		m.BaseURL = s.expanded("base_url", v)
		if m.Provider != "ollama" && strings.TrimRight(v, "/") == localOllama {
			d.warn(u.Pos, "base-url", s.at("base_url"), "leave it out", "is the address of a local Ollama, but the provider is %s; its default address is used", m.Provider)
			m.BaseURL = ""
		}
	}
	m.Temperature = s.number("temperature", m.Temperature)
	return m
}

// apiKey returns a key's variable in the form ${NAME}: documents must not contain keys themselves.
func (d *decoder) apiKey(s *section, any bool) string {
	n := s.opt("api_key")
	v, ok := d.str(n, s.at("api_key"))
	if !ok || v == "" || any {
		return ""
	}
	if envName(v) == "" {
		d.report(diag.Error, n.Pos, "literal-key", s.at("api_key"), "export the key and write api_key: ${NAME}", "literal keys are not allowed in a document; must be the name of a variable in the form ${NAME}")
		return ""
	}
	return v
}

func (d *decoder) output(n *doctree.Node, path string) Output {
	o := Output{Format: "html", Path: "./reports", Filename: "flakestorm-{date}-{time}", Evidence: EvidenceAll}
	if n == nil {
		return o
	}
	s := d.section(n, path, format().output)
	o.Format = s.word("format", o.Format)
	o.Path = s.str("path", o.Path)
	o.Filename = s.str("filename_template", o.Filename)
	o.Evidence = s.word("evidence", o.Evidence)
	return o
}

func (d *decoder) advanced(n *doctree.Node, path string) Advanced {
	a := Advanced{Concurrency: 10, Retries: 2}
	if n == nil {
		return a
	}
	s := d.section(n, path, format().advanced)
	a.Concurrency = s.integer("concurrency", a.Concurrency)
	a.Retries = s.integer("retries", a.Retries)
	if x := s.opt("seed"); x != nil {
		seed := int64(d.integer(x, s.at("seed"), 0, -1<<53, 1<<53))
		a.Seed = &seed
	}
	return a
}

func (d *decoder) endpoint(s *section) Endpoint {
	e := Endpoint{At: s.pos(), BaseURL: s.expanded("base_url", s.required("base_url")), Name: s.expanded("name", s.required("name")), APIKey: d.apiKey(s, false)}
	e.Timeout = time.Duration(s.count("timeout", 60000)) * time.Millisecond
	if e.BaseURL != "" && !strings.HasPrefix(e.BaseURL, "http://") && !strings.HasPrefix(e.BaseURL, "https://") {
		d.fail(s.n.Get("base_url").Pos, "endpoint", s.at("base_url"), "must be an http or https address, got %q", e.BaseURL)
	}
	return e
}

func (d *decoder) similarity(n *doctree.Node, path string) Similarity {
	x := Similarity{Measure: "auto"}
	if n == nil {
		return x
	}
	s := d.section(n, path, format().similarity)
	x.At = n.Pos
	x.Measure = s.word("measure", "auto")
	if x.Measure == "embeddings" || s.n.Get("base_url") != nil {
		x.Endpoint = d.endpoint(s)
	} else {
		x.Name = s.text("name")
	}
	return x
}
