package config

import (
	"math"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

func (d *decoder) replays(n *doctree.Node, path string) Replays {
	s := d.section(n, path, format().replays)
	r := Replays{Model: s.word("model", "")}
	s.items("sessions", false, func(n *doctree.Node, path string) { r.Sessions = append(r.Sessions, d.session(n, path, true)) })
	s.items("sources", false, func(n *doctree.Node, path string) { r.Sources = append(r.Sources, d.source(n, path)) })
	return r
}

// DecodeSession reads a replay file: one session, in YAML or JSON.
func DecodeSession(file string, text []byte, o Options) (Session, diag.List) {
	d := &decoder{file: file, opt: o}
	doc, err := doctree.Parse(text, doctree.Options{})
	if err != nil {
		return Session{}, syntax(file, err)
	}
	d.doc = doc
	x := d.session(&doc.Root, "", false)
	d.list.Sort()
	return x, d.list
}

// DecodeContract reads a contract from its own file.
func DecodeContract(file string, text []byte, o Options) (*Contract, diag.List) {
	d := &decoder{file: file, opt: o}
	doc, err := doctree.Parse(text, doctree.Options{})
	if err != nil {
		return nil, syntax(file, err)
	}
	d.doc = doc
	root := &doc.Root
	if in := root.Get("contract"); in != nil && root.Get("name") == nil {
		root = in // a whole configuration: use its contract
	}
	c := d.contract(root, "")
	d.list.Sort()
	return c, d.list
}

func (d *decoder) session(n *doctree.Node, path string, inline bool) Session {
	s := d.section(n, path, format().session)
	x := Session{At: n.Pos, Source: "manual", Contract: "default"}
	x.ID, x.Name = s.id(s.str("id", "")), s.text("name")
	x.Source = s.str("source", x.Source)
	x.CapturedAt = s.text("captured_at")
	x.Input = s.str("input", "")
	s.items("context", false, func(n *doctree.Node, path string) {
		m := d.section(n, path, format().message)
		x.Context = append(x.Context, Message{Role: m.str("role", "user"), Content: m.str("content", m.str("text", ""))})
	})
	s.items("tool_responses", false, func(n *doctree.Node, path string) {
		s := d.section(n, path, format().response)
		x.Tools = append(x.Tools, d.response(s, s.required("tool")))
	})
	x.Model = s.word("model", "")
	s.items("model_responses", true, func(n *doctree.Node, path string) {
		s := d.section(n, path, format().reply)
		r := d.response(s, s.text("model"))
		r.Asked = s.text("asked")
		x.Models = append(x.Models, r)
	})
	if n := s.n.Get("model"); x.Model == ModelRecorded && len(x.Models) == 0 {
		d.fail(n.Pos, "missing-key", s.at("model_responses"), "must contain the model's recorded replies, for model: recorded")
	}
	x.Trace = s.texts("trace")
	x.Reply = s.text("reply")
	x.Expected = s.text("expected_failure")
	x.Contract = s.str("contract", x.Contract)
	x.File = s.text("file")
	if x.File != "" && !inline {
		d.warn(s.n.Get("file").Pos, "no-effect", s.at("file"), "", "a replay file does not name another")
		x.File = ""
	}
	if x.File == "" && s.n != nil {
		if x.ID == "" {
			d.fail(s.pos(), "missing-key", s.at("id"), "must be given and not empty, unless file names a replay file")
		}
		if x.Input == "" {
			d.fail(s.pos(), "missing-key", s.at("input"), "must be given and not empty, unless file names a replay file")
		}
	}
	return x
}

// response reads what a tool or a model of that name had answered.
func (d *decoder) response(s *section, name string) ToolResponse {
	r := ToolResponse{Tool: name, Status: s.count("status", 0), ContentType: s.text("content_type"), Connection: s.word("connection", "")}
	if s.shape.Field("raises") != nil {
		r.Raises = s.text("raises")
	}
	r.Latency = time.Duration(s.count("latency_ms", 0)) * time.Millisecond
	if v := s.opt("response"); v != nil {
		switch v.Kind {
		case doctree.String, doctree.Binary:
			r.Body, r.Text = v.Text, true
		case doctree.Map, doctree.Seq, doctree.Int, doctree.Float, doctree.Bool:
			tree := v.JSON()
			r.Body = jsontree.Style{Kept: true}.Format(&tree)
		default:
			d.fail(v.Pos, "type", s.at("response"), "must be a value that JSON has, got %s; quote it to mean the text", describeValue(v))
		}
	}
	return r
}

func (d *decoder) source(n *doctree.Node, path string) Source {
	s := d.section(n, path, format().source)
	x := Source{At: n.Pos, Status: "error"}
	x.Type = s.required("type")
	switch x.Type {
	case "langsmith":
		x.Project = s.required("project")
		if n := s.opt("filter"); n != nil {
			f := d.section(n, s.at("filter"), format().filter)
			x.Status = f.str("status", x.Status)
			x.DateRange = f.text("date_range")
			x.MinLatency = f.count("min_latency_ms", 0)
		}
		x.AutoImport = s.flag("auto_import", false)
	case "langsmith_run":
		x.RunID = s.required("run_id")
	default:
		if x.Type != "" {
			d.unknown(s.n.Get("type"), "unknown-word", s.at("type"), x.Type, []string{"langsmith", "langsmith_run"})
		}
		return x // the meaning of other keys is not known
	}
	return x
}

// scoring reads the weights of the phases, from scoring.weights as the contract names them or
// directly from scoring as existing documents have them.
func (d *decoder) scoring(n *doctree.Node, path string) Scoring {
	w := Scoring{0.20, 0.35, 0.35, 0.10}
	if n == nil {
		return w
	}
	s := d.section(n, path, format().scoring)
	flat, given := d.scores(s, w)
	at, where := n.Pos, path
	if in := s.opt("weights"); in != nil {
		x := d.section(in, s.at("weights"), format().weights)
		nested, _ := d.scores(x, w)
		if given && flat != nested {
			d.doubt(in.Pos, "two-weights", s.at("weights"), "keep scoring.weights alone", "the weights directly under scoring differ from scoring.weights, which count")
		}
		flat, at, where = nested, in.Pos, s.at("weights")
	}
	w = flat
	sum := w.Mutation + w.Chaos + w.Contract + w.Replay
	switch {
	case sum == 0:
		d.fail(at, "weights", where, "all weights are 0: there would be no score (scoring.weights must sum to 1.0)")
	case math.Abs(sum-1) > 0.001:
		d.report(diag.Error, at, "weights", where, "omitted weights keep their defaults: mutation 0.20, chaos 0.35, contract 0.35, replay 0.10", "scoring.weights must sum to 1.0, got %s", trimmed(sum))
	}
	return w
}

func (d *decoder) scores(s *section, def Scoring) (w Scoring, given bool) {
	for _, x := range []struct {
		key string
		def float64
		to  *float64
	}{{"mutation", def.Mutation, &w.Mutation}, {"chaos", def.Chaos, &w.Chaos}, {"contract", def.Contract, &w.Contract}, {"replay", def.Replay, &w.Replay}} {
		given = given || s.n.Get(x.key) != nil
		*x.to = s.number(x.key, x.def)
	}
	return w, given
}
