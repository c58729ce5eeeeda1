package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/face/web"
	"github.com/thresh-dev/thresh/store"
)

// Every answer of the API is what its description says.
func TestAPIIsAsDescribed(t *testing.T) {
	st := openStore(t, t.TempDir())
	ids := history(t, st)
	base, _ := serve(t, st, func(c *web.Config) { c.Fleet = someFleet(ids[8]) })
	live := begin(t, st)
	cases(t, live, 0, 20)
	defer live.Close()

	described := ask(t, "GET", base+"/api/v1/openapi.json")
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(described.body))
	must(t, err)
	c := jsonschema.NewCompiler()
	must(t, c.AddResource("mem:///openapi.json", doc))
	var api struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name string }
			Responses  map[string]struct {
				Content map[string]struct {
					Schema struct {
						Ref string `json:"$ref"`
					}
				}
			}
		}
	}
	must(t, json.Unmarshal([]byte(described.body), &api))
	tried := make(map[string]bool)
	check := func(path, query string) {
		t.Helper()
		tried[path] = true
		at := strings.NewReplacer("{run}", ids[8], "{finding}", "F-1a2b3c4d").Replace(path) + query
		a := ask(t, "GET", base+at)
		if a.code != http.StatusOK || a.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s: %s", at, a.code, a.header.Get("Content-Type"), a.body)
			return
		}
		ref := api.Paths[path]["get"].Responses["200"].Content["application/json"].Schema.Ref
		if ref == "" {
			return
		}
		sch, err := c.Compile("mem:///openapi.json" + ref)
		must(t, err)
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(a.body))
		must(t, err)
		if err := sch.Validate(v); err != nil {
			t.Errorf("%s: %v", at, err)
		}
	}
	check("/api/v1/runs", "")
	check("/api/v1/runs", "?status=running&limit=1")
	check("/api/v1/runs", "?q=nothing+of+the+kind")
	check("/api/v1/runs/{run}", "")
	check("/api/v1/runs/{run}/state", "")
	check("/api/v1/runs/{run}/findings", "?severity=critical&flaky=false")
	check("/api/v1/runs/{run}/findings/{finding}", "")
	check("/api/v1/runs/{run}/findings/{finding}/history", "")
	check("/api/v1/specs", "?limit=3")
	check("/api/v1/compare", "?a=latest~3&b=latest~2")
	check("/api/v1/runs/{run}/findings", "?new=true")
	check("/api/v1/fleet", "")
	check("/api/v1/openapi.json", "")
	for path := range api.Paths {
		if !tried[path] && !strings.HasSuffix(path, "/events") {
			t.Errorf("%s is described and was not tried", path)
		}
	}
	// What is served is described, and the other way round.
	source, err := os.ReadFile("api.go")
	must(t, err)
	routes := regexp.MustCompile(`"GET (/api/v1/[^"]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(routes) != len(api.Paths) {
		t.Errorf("%d routes, %d are described", len(routes), len(api.Paths))
	}
	for _, r := range routes {
		if api.Paths[r[1]] == nil {
			t.Errorf("%s is served and not described", r[1])
		}
	}
}

// What is asked wrongly is refused with what would be right.
func TestAPIRefuses(t *testing.T) {
	st := openStore(t, t.TempDir())
	id := keep(t, st, rich(t), 1, "done")
	base, _ := serve(t, st)
	for _, c := range []struct {
		path      string
		code      int
		say, hint string
	}{
		{"/api/v1/runs?verdct=fail", 400, `there is no parameter "verdct" here`, "verdict"},
		{"/api/v1/runs?verdict=bad", 400, "verdict must be one of pass, fail, error", ""},
		{"/api/v1/runs?limit=0", 400, "limit must be from 1 to 500", ""},
		{"/api/v1/runs?limit=501", 400, "limit must be from 1 to 500", ""},
		{"/api/v1/runs?offset=-1", 400, "offset must be a whole number", ""},
		{"/api/v1/runs/" + id + "x", 404, "there is no run", "did you mean"},
		{"/api/v1/runs/..%2f..%2fetc", 404, "there is no run", ""},
		{"/api/v1/runs/latest/findings?severity=bad", 400, "severity must be one of", ""},
		{"/api/v1/runs/latest/findings/F-none", 404, `there is no finding "F-none" in run r`, ""},
		{"/api/v1/compare?a=latest", 400, "a and b must name runs", ""},
		{"/api/v1/fleet", 404, "no fleet is watched here", "--fleet"},
		{"/api/v1/nothing", 404, "there is no page", ""},
	} {
		a := ask(t, "GET", base+c.path)
		var p web.Problem
		if err := json.Unmarshal([]byte(a.body), &p); err != nil || a.code != c.code || !strings.Contains(p.Error.Message, c.say) || !strings.Contains(p.Error.Hint, c.hint) {
			t.Errorf("%s: %d %s", c.path, a.code, a.body)
		}
	}
	if a := ask(t, "POST", base+"/api/v1/runs", "Origin", base); a.code < 400 {
		t.Errorf("the API takes a POST: %d", a.code)
	}
}

func TestMetrics(t *testing.T) {
	st := openStore(t, t.TempDir())
	rec := rich(t)
	rec.Campaigns[0].Name = "na\"me\\\nx"
	keep(t, st, rec, 1, "done")
	base, _ := serve(t, st, func(c *web.Config) { c.Fleet = someFleet("r1") })
	w := begin(t, st)
	cases(t, w, 0, 30)
	defer w.Close()
	ask(t, "GET", base+"/")
	body := ask(t, "GET", base+"/metrics").body
	line := regexp.MustCompile(`^([a-z_]+)(\{[a-z]+="([^"\\\n]|\\[\\"n])*"(,[a-z]+="([^"\\\n]|\\[\\"n])*")*\})? [-+0-9.e]+$`)
	typed := make(map[string]bool)
	for l := range strings.Lines(body) {
		l = strings.TrimSuffix(l, "\n")
		if name, ok := strings.CutPrefix(l, "# TYPE "); ok {
			typed[strings.Fields(name)[0]] = true
			continue
		}
		if strings.HasPrefix(l, "# HELP ") {
			continue
		}
		if m := line.FindStringSubmatch(l); m == nil || !typed[m[1]] {
			t.Errorf("not a sample of a family: %q", l)
		}
	}
	for _, want := range []string{
		`thresh_runs{status="running"} 1`, `thresh_campaign_score{contract="flakestorm",campaign="support-agent"} 0.8125`,
		`thresh_campaign_cases{contract="fuzzspec",campaign="na\"me\\\nx"} 41250`,
		`thresh_fleet_workers 2`, `thresh_fleet_lanes{state="busy"} 5`, `thresh_fleet_retries{run="r1"} 3`,
		`thresh_live_cases{run="` + w.RunID() + `",verdict="fail"} 3`, `thresh_ui_requests_total{route="GET /{$}",code="200"} 1`,
	} {
		if !strings.Contains(body, want+"\n") {
			t.Errorf("no %s", want)
		}
	}
}

func TestDownloadsAreAttachments(t *testing.T) {
	st := openStore(t, t.TempDir())
	id := keep(t, st, poisoned(t), 1, "done")
	base, _ := serve(t, st)
	for path, name := range map[string]string{
		"/runs/" + id + "/download/html.html":                        "thresh-" + id + ".html",
		"/runs/" + id + "/download/json.json":                        "thresh-" + id + ".json",
		"/runs/" + id + "/findings/F-1a2b3c4d/download/minimized":    "F-1a2b3c4d-minimized.bin",
		"/runs/" + id + "/findings/F-1a2b3c4d/download/input":        "F-1a2b3c4d-input.bin",
		"/runs/" + id + "/findings/F-3d90aa12/download/input?x=%0a%": "",
	} {
		if name == "" {
			continue
		}
		a := ask(t, "GET", base+path)
		if a.code != 200 || a.body == "" || a.header.Get("Content-Disposition") != "attachment; filename="+name ||
			a.header.Get("Content-Type") != "application/octet-stream" || a.header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.HasPrefix(a.header.Get("Content-Security-Policy"), "sandbox;") {
			t.Errorf("%s: %d %v", path, a.code, a.header)
		}
	}
	if a := ask(t, "GET", base+"/runs/"+id+"/download/jsonl.jsonl"); !strings.Contains(a.body, "the case "+id) {
		t.Errorf("a report that lists cases has none: %s", a.body)
	}
	if a := ask(t, "GET", base+"/runs/"+id+"/download/hits.hits.jsonl"); a.code != 404 || !strings.Contains(a.body, "the hits report of run "+id+" is empty") {
		t.Errorf("a report that would be empty: %d %s", a.code, a.body)
	}
	if a := ask(t, "GET", base+"/runs/"+id+"/findings/F-c0ffee00/download/minimized"); a.code != 404 {
		t.Errorf("a part that is not kept: %d", a.code)
	}
}

// Lists are made of what they show, however long they are.
func TestPagesOfALongList(t *testing.T) {
	st := openStore(t, t.TempDir())
	rec := rich(t)
	one := rec.Findings[1]
	one.Minimized, one.Samples, rec.Findings = nil, nil, nil
	for i := range 1234 {
		f := one
		f.ID, f.Title, f.Severity = fmt.Sprintf("F-%06d", i), fmt.Sprintf("fault %d", i), campaign.Severity(i%5)
		rec.Findings = append(rec.Findings, f)
	}
	id := keep(t, st, rec, 1, "done")
	base, _ := serve(t, st)
	seen := make(map[string]bool)
	for offset := 0; offset < 1234; offset += 500 {
		var page store.FindingPage
		must(t, json.Unmarshal([]byte(ask(t, "GET", fmt.Sprintf("%s/api/v1/runs/%s/findings?limit=500&offset=%d", base, id, offset)).body), &page))
		if page.Total != 1234 {
			t.Errorf("%d in all", page.Total)
		}
		for _, f := range page.Findings {
			seen[f.ID] = true
		}
	}
	if len(seen) != 1234 {
		t.Errorf("%d different findings on all pages", len(seen))
	}
	body := ask(t, "GET", base+"/runs/"+id+"?offset=50").body
	if n := strings.Count(body, `<article class="finding`); n != 50 {
		t.Errorf("%d lines on a page", n)
	}
	for _, want := range []string{"51–100 of 1,234", `rel="prev" href="/runs/` + id + `"`, `rel="next" href="/runs/` + id + `?offset=100"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the second page has no %s", want)
		}
	}
	if body := ask(t, "GET", base+"/runs/"+id+"?q=fault+777&severity=medium").body; !strings.Contains(body, "1–1 of 1") || !strings.Contains(body, "F-000777") {
		t.Error("the search for one finding does not find it alone")
	}
}
