package config

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/yamltree"
)

// Options are what a document is read with.
type Options struct {
	// Getenv looks up a variable of the environment for $NAME and ${NAME}.
	Getenv func(name string) (string, bool)
	// Check says that nothing will be run: what existing tools take and cannot
	// do anything with is an error, not a warning.
	Check bool
}

// Decode reads a document. The configuration can be used if the list holds no
// error.
func Decode(file string, text []byte, o Options) (*Config, diag.List) {
	d := &decoder{file: file, opt: o}
	doc, err := yamltree.Parse(text, yamltree.Options{})
	if err != nil {
		return nil, syntax(file, err)
	}
	d.doc = doc
	if doc.Root.Kind != yamltree.Map {
		d.fail(doc.Root.Pos, "type", "", "must be a mapping with the sections agent and golden_prompts, got %s", shown(&doc.Root))
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
	e := err.(*yamltree.Error) // Parse gives no other
	return diag.List{{Code: "flakestorm.syntax", Pos: e.Pos.In(file), Message: e.Message(), Source: e.Source}}
}

func (d *decoder) document(root *yamltree.Node) *Config {
	c := &Config{}
	s := d.section(root, "")
	c.Version = s.str("version", "1.0")
	if n := s.get("agent"); n != nil {
		c.Agent = d.agent(n, "agent")
	} else {
		s.missing("agent")
	}
	c.Model = d.model(s.get("model"), "model")
	c.Mutations = d.mutations(s.get("mutations"), "mutations")
	d.prompts(s, c)
	s.items("invariants", false, func(n *yamltree.Node, path string) {
		c.Invariants = append(c.Invariants, d.invariant(n, path, false))
	})
	c.Output = d.output(s.get("output"), "output")
	c.Advanced = d.advanced(s.get("advanced"), "advanced")
	if n := s.opt("chaos"); n != nil {
		x := d.section(n, "chaos")
		chaos := d.chaos(x, true)
		x.end()
		c.Chaos = &chaos
	}
	if n := s.opt("contract"); n != nil {
		c.Contract = d.contract(n, "contract")
	}
	s.items("chaos_matrix", true, func(n *yamltree.Node, path string) { c.ChaosMatrix = append(c.ChaosMatrix, d.scenario(n, path)) })
	if n := s.opt("replays"); n != nil {
		c.Replays = d.replays(n, "replays")
	}
	c.Scoring = d.scoring(s.opt("scoring"), "scoring")
	if n := s.opt("judge"); n != nil {
		x := d.section(n, "judge")
		e := d.endpoint(x)
		x.end()
		c.Judge = &e
	}
	c.Similarity = d.similarity(s.opt("similarity"), "similarity")
	s.items("phases", true, func(n *yamltree.Node, path string) {
		v, ok := d.str(n, path)
		if ok && !slices.Contains(PhaseNames(), v) {
			d.unknown(n, "unknown-word", path, v, PhaseNames())
		}
		c.Phases = append(c.Phases, v)
	})
	s.end()
	d.together(s, c)
	return c
}

func (d *decoder) prompts(s *section, c *Config) {
	n := s.get("golden_prompts")
	if n == nil {
		s.missing("golden_prompts")
		return
	}
	s.items("golden_prompts", false, func(n *yamltree.Node, path string) {
		if v, ok := d.str(n, path); ok {
			c.Prompts = append(c.Prompts, Prompt{v, n.Pos})
		}
	})
	if n.Kind == yamltree.Seq && len(n.Items) == 0 {
		d.fail(n.Pos, "empty", "golden_prompts", "must hold at least one prompt")
	}
}

// together is what sections mean to each other.
func (d *decoder) together(s *section, c *Config) {
	if n := s.n.Get("invariants"); len(c.Invariants) == 0 && (n == nil || n.Kind == yamltree.Seq) {
		at := s.pos()
		if n != nil {
			at = n.Pos
		}
		d.report(diag.Error, at, "empty", "invariants", "output_not_empty needs no settings", "must hold at least one invariant")
	}
	judged := func(list []Invariant) {
		for _, v := range list {
			if v.Type == "llm_judge" && c.Judge == nil {
				d.report(diag.Error, v.At, "no-judge", v.Path, "add a section judge with base_url and name", "llm_judge needs a model that judges, and the document names none")
			}
		}
	}
	judged(c.Invariants)
	if c.Contract != nil {
		judged(c.Contract.Invariants)
	}
}

func (d *decoder) agent(n *yamltree.Node, path string) Agent {
	s := d.section(n, path)
	a := Agent{At: n.Pos, Type: HTTP}
	a.Type = s.word("type", HTTP, HTTP, Python, LangChain, OpenAI, Command, MCP)
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
	a.Timeout = time.Duration(s.integer("timeout", 30000, 1000, 300000)) * time.Millisecond
	a.Headers = s.expandedPairs("headers")
	a.ResetEndpoint = s.text("reset_endpoint")
	a.ResetFunction = s.text("reset_function")
	d.own(s, &a)
	s.end()
	return a
}

// own reads the keys that Thresh adds to the agent.
func (d *decoder) own(s *section, a *Agent) {
	if n := s.opt("command"); n != nil {
		if n.Kind == yamltree.String {
			var closed bool
			if a.Argv, closed = words(n.Text); !closed {
				d.report(diag.Error, n.Pos, "syntax", s.at("command"), "a list needs no quotes: [python3, agent.py]", "a quote is not closed")
			}
		} else {
			a.Argv = d.texts(n, s.at("command"))
		}
		if len(a.Argv) == 0 && (n.Kind == yamltree.String || n.Kind == yamltree.Seq) {
			d.fail(n.Pos, "empty", s.at("command"), "must name a program")
		}
	}
	a.Dir = s.text("dir")
	if n := s.opt("env"); n != nil {
		a.Env = s.expandedPairs("env")
	}
	a.Ready = s.text("ready")
	a.ReadyTimeout = time.Duration(s.count("ready_timeout", 30000, 100, 600000)) * time.Millisecond
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
	d.fits(s, a)
}

// fits checks the keys of an agent against its type.
func (d *decoder) fits(s *section, a *Agent) {
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
		d.report(diag.Error, s.n.Get("endpoint").Pos, "endpoint", s.at("endpoint"), "such as http://localhost:8000/chat", "must be an http or https address for type %s, got %q", a.Type, a.Endpoint)
	}
	if a.ResetFunction != "" && !strings.Contains(a.ResetFunction, ":") {
		d.report(diag.Error, s.n.Get("reset_function").Pos, "endpoint", s.at("reset_function"), "such as my_agent:reset_state", "must be module:function, got %q", a.ResetFunction)
	}
	if a.ResetFunction != "" && !python {
		d.doubt(s.n.Get("reset_function").Pos, "no-effect", s.at("reset_function"), "use reset_endpoint", "a function can reset Python agents alone; type is %s", a.Type)
		a.ResetFunction = ""
	}
	if u := a.ResetEndpoint; u != "" && !strings.HasPrefix(u, "http://") && !strings.HasPrefix(u, "https://") && !(strings.HasPrefix(u, "/") && strings.HasPrefix(a.Endpoint, "http")) {
		d.report(diag.Error, s.n.Get("reset_endpoint").Pos, "endpoint", s.at("reset_endpoint"), "a path such as /reset stands for one on the agent's own host", "must be an http or https address, got %q", u)
	}
	if n := s.n.Get("isolate"); n != nil && !python && (len(a.Argv) == 0 || a.Type == Command) {
		d.warn(n.Pos, "no-effect", s.at("isolate"), "", "is for an agent that Thresh keeps running between cases")
	}
	for _, key := range []string{"tools", "tool_registry", "python"} {
		if n := s.n.Get(key); n != nil && !python {
			d.warn(n.Pos, "no-effect", s.at(key), "", "is for types python and langchain; type is %s", a.Type)
		}
	}
	if n := s.n.Get("tool"); n != nil && a.Type != MCP {
		d.warn(n.Pos, "no-effect", s.at("tool"), "", "is for type mcp; type is %s", a.Type)
	}
	for _, key := range []string{"model", "system", "api_key"} {
		if n := s.n.Get(key); n != nil && a.Type != OpenAI {
			d.warn(n.Pos, "no-effect", s.at(key), "", "is for type openai; type is %s", a.Type)
		}
	}
	templated := []string{HTTP, LangChain, Command, MCP}
	for _, k := range []struct {
		key   string
		types []string
	}{
		{"method", []string{HTTP}}, {"request_template", templated}, {"response_path", []string{HTTP, Command}},
		{"query_params", []string{HTTP}}, {"parse_structured_input", templated}, {"headers", []string{HTTP, OpenAI, MCP}},
	} {
		if n := s.n.Get(k.key); !n.IsNull() && !slices.Contains(k.types, a.Type) {
			d.warn(n.Pos, "no-effect", s.at(k.key), "", "has no effect: type is %s, and it is for %s", a.Type, strings.Join(k.types, ", "))
		}
	}
	if a.Type == Command || python {
		if n := s.n.Get("ready"); n != nil {
			d.warn(n.Pos, "no-effect", s.at("ready"), "", "is for agents behind an address; type is %s", a.Type)
		}
	}
	if n := s.n.Get("command"); n != nil && python {
		d.warn(n.Pos, "no-effect", s.at("command"), "", "is for agents that are programs; type is %s, whose object is loaded from endpoint", a.Type)
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

// gatewayMark stands for the address of a gateway.
var gatewayMark = regexp.MustCompile(`\{gateway:([^{}]*)\}`)

// gateways checks that the agent is told of the gateways that there are.
func (d *decoder) gateways(s *section, a *Agent) {
	var names []string
	for _, g := range a.Gateways {
		names = append(names, g.Key)
	}
	if a.LLMGateway != "" {
		names = append(names, "llm")
	}
	told := make(map[string]bool)
	look := func(text string, n *yamltree.Node, path string) {
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
			d.warn(s.pos(), "unused-gateway", s.at("tool_gateways"), "put {gateway:"+name+"} into agent.env or agent.command, where the agent takes the address from", "the agent is not told the gateway %s, so that nothing goes through it", name)
		}
	}
}

// providers of the section model.
var providers = []string{"ollama", "openai", "anthropic", "google"}

const localOllama = "http://localhost:11434"

func (d *decoder) model(n *yamltree.Node, path string) Model {
	m := Model{Provider: "ollama", Name: "qwen3:8b", Temperature: 0.8, BaseURL: localOllama}
	if n == nil {
		return m
	}
	s := d.section(n, path)
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
	// The default address is Ollama's: it is no other provider's.
	if u := s.get("base_url"); u.IsNull() {
		if m.Provider != "ollama" {
			m.BaseURL = ""
		}
	} else if v, ok := d.str(u, s.at("base_url")); ok {
		m.BaseURL = s.expanded("base_url", v)
		if m.Provider != "ollama" && strings.TrimRight(v, "/") == localOllama {
			d.warn(u.Pos, "base-url", s.at("base_url"), "leave it out", "is the address of a local Ollama, but the provider is %s; it is asked at its own address", m.Provider)
			m.BaseURL = ""
		}
	}
	m.Temperature = s.number("temperature", m.Temperature, 0, 2)
	s.end()
	return m
}

// apiKey is the name of a variable as ${NAME}: keys do not stand in documents.
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

func (d *decoder) output(n *yamltree.Node, path string) Output {
	o := Output{Format: "html", Path: "./reports", Filename: "flakestorm-{date}-{time}", Evidence: EvidenceAll}
	if n == nil {
		return o
	}
	s := d.section(n, path)
	o.Format = s.word("format", o.Format, "html", "json", "terminal")
	o.Path = s.str("path", o.Path)
	o.Filename = s.str("filename_template", o.Filename)
	o.Evidence = s.word("evidence", o.Evidence, EvidenceAll, EvidenceFailures)
	s.end()
	return o
}

func (d *decoder) advanced(n *yamltree.Node, path string) Advanced {
	a := Advanced{Concurrency: 10, Retries: 2}
	if n == nil {
		return a
	}
	s := d.section(n, path)
	a.Concurrency = s.integer("concurrency", a.Concurrency, 1, 100)
	a.Retries = s.integer("retries", a.Retries, 0, 5)
	if x := s.opt("seed"); x != nil {
		seed := int64(d.integer(x, s.at("seed"), 0, -1<<53, 1<<53))
		a.Seed = &seed
	}
	s.end()
	return a
}

func (d *decoder) endpoint(s *section) Endpoint {
	e := Endpoint{At: s.pos(), BaseURL: s.expanded("base_url", s.required("base_url")), Name: s.expanded("name", s.required("name")), APIKey: d.apiKey(s, false)}
	e.Timeout = time.Duration(s.count("timeout", 60000, 100, 600000)) * time.Millisecond
	if e.BaseURL != "" && !strings.HasPrefix(e.BaseURL, "http://") && !strings.HasPrefix(e.BaseURL, "https://") {
		d.fail(s.n.Get("base_url").Pos, "endpoint", s.at("base_url"), "must be an http or https address, got %q", e.BaseURL)
	}
	return e
}

func (d *decoder) similarity(n *yamltree.Node, path string) Similarity {
	x := Similarity{Measure: "auto"}
	if n == nil {
		return x
	}
	s := d.section(n, path)
	x.At = n.Pos
	x.Measure = s.word("measure", "auto", "auto", "lexical", "embeddings", "sentence-transformers")
	if x.Measure == "embeddings" || s.n.Get("base_url") != nil {
		x.Endpoint = d.endpoint(s)
	} else {
		x.Name = s.text("name")
	}
	s.end()
	return x
}
