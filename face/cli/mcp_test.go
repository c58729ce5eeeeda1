package cli_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thresh-dev/thresh/face/cli"
)

// agent is a client of thresh mcp.
type agent struct {
	t       testing.TB
	dir     string
	session *sdk.ClientSession
	told    chan *sdk.ProgressNotificationParams
}

// client makes a client that keeps notifications of progress.
func (g *agent) client() *sdk.Client {
	g.told = make(chan *sdk.ProgressNotificationParams, 1000)
	return sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			select {
			case g.told <- r.Params:
			default:
			}
		},
	})
}

// newAgent starts thresh mcp in this process, over pipes, in a folder with the
// article example.
func newAgent(t testing.TB) *agent {
	t.Helper()
	g := &agent{t: t, dir: t.TempDir()}
	for _, name := range []string{"article.json", "article.wasm"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "examples", "fresnelfir", name))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(g.dir, name), data, 0o644))
	}
	fromServer, toClient := io.Pipe()
	fromClient, toServer := io.Pipe()
	over := make(chan int, 1)
	go func() {
		code := cli.Main([]string{"thresh", "mcp", "--store", filepath.Join(g.dir, "store"), "--root", g.dir, "-j", "2"}, cli.Stdio{
			In: fromClient, Out: toClient, Err: io.Discard, Getenv: func(string) string { return "" },
		})
		toClient.Close()
		over <- code
	}()
	s, err := g.client().Connect(t.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	must(t, err)
	g.session = s
	t.Cleanup(func() {
		_ = s.Close()
		if code := <-over; code != 0 {
			t.Errorf("thresh mcp ended with exit code %d", code)
		}
	})
	return g
}

// raw calls a tool.
func (g *agent) raw(name string, args map[string]any) *sdk.CallToolResult {
	g.t.Helper()
	p := &sdk.CallToolParams{Name: name, Arguments: args}
	if args["progress"] != nil {
		delete(args, "progress")
		p.SetProgressToken("p")
	}
	res, err := g.session.CallTool(context.Background(), p)
	must(g.t, err)
	if len(res.Content) != 1 {
		g.t.Fatalf("%s: %d contents, want 1", name, len(res.Content))
	}
	text := res.Content[0].(*sdk.TextContent).Text
	structured, err := json.Marshal(res.StructuredContent)
	must(g.t, err)
	var a, b any
	must(g.t, json.Unmarshal([]byte(text), &a))
	must(g.t, json.Unmarshal(structured, &b))
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	if string(x) != string(y) || strings.ContainsAny(text, "\n") {
		g.t.Errorf("%s: text %s and structured content %s differ, or the text is not compact", name, x, y)
	}
	return res
}

// object is a JSON object in an answer.
type object map[string]any

// at is a value inside of an object, by its keys.
func (o object) at(keys ...string) any {
	var v any = map[string]any(o)
	for _, k := range keys {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[k]
	}
	return v
}

func (o object) text(keys ...string) string { s, _ := o.at(keys...).(string); return s }
func (o object) number(keys ...string) float64 {
	n, _ := o.at(keys...).(float64)
	return n
}

func (g *agent) decode(res *sdk.CallToolResult) object {
	g.t.Helper()
	var o object
	must(g.t, json.Unmarshal([]byte(res.Content[0].(*sdk.TextContent).Text), &o))
	return o
}

// call calls a tool that must do what it is asked for.
func (g *agent) call(name string, args map[string]any) object {
	g.t.Helper()
	res := g.raw(name, args)
	o := g.decode(res)
	if res.IsError {
		g.t.Fatalf("%s: %v", name, o)
	}
	return o
}

// refuses calls a tool that must say no, with a text that holds want.
func (g *agent) refuses(name string, args map[string]any, want string) {
	g.t.Helper()
	res := g.raw(name, args)
	if text := g.decode(res).text("error"); !res.IsError || !strings.Contains(text, want) {
		g.t.Errorf("%s %v: is error: %t, %q, want an error that holds %q", name, args, res.IsError, text, want)
	}
}

func (g *agent) file(name string) string {
	g.t.Helper()
	data, err := os.ReadFile(filepath.Join(g.dir, name))
	must(g.t, err)
	return string(data)
}

// waits follows a run to its end.
func (g *agent) waits(run string) object {
	g.t.Helper()
	return g.call("run_status", map[string]any{"run_id": run, "wait_secs": 600})
}

func TestMCPExploresAModule(t *testing.T) {
	g := newAgent(t)
	if s := g.call("fresnel_fir_status", nil); s.text("state") != "idle" || s.number("active_campaigns") != 0 {
		t.Errorf("status of a new server: %v", s)
	}
	c := g.call("fresnel_fir_compile", map[string]any{"ir_json": g.file("article.json")})
	id := c.text("campaign_id")
	if c.text("result") != "pass" || id != "campaign-0001" || c.number("budget", "min_iterations") < 100 || c.text("mode") != "model_and_module" {
		t.Fatalf("compile: %v", c)
	}
	if s := g.call("fresnel_fir_status", nil); s.text("state") != "active" || s.number("active_campaigns") != 1 {
		t.Errorf("status: %v", s)
	}
	in := map[string]any{"campaign_id": id}
	if s := g.call("fresnel_fir_fuzz_status", in); s.text("state") != "pending" || s.at("stop_reason") != nil || s.number("coverage", "targets_total") == 0 {
		t.Errorf("before the start: %v", s)
	}
	if f := g.call("fresnel_fir_findings", in); f.number("next_seqno") != 0 || len(f["findings"].([]any)) != 0 {
		t.Errorf("findings before the start: %v", f)
	}
	s := g.call("fresnel_fir_fuzz_start", in)
	if s.text("status") != "started" || s.text("campaign_id") != id {
		t.Fatalf("start: %v", s)
	}
	g.refuses("fresnel_fir_fuzz_start", in, "Running")
	end := g.waits(s.text("run_id"))
	if end.text("verdict") != "pass" || end.text("mode") != "model_and_module" {
		t.Errorf("the run: %v", end)
	}
	st := g.call("fresnel_fir_fuzz_status", in)
	if st.text("state") != "complete" || st.text("stop_reason") != "Complete" || st.number("progress", "iterations_done") != st.number("progress", "iterations_total") {
		t.Errorf("after the run: %v", st)
	}
	cover := g.call("fresnel_fir_coverage", in)
	hit, total, off := cover.number("summary", "hit"), float64(len(cover["targets"].([]any))), cover.number("summary", "unreachable")
	if p := cover.number("summary", "percent"); p != 100*hit/(total-off) || hit == 0 || st.number("coverage", "percent") != p {
		t.Errorf("coverage: %v, status %v", cover["summary"], st["coverage"])
	}
	a := g.call("fresnel_fir_analytics", in)
	if a.text("summary", "state") != "Complete" || a.number("summary", "total_steps") == 0 || a.number("summary", "peak_coverage") > 1 || a.number("coverage_curve_points") == 0 {
		t.Errorf("analytics: %v", a)
	}
	if b := g.call("fresnel_fir_abort", in); b.text("final_status") != "Aborted" || b.number("steps_executed") != a.number("summary", "total_steps") {
		t.Errorf("abort of a complete campaign: %v", b)
	}
	if s := g.call("fresnel_fir_status", nil); s.number("active_campaigns") != 0 {
		t.Errorf("finished campaigns count as active: %v", s)
	}
}

// broken is the article example with a property that does not hold.
func (g *agent) broken() string {
	return strings.Replace(g.file("article.json"), `"properties": {`, `"properties": {
    "never_two": {"type": "invariant", "predicate": ["forall", "x", "Article", ["eq", 1, 2]]},`, 1)
}

func TestMCPFindings(t *testing.T) {
	t.Parallel() // mostly waits
	g := newAgent(t)
	doc := g.broken()
	must(t, os.Remove(filepath.Join(g.dir, "article.wasm")))
	c := g.call("fresnel_fir_compile", map[string]any{"ir_json": doc})
	if c.text("mode") != "model_only" {
		t.Fatalf("without a module: %v", c)
	}
	in := map[string]any{"campaign_id": c.text("campaign_id")}
	s := g.call("fresnel_fir_fuzz_start", in)
	end := g.waits(s.text("run_id"))
	if end.text("verdict") != "fail" {
		t.Fatalf("the run: %v", end)
	}
	all := g.call("fresnel_fir_findings", in)
	list := all["findings"].([]any)
	if len(list) == 0 || all.number("total_findings") != float64(len(list)) {
		t.Fatalf("findings: %v", all)
	}
	// Going on from next_seqno loses nothing and repeats nothing.
	var met []string
	since := 0.0
	for {
		part := g.call("fresnel_fir_findings", map[string]any{"campaign_id": c.text("campaign_id"), "since_seqno": since})
		for _, f := range part["findings"].([]any) {
			met = append(met, object(f.(map[string]any)).text("id"))
		}
		if part.number("next_seqno") == since {
			break
		}
		since = part.number("next_seqno")
	}
	if len(met) != len(list) || len(slices.Compact(slices.Sorted(slices.Values(met)))) != len(met) {
		t.Errorf("met %v, want %d findings, each once", met, len(list))
	}
	f := object(list[0].(map[string]any))
	if f.text("finding_type") != "property_violation" || f.text("action") == "" || f.number("seqno") != 1 || f.text("details") == "" {
		t.Errorf("finding: %v", f)
	}
	for name, args := range map[string]map[string]any{
		"fresnel_fir_fuzz_status": in, "fresnel_fir_findings": in, "fresnel_fir_coverage": in, "fresnel_fir_analytics": in, "fresnel_fir_abort": in,
		"fresnel_fir_status": nil, "run_status": {"run_id": s.text("run_id")}, "run_findings": {"run_id": s.text("run_id")},
		"explain_finding": {"finding": f.text("id")}, "replay": {"finding": f.text("id")}, "fresnel_fir_compile": {"ir_json": "no json"},
	} {
		if o := g.call(name, args); o.text("mode") != "model_only" {
			t.Errorf("%s does not say that the model is alone: %v", name, o)
		}
	}
	for name, args := range map[string]map[string]any{ // errors say so as well
		"fresnel_fir_fuzz_start": in, "load_dut": {"campaign_id": c.text("campaign_id")}, "fresnel_fir_findings": {"campaign_id": "campaign-0099"},
		"run_findings": {"run_id": s.text("run_id"), "since_seqno": -1}, "replay": {"finding": f.text("id"), "times": 0},
		"explain_finding": {"finding": f.text("id"), "more": true},
	} {
		if res := g.raw(name, args); !res.IsError || g.decode(res).text("mode") != "model_only" {
			t.Errorf("%s is refused without saying that the model is alone: %v", name, g.decode(res))
		}
	}
	if o := g.call("check_spec", map[string]any{"text": doc}); o.text("mode") != "model_only" {
		t.Errorf("check_spec does not say that the model is alone: %v", o)
	}
	if o := g.call("replay", map[string]any{"finding": f.text("id"), "times": 3}); o.at("shows_again") != true || o.number("same") != 3 {
		t.Errorf("replay: %v", o)
	}
	if o := g.call("explain_finding", map[string]any{"finding": f.text("id")}); !strings.Contains(o.text("text"), "never_two") || o.text("finding", "id") != f.text("id") {
		t.Errorf("explain: %v", o)
	}
	if same := g.call("run_findings", map[string]any{"run_id": s.text("run_id")}); len(same["findings"].([]any)) != len(list) || same.at("ended") != true {
		t.Errorf("run_findings: %v", same)
	}
}

func TestMCPLoadsModules(t *testing.T) {
	g := newAgent(t)
	code := g.file("article.wasm")
	must(t, os.Rename(filepath.Join(g.dir, "article.wasm"), filepath.Join(g.dir, "elsewhere.wasm")))
	id := g.call("fresnel_fir_compile", map[string]any{"ir_json": g.file("article.json")}).text("campaign_id")
	g.refuses("load_dut", map[string]any{"campaign_id": id}, "either wasm_base64 or path")
	g.refuses("load_dut", map[string]any{"campaign_id": id, "path": "../x.wasm"}, "is outside this server's folder")
	g.refuses("load_dut", map[string]any{"campaign_id": id, "wasm_base64": "AGFzbQEAAAA="}, "write_article")
	g.refuses("load_dut", map[string]any{"campaign_id": id, "wasm_base64": "bm90IHdhc20="}, "module")
	if o := g.call("load_dut", map[string]any{"campaign_id": id, "path": "elsewhere.wasm"}); o.text("mode") != "model_and_module" || o.number("bytes") != float64(len(code)) {
		t.Errorf("load_dut by path: %v", o)
	}
	g.call("load_dut", map[string]any{"campaign_id": id, "wasm_base64": base64.StdEncoding.EncodeToString([]byte(code))})
	s := g.call("fresnel_fir_fuzz_start", map[string]any{"campaign_id": id})
	if end := g.waits(s.text("run_id")); end.text("verdict") != "pass" || end.text("mode") != "model_and_module" {
		t.Errorf("the run: %v", end)
	}
	g.refuses("load_dut", map[string]any{"campaign_id": id, "path": "elsewhere.wasm"}, "Complete")
}

func TestMCPRefuses(t *testing.T) {
	g := newAgent(t)
	for _, name := range []string{"fuzz_start", "fuzz_status", "findings", "coverage", "abort", "analytics"} {
		g.refuses("fresnel_fir_"+name, nil, "campaign_id")
		g.refuses("fresnel_fir_"+name, map[string]any{"campaign_id": 1}, "missing")
		g.refuses("fresnel_fir_"+name, map[string]any{"campaign_id": "campaign-9999"}, "not found")
	}
	g.refuses("fresnel_fir_findngs", nil, "fresnel_fir_findings")
	g.refuses("run_spec", map[string]any{"path": "article.json", "wiat": true}, "did you mean wait?")
	g.refuses("run_spec", nil, "either path or text")
	g.refuses("run_spec", map[string]any{"path": "../article.json"}, "is outside this server's folder")
	g.refuses("run_spec", map[string]any{"path": "none.json"}, "no such file")
	g.refuses("run_spec", map[string]any{"path": "article.json", "options": map[string]any{"module": "../x.wasm"}}, "is outside this server's folder")
	// Whatever option names a file or a folder, and whichever format it is of.
	for _, option := range []string{"capsule", "system", "operators", "replay", "grammar", "dict", "corpus", "twin", "also", "contract-root", "link", "var-file", "replay-replies"} {
		g.refuses("run_spec", map[string]any{"path": "article.json", "options": map[string]any{option: "/etc/hostname"}}, "is outside this server's folder")
	}
	g.refuses("run_spec", map[string]any{"path": "article.json", "options": map[string]any{"module": "other.wasm"}}, "other.wasm cannot be read")
	g.refuses("run_spec", map[string]any{"path": "article.json", "options": map[string]any{"budgt": 3}}, "budgt")
	g.refuses("run_spec", map[string]any{"path": "article.json", "contract": "fuzzspec"}, "fuzzspec")
	g.refuses("run_status", map[string]any{"run_id": "nothing"}, "nothing")
	g.refuses("replay", map[string]any{"finding": "F-0000000000"}, "F-0000000000")
	g.refuses("replay", map[string]any{"finding": "F-0000000000", "times": 0}, "times")
	for text, want := range map[string]string{"": "line 1", "not json": "line 1", `{"entities": {}}`: "refinements"} {
		o := g.call("fresnel_fir_compile", map[string]any{"ir_json": text})
		errs, _ := o["errors"].([]any)
		if o.text("result") != "errors" || len(errs) == 0 || !strings.Contains(strings.Join(strs(errs), "\n"), want) {
			t.Errorf("compile %q: %v, want errors that hold %q", text, o, want)
		}
	}
	// Eight campaigns wait; the ninth has no place until one is ended.
	var last object
	for range 9 {
		last = g.call("fresnel_fir_compile", map[string]any{"ir_json": g.file("article.json")})
	}
	if last.text("result") != "errors" || !strings.Contains(last["errors"].([]any)[0].(string), "Too many concurrent campaigns (8/8)") {
		t.Errorf("the ninth campaign: %v", last)
	}
	g.call("fresnel_fir_abort", map[string]any{"campaign_id": "campaign-0003"})
	if o := g.call("fresnel_fir_compile", map[string]any{"ir_json": g.file("article.json")}); o.text("campaign_id") != "campaign-0009" {
		t.Errorf("a campaign after an abort: %v", o)
	}
	g.refuses("fresnel_fir_fuzz_start", map[string]any{"campaign_id": "campaign-0003"}, "Aborted")
}

func strs(list []any) []string {
	var out []string
	for _, v := range list {
		s, _ := v.(string)
		out = append(out, s)
	}
	return out
}

// max_errors ends a run whose cases have no result, as --max-errors does.
func TestMCPMaxErrors(t *testing.T) {
	t.Parallel() // each case waits before it is tried again
	g := newAgent(t)
	doc := "```yaml spec-test\n"
	for i := range 5 {
		doc += fmt.Sprintf("- {id: C-%d, title: t, type: api.http, request: {method: POST, url: \"http://127.0.0.1:1/\"}}\n", i)
	}
	ask := map[string]any{"text": doc + "```\n", "name": "x.spec.md", "wait": true}
	for limit, complete := range map[string]bool{"20%": false, "5": true} {
		ask["max_errors"] = limit
		o := g.call("run_spec", ask)
		if end := g.call("run_status", map[string]any{"run_id": o["run_id"]}); end["complete"] != complete || end.text("verdict") != "error" {
			t.Errorf("max_errors %s: %v", limit, end)
		}
	}
	ask["max_errors"] = "many"
	g.refuses("run_spec", ask, "max_errors: a limit of errors must be a number from 0, or a share such as 5%")
}

// A client sees which documents of a folder are not checked and not run: what the server prints, it does not.
// Notes are no warnings.
func TestMCPNamesWhatAFolderLeavesOut(t *testing.T) {
	g := newAgent(t)
	must(t, os.Mkdir(filepath.Join(g.dir, "pages"), 0o755))
	page := "```yaml spec-test\n- {id: P-1, title: t, type: text.file, path: p.spec.md, assert: [{target: text, must: [{contain: [P-1]}]}]}\n```\n"
	must(t, os.WriteFile(filepath.Join(g.dir, "pages", "p.spec.md"), []byte(page), 0o644))
	if o := g.call("check_spec", map[string]any{"path": "."}); o.text("result") != "pass" || !strings.Contains(fmt.Sprint(o["diagnostics"]), "p.spec.md") {
		t.Errorf("check: %v", o)
	}
	if o := g.call("check_spec", map[string]any{"path": ".", "strict": true}); o.text("result") != "errors" {
		t.Errorf("check, strict: %v", o)
	}
	if o := g.call("check_spec", map[string]any{"path": "article.json", "strict": true}); o.text("result") != "pass" || !strings.Contains(fmt.Sprint(o["diagnostics"]), "note") {
		t.Errorf("check with notes, strict: %v", o)
	}
	if o := g.call("run_spec", map[string]any{"path": ".", "cases": 20, "wait": true}); o.text("state") != "done" || !strings.Contains(fmt.Sprint(o["warnings"]), "p.spec.md") {
		t.Errorf("run: %v", o)
	}
}

func TestMCPRunsDocuments(t *testing.T) {
	g := newAgent(t)
	if o := g.call("check_spec", map[string]any{"path": "article.json"}); o.text("result") != "pass" || len(o["campaigns"].([]any)) != 1 {
		t.Errorf("check: %v", o)
	}
	if o := g.call("check_spec", map[string]any{"text": `{"schema_version": "llmfuzz.fuzzspec.v1"}`, "name": "x.json"}); o.text("result") != "errors" || len(o["diagnostics"].([]any)) == 0 {
		t.Errorf("check of a FuzzSpec: %v", o)
	}
	o := g.call("run_spec", map[string]any{"path": "article.json", "options": map[string]any{"budget": 500}, "cases": 200, "wait": true, "progress": true})
	if o.text("state") != "done" || o.number("cases", "run") != 200 || o.text("digest") == "" {
		t.Errorf("run: %v", o)
	}
	if p := <-g.told; p.ProgressToken != "p" {
		t.Errorf("progress: %+v", p)
	}
	if again := g.call("run_status", map[string]any{"run_id": "latest"}); again.text("digest") != o.text("digest") {
		t.Errorf("the stored run: %v, want what %v says", again, o)
	}
	uri := "thresh://runs/" + o.text("run_id") + "/report/json"
	res, err := g.session.ReadResource(context.Background(), &sdk.ReadResourceParams{URI: uri})
	must(t, err)
	var rec object
	must(t, json.Unmarshal([]byte(res.Contents[0].Text), &rec))
	if rec.text("digest") != o.text("digest") && rec.text("run", "digest") != o.text("digest") {
		t.Errorf("the report is of another run: %.300s", res.Contents[0].Text)
	}
	for _, uri := range []string{"thresh://runs", "thresh://runs/latest/report/text", "thresh://runs/latest/report/html"} {
		if res, err := g.session.ReadResource(context.Background(), &sdk.ReadResourceParams{URI: uri}); err != nil || res.Contents[0].Text == "" || res.Contents[0].MIMEType == "" {
			t.Errorf("%s: %v", uri, err)
		}
	}
	for _, uri := range []string{"thresh://runs/none/report/text", "thresh://runs/latest/report/nonsense", "thresh://runs/latest/other/x", "file:///etc/hostname"} {
		if _, err := g.session.ReadResource(context.Background(), &sdk.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s was read", uri)
		}
	}
}

// What documents look like can be read, and written: the example compiles, faults come
// with their fixes, prompts hold what they are about.
func TestMCPWriteModels(t *testing.T) {
	g := newAgent(t)
	read := func(uri string) string {
		t.Helper()
		res, err := g.session.ReadResource(context.Background(), &sdk.ReadResourceParams{URI: uri})
		must(t, err)
		return res.Contents[0].Text
	}
	if o := g.call("fresnel_fir_compile", map[string]any{"model": read("thresh://examples/fresnelfir")}); o.text("result") != "pass" {
		t.Errorf("the example: %v", o)
	}
	o := g.call("fresnel_fir_compile", map[string]any{"model": "Order = entitty(a = int(0, 1))\nx = input(bol)\n"})
	if text := strings.Join(strs(o["errors"].([]any)), "\n"); !strings.Contains(text, "did you mean entity?") || !strings.Contains(text, "line 2, column 11") {
		t.Errorf("errors: %s", text)
	}
	for _, name := range strings.Fields("fuzzspec operator flakestorm fresnelfir spectest") {
		if text := read("thresh://starters/" + name); !strings.Contains(text, `"name"`) {
			t.Errorf("the starter of %s: %.100s", name, text)
		}
	}
	if text := read("thresh://schemas/fresnelfir"); !strings.Contains(text, `"entities"`) {
		t.Errorf("the schema: %.100s", text)
	}
	f := g.call("run_spec", map[string]any{"text": g.broken(), "name": "broken.json", "wait": true})
	found := g.call("run_findings", map[string]any{"run_id": f.text("run_id")})["findings"].([]any)
	id, _ := found[0].(map[string]any)["id"].(string)
	for name, want := range map[string][2]string{"write-a-model": {"system", "my shop"}, "explain-finding": {"finding", id}} {
		p, err := g.session.GetPrompt(context.Background(), &sdk.GetPromptParams{Name: name, Arguments: map[string]string{want[0]: want[1]}})
		must(t, err)
		if text := p.Messages[0].Content.(*sdk.TextContent).Text; !strings.Contains(text, want[1]) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// A call that is cancelled ends the run that it waits for; what was run is kept.
func TestMCPCancels(t *testing.T) {
	g := newAgent(t)
	ctx, cancel := context.WithCancel(context.Background())
	p := &sdk.CallToolParams{Name: "run_spec", Arguments: map[string]any{"path": "article.json", "options": map[string]any{"budget": 100000000}, "wait": true}}
	p.SetProgressToken("p")
	over := make(chan error, 1)
	go func() {
		_, err := g.session.CallTool(ctx, p)
		over <- err
	}()
	<-g.told
	cancel()
	if err := <-over; err == nil {
		t.Error("a cancelled call was answered")
	}
	run := g.call("run_status", map[string]any{"run_id": "latest"}).text("run_id")
	if end := g.waits(run); end.text("state") != "interrupted" || end.at("complete") != false {
		t.Errorf("the run: %v", end)
	}
}

// An abort comes to rest before it is answered, and says so ever after.
func TestMCPAborts(t *testing.T) {
	g := newAgent(t)
	id := g.call("fresnel_fir_compile", map[string]any{"ir_json": g.file("article.json")}).text("campaign_id")
	in := map[string]any{"campaign_id": id, "extra_iterations": 900000}
	s := g.call("fresnel_fir_fuzz_start", in)
	if st := g.call("fresnel_fir_fuzz_status", in); st.text("state") != "running" || st.number("progress", "iterations_total") < 900000 {
		t.Errorf("right after the start: %v", st)
	}
	b := g.call("fresnel_fir_abort", in)
	if b.text("final_status") != "Aborted" {
		t.Errorf("abort: %v", b)
	}
	if st := g.call("fresnel_fir_fuzz_status", in); st.text("state") != "aborted" || st.text("stop_reason") != "UserAborted" {
		t.Errorf("after the abort: %v", st)
	}
	if end := g.call("run_status", map[string]any{"run_id": s.text("run_id")}); end.text("state") != "interrupted" {
		t.Errorf("the run: %v", end)
	}
}
