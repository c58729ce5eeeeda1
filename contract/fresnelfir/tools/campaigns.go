package tools

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// Limits of the format's engine.
const (
	maxCampaigns  = 8         // unfinished ones at the same time
	keptCampaigns = 64        // finished ones whose results are kept
	maxDocument   = 16 << 20  // bytes of a document
	maxModule     = 64 << 20  // bytes of a module
	maxIterations = 1_000_000 // of one campaign
	maxFindings   = 1000      // of one campaign
	leastWall     = 300       // seconds: the smallest time limit of a campaign
)

// phase is the phase of a campaign.
type phase string

// The phases, as the format's tools print them.
const (
	compiled  phase = "Compiled"
	dutLoaded phase = "DutLoaded"
	running   phase = "Running"
	complete  phase = "Complete"
	aborted   phase = "Aborted"
)

// exploring is a campaign of the eight tools.
type exploring struct {
	id      string
	doc     campaign.Draft
	alone   string // why the model is explored without a module; "": it is not
	budget  budget
	targets []campaign.Target
	cases   int64 // traversals planned
	loaded  bool  // a client gave a module
	busy    bool  // it is being started
	aborted bool
	clipped bool                // more iterations were requested than a campaign may have
	run     campaign.Background // nil: not started yet
}

// phase returns the campaign's phase. The caller holds the lock.
func (x *exploring) phase() phase {
	switch {
	case x.aborted:
		return aborted
	case x.busy:
		return running
	case x.run == nil && x.loaded:
		return dutLoaded
	case x.run == nil:
		return compiled
	}
	select {
	case <-x.run.Done():
		if x.run.Status().Err != nil {
			return aborted
		}
		return complete
	default:
		return running
	}
}

func (x *exploring) finished() bool { p := x.phase(); return p == complete || p == aborted }

// campaigns holds the campaigns of a server, by number.
type campaigns struct {
	contract string
	desk     campaign.ToolDesk
	mu       sync.Mutex
	last     int
	list     []*exploring // oldest first
}

// find returns the campaign that a call names.
func (k *campaigns) find(c campaign.ToolCall) (*exploring, error) {
	id, ok := c.Text("campaign_id")
	if !ok {
		return nil, errors.New("missing required parameter: campaign_id")
	}
	for _, x := range k.list {
		if x.id == id {
			return x, nil
		}
	}
	return nil, fmt.Errorf("campaign not found: %s", id)
}

// active counts the unfinished campaigns.
func (k *campaigns) active() (n int) {
	for _, x := range k.list {
		if !x.finished() {
			n++
		}
	}
	return n
}

// add adds a campaign and removes the oldest finished ones.
func (k *campaigns) add(x *exploring) error {
	if n := k.active(); n >= maxCampaigns {
		return fmt.Errorf("Too many concurrent campaigns (%d/%d): wait for one to end, or abort one", n, maxCampaigns) //nolint:staticcheck // the format's own words
	}
	k.last++
	x.id = fmt.Sprintf("campaign-%04d", k.last)
	k.list = append(k.list, x)
	for i := 0; i < len(k.list) && len(k.list) > keptCampaigns+maxCampaigns; {
		if k.list[i].finished() {
			k.list = append(k.list[:i], k.list[i+1:]...)
		} else {
			i++
		}
	}
	return nil
}

// compile is the tool fresnel_fir_compile.
func (k *campaigns) compile(ctx context.Context, c campaign.ToolCall) (any, error) {
	text, ending := "", ".json"
	if written, ok := c.Text("model"); ok {
		text, ending = written, ".model.star"
	} else if text, ok = c.Text("ir_json"); !ok {
		return refused(diag.List{{Code: "mcp.missing", Message: "missing required parameter: give the model as model, or its JSON as ir_json"}}), nil
	}
	if len(text) > maxDocument {
		return refused(diag.List{{Code: "mcp.size", Message: fmt.Sprintf("the document has %d bytes; at most %d are allowed", len(text), maxDocument)}}), nil
	}
	sum := sha256.Sum256([]byte(text))
	x := &exploring{doc: campaign.Draft{Text: []byte(text), Name: "ir-" + hex.EncodeToString(sum[:4]) + ending, Contract: k.contract}}
	without := x.doc
	without.Options = map[string][]string{optModule: {noModule}}
	alone, warnings, err := k.desk.Compile(ctx, without)
	if err != nil {
		return nil, err
	}
	if warnings.HasErrors() || len(alone) == 0 {
		return refused(warnings), nil
	}
	plan := alone[0]
	// This tries the module that the document names; it is loaded when the campaign starts.
	with, found, err := k.desk.Compile(ctx, x.doc)
	switch {
	case err != nil:
		return nil, err
	case found.HasErrors():
		warnings = found
	case len(with) > 0:
		plan = with[0]
	}
	model, ok := campaign.As[explorer](plan)
	if !ok {
		return nil, fmt.Errorf("%s is not a model", plan.Identity().Name)
	}
	e := model.Explored(nil)
	x.alone, x.targets, x.cases = e.Alone, e.Targets, e.Planned
	x.budget.Iterations, x.budget.Seconds = model.LeastBudget()
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.add(x); err != nil {
		return refusal{Result: "errors", Errors: []string{err.Error()}, Mode: modelOnly}, nil
	}
	return accepted{Result: "pass", CampaignID: x.id, Budget: x.budget, Mode: Mode(x.alone != ""), Note: x.alone, Warnings: warnings.JSON()}, nil
}

// explorer is a campaign that the tools can serve.
type explorer interface {
	campaign.Explorer
	// LeastBudget returns the budget that the format's rule gives the document.
	LeastBudget() (iterations, seconds int64)
}

// load is the tool load_dut.
func (k *campaigns) load(ctx context.Context, c campaign.ToolCall) (any, error) {
	code, err := k.module(c)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	x, err := k.find(c)
	if err != nil {
		return nil, err
	}
	if p := x.phase(); p != compiled && p != dutLoaded {
		return nil, fmt.Errorf("cannot load a module in phase %s", p)
	}
	sum := sha256.Sum256(code)
	name := "module-" + hex.EncodeToString(sum[:8]) + ".wasm"
	doc := x.doc
	doc.Options, doc.Files = map[string][]string{optModule: {name}}, map[string][]byte{name: code}
	_, found, err := k.desk.Compile(ctx, doc)
	if err != nil {
		return nil, err
	}
	if err := found.Err(); err != nil {
		return nil, err
	}
	x.doc, x.loaded, x.alone = doc, true, ""
	return map[string]any{
		"status": "loaded", "campaign_id": x.id, "mode": withModel, "bytes": len(code), "sha256": hex.EncodeToString(sum[:]),
		"warnings": found.JSON(),
	}, nil
}

// Options of the contract that the tools set.
const (
	optModule = "module"
	noModule  = "none"
	optBudget = "budget"
)

// module returns the module that a call gives, as bytes or as a file.
func (k *campaigns) module(c campaign.ToolCall) ([]byte, error) {
	text, inline := c.Text("wasm_base64")
	path, named := c.Text("path")
	switch {
	case inline == named:
		return nil, errors.New("give either wasm_base64 or path, as a string")
	case named:
		return k.desk.Read(path, maxModule)
	case base64.StdEncoding.DecodedLen(len(text)) > maxModule+2:
		return nil, fmt.Errorf("the module is too large; at most %d bytes are allowed", maxModule)
	}
	code, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("wasm_base64 is not valid base64: %w", err)
	}
	return code, nil
}

// start is the tool fresnel_fir_fuzz_start.
func (k *campaigns) start(ctx context.Context, c campaign.ToolCall) (any, error) {
	k.mu.Lock()
	x, err := k.find(c)
	if err == nil {
		if p := x.phase(); p != compiled && p != dutLoaded {
			err = fmt.Errorf("cannot start a campaign in phase %s", p)
		}
	}
	if err != nil {
		k.mu.Unlock()
		return nil, err
	}
	x.busy = true
	extra, _ := c.Integer("extra_iterations")
	total := x.cases + min(max(extra, 0), maxIterations)
	x.clipped = total > maxIterations
	total = min(total, maxIterations)
	doc := x.doc
	k.mu.Unlock()

	doc.Options = maps.Clone(doc.Options)
	if doc.Options == nil {
		doc.Options = make(map[string][]string)
	}
	doc.Options[optBudget] = []string{fmt.Sprint(total)}
	doc.Time = time.Duration(max(leastWall, x.budget.Seconds)) * time.Second
	doc.Findings = maxFindings
	run, err := k.desk.Start(ctx, doc)

	k.mu.Lock()
	defer k.mu.Unlock()
	x.busy = false
	if err != nil {
		return nil, err
	}
	x.run = run
	if x.aborted { // while it was being started
		run.Stop()
	}
	e, _ := run.Explored()
	x.alone = e.Alone
	return started{Status: "started", CampaignID: x.id, Budget: x.budget, Mode: Mode(e.Alone != ""), Note: e.Alone, RunID: run.ID()}, nil
}

// abort is the tool fresnel_fir_abort. It answers once the campaign has stopped.
func (k *campaigns) abort(ctx context.Context, c campaign.ToolCall) (any, error) {
	k.mu.Lock()
	x, err := k.find(c)
	if err != nil {
		k.mu.Unlock()
		return nil, err
	}
	x.aborted = true
	run := x.run
	k.mu.Unlock()
	a := abortion{CampaignID: x.id, FinalStatus: "Aborted", Mode: Mode(x.alone != "")}
	if run == nil {
		return a, nil
	}
	run.Stop()
	select {
	case <-run.Done():
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	e, _ := run.Explored()
	a.Findings, a.Steps = len(run.Findings()), e.Actions
	return a, nil
}
