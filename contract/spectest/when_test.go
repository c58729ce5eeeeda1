package spectest

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	httpsys "github.com/thresh-dev/thresh/system/http"
)

func TestConditions(t *testing.T) {
	t.Chdir(t.TempDir())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"name": "Ada", "tags": ["a", "b"]}`))
	}))
	defer server.Close()
	k := newContract(nil)
	k.targets.HTTP = httpsys.OpenClient
	get := func(id, assert string) string {
		return "id: " + id + "\ntype: api.http\nrequest: {method: GET, url: " + server.URL + "}\nassert:\n" + assert + "\n"
	}
	doc := blockDocument(
		get("HOLDS", `- when: status == 200 and $.name == "Ada"`+"\n- {cannot: [{when: 'len($.tags) == 3'}]}\n- {target: body_text, must: [{contain: [Ada]}, {when: [\"$.tags[1] == 'b'\", 'headers contains \"Content-Length\"']}]}"),
		get("FAILS", `- when: status == 200 and $.name == "Bob"`),
		get("SHAPE", "- can: [{when: $.none.deeper == 1}, {when: $.name == 'Ada'}]"),
		"id: TEXT\ntype: text.file\npath: plain.txt\nassert: {can: [{when: $.a == 1}, {when: text == 'plain'}]}\n")
	write(t, "plain.txt", []byte("plain"))
	got, outcomes := play(t, k, doc, nil)
	expect(t, got, "HOLDS pass", "FAILS fail assertion", "SHAPE pass", "TEXT pass")
	if want := `a.spec.md:16 FAILS: expected status == 200 and $.name == "Bob"`; outcomes[1].Title != want {
		t.Errorf("got %q, want %q", outcomes[1].Title, want)
	}
	if why := string(outcomes[1].Attached("because")); !strings.HasPrefix(why, `$.name is "Ada" in`) || strings.Contains(string(outcomes[1].Data), "Ada") {
		t.Errorf("got %q beside %s", why, outcomes[1].Data) // what a case saw may vary, which data must not
	}
	camps, _ := k.Compile(t.Context(), campaign.Spec{Path: "a.spec.md", Data: []byte(doc)}, ofFiles(nil))
	c, _ := campaign.As[*Campaign](camps[0])
	text, err := c.Explain(t.Context(), 1, false)
	if err != nil || !strings.Contains(text, `["eq", ["get", ["get", ["subject"], "json"], "name"], "Bob"]`) {
		t.Errorf("got %s, %v", text, err)
	}
}

// A name in the list form says what it stands for, and a wrong filter is one fault.
func TestFindsAreExplained(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "n.json", []byte(`{"a": "x,y"}`))
	doc := "id: A\ntype: text.file\npath: n.json\nassert: [{when: '$.a | split(\",\") | last == \"y\"'}]\n"
	text, err := compiled(t, blockDocument(doc)).Explain(t.Context(), 0, false)
	if err != nil || !strings.Contains(text, `find_1 is $.a | split(",") | last`+"\n") {
		t.Errorf("got %s, %v", text, err)
	}
	set := ofFiles(nil)
	set.Check = true
	wrong := blockDocument(strings.Replace(doc, "split", "splt", 1))
	if _, list := newContract(nil).Compile(t.Context(), campaign.Spec{Path: "a.spec.md", Data: []byte(wrong)}, set); len(list) != 1 || !strings.Contains(list.Error(), "did you mean split?") {
		t.Error(list)
	}
}

// Paths that may lead to several places find lists; differences decide order.
func TestConditionsOnPaths(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "beds.json", []byte(`{"beds": [{"id": 1, "name": "kale"}, {"id": 2, "name": "$.leek"}, {"id": 3}], "n": 3}`))
	item := func(id, when string) string {
		return "id: " + id + "\ntype: text.file\npath: beds.json\nassert: [{when: '" + when + "'}]\n"
	}
	got, outcomes := play(t, newContract(nil), blockDocument(
		item("ALL", `$.beds[*].id == [1, 2, 3] and len($..name) == 2`),
		item("FILTER", `"kale" in $.beds[?@.id < 2].name and $.beds[?(@.id==2)].name == ["$.leek"]`),
		item("LAST", `$.beds[-1].id == 3 and $.beds[-9].id == null`),
		item("QUOTED", `"$.beds[*]" != $.beds[1].name`),
		item("ORDER", `$.n > 2 and $.n <= 3 and 2 < len($.beds) and not ($.n >= 4)`),
		item("OTHER", `$.beds[?@.id > 1].id == [2, 4]`),
		item("LESS", `$.n < 2`),
		item("WRONG", `$.beds[?@.id = 1].id == [1]`),
		"id: TAKE\ntype: text.file\npath: beds.json\ncapture: {one: \"$.beds[?@.id==2].name\", some: \"$.beds[:2].id\"}\nassert: [{when: $.n == 3}]\n",
		item("TAKEN", `$.beds[1].name == "${one}" and $.beds[0:2].id == ${some}`),
	), map[string][]string{OptExpect: nil})
	expect(t, got, "ALL pass", "FILTER pass", "LAST pass", "QUOTED pass", "ORDER pass", "OTHER fail assertion", "LESS fail assertion", "WRONG fail schema", "TAKE..TAKEN pass")
	for i, want := range map[int]string{5: `$.beds[?@.id > 1].id is [2,3]`, 6: `$.n is 3`, 7: `is not a JSON path: expected ]`} {
		if data := string(outcomes[i].Data) + string(outcomes[i].Attached("because")); !strings.Contains(strings.ReplaceAll(data, ", 3]", ",3]"), want) {
			t.Errorf("%s lacks %s", data, want)
		}
	}
}

// A captured value may stand where a number does; check knows none yet.
func TestConditionsOnCaptured(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "n.json", []byte(`{"id": 7}`))
	doc := blockDocument("id: A\ntype: text.file\npath: n.json\ncapture: {id: $.id}\nassert: [{when: $.id == 7}]\n",
		"id: B\ntype: text.file\npath: n.json\nassert: [{when: '$.id == ${id} and \"${id}\" == \"7\"'}]\n")
	set := ofFiles(nil)
	set.Check = true
	if _, list := newContract(nil).Compile(t.Context(), campaign.Spec{Path: "a.spec.md", Data: []byte(doc)}, set); len(list) > 0 {
		t.Error(list)
	}
	got, _ := play(t, newContract(nil), doc, nil)
	expect(t, got, "A..B pass")
}

func TestWritten(t *testing.T) {
	for form, want := range map[string]string{
		`["get", ["get", ["subject"], "json"], "name"]`:                                                                "$.name",
		`["len", ["get", ["get", ["get", ["subject"], "json"], "a"], 0]]`:                                              "len($.a[0])",
		`["get", ["subject"], "status"]`:                                                                               "status",
		`["get", ["get", ["subject"], "cookies"], "a-b"]`:                                                              `cookies["a-b"]`,
		`["eq", ["get", ["get", ["subject"], "json"], "n"], 9]`:                                                        "$.n == 9",
		`["regex_match", ["sub", ["get", ["subject"], "duration"], 500], "^-(.*[1-9]|inf)"]`:                           "duration < 500",
		`["regex_match", ["sub", 500, ["get", ["subject"], "duration"]], "^-(.*[1-9]|inf)"]`:                           "duration > 500",
		`["not", ["regex_match", ["sub", 5, ["sub", ["get", ["subject"], "size"], 1]], "^-(.*[1-9]|inf)|nan"]]`:        "size - 1 <= 5",
		`["not", ["or", ["regex_match", ["get", ["subject"], "text"], "a"], ["eq", ["get", ["subject"], "size"], 1]]]`: `not (text matches "a" or size == 1)`,
		`no list`: `no list`,
	} {
		if got := written(form); got != want {
			t.Errorf("%s: %s, want %s", form, got, want)
		}
	}
}

// Filters make other values of what a condition or a capture has found.
func TestFilters(t *testing.T) {
	t.Chdir(t.TempDir())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header()["X-Tag"] = []string{"a", "b"}
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: "s-9", HttpOnly: true})
		_, _ = w.Write([]byte(`{"ref": "ord-00042", "tags": "kale,leek", "list": [5, 6], "n": "17", "x": 2.5, "link": "http://x/?q=a%20b",
			"secret": "aGk", "inner": "{\"a\": [1]}", "page": "<p>hi</p>", "html": "a &lt; b"}`))
	}))
	defer server.Close()
	k := newContract(nil)
	k.targets.HTTP = httpsys.OpenClient
	item := func(id, when string) string {
		return "id: " + id + "\ntype: api.http\nrequest: {method: GET, url: " + server.URL + "}\nassert: [{when: '" + strings.ReplaceAll(when, "'", "''") + "'}]\n"
	}
	got, outcomes := play(t, k, blockDocument(
		item("REGEX", `$.ref | regex("ord-0*(\d+)") | to_int == 42 and $.ref|regex("z") == null`),
		item("SPLIT", `$.tags | split(",") == ["kale", "leek"] and $.tags | split(',') | last | upper == null or true`),
		item("ITEMS", `$.list | first == 5 and $.list | nth(-1) == 6 and $.list | nth(2) == null and $.list | count == 2 and $.list[*] | last == 6`),
		item("NUMBERS", `$.n | to_int == 17 and $.n | to_float == 17.0 and $.x | to_int == 2 and $.tags | to_int == null and $.x | to_string == "2.5"`),
		item("URLS", `$.link | url_query_param("q") == "a b" and "a b/c" != null and $.tags | url_encode == "kale%2Cleek" and $.tags | url_encode | url_decode == $.tags`),
		item("CODED", `$.secret | base64_decode == "hi" and $.html | html_unescape == "a < b" and $.inner | json("$.a[0]") == 1 and $.page | xpath("//p") == "hi"`),
		item("REPLACED", `$.tags | replace(",", "; ") == "kale; leek" and $.tags | replace_regex("[aeiou]", "") == "kl,lk" and $.none | replace("a", "b") == null`),
		item("HEADERS", `header("content-type") starts_with "application/json" and header("Content-Type") | split(";") | first == "application/json" and header("X-Tag") == ["a", "b"] and header("X-None") == null`),
		item("COOKIES", `cookie("sid") == "s-9" and cookie("sid", "http_only") and cookie("sid") | split("-") | last == "9" and cookie("none") == null`),
		item("TARGETS", `status | to_string == "200" and body_text | regex("ord-(0+)") == "000" and url | regex("http") == "http"`),
		item("FAILS", `$.ref | regex("ord-(\d+)") == "7"`),
		item("UNKNOWN", `$.ref | regx("a") == "7"`),
		item("NUMBER", `$.n | to_int == 18`),
		item("OPERANDS", `$.ref | nth("a") == "7"`),
		"id: TAKE\ntype: api.http\nrequest: {method: GET, url: "+server.URL+"}\ncapture: {n: {json: $.ref, filter: 'regex(\"0*(\\d+)$\") | to_int'}}\n",
		"id: TAKEN\ntype: api.http\nrequest: {method: GET, url: "+server.URL+", body_json: {n: '${n}'}}\nassert: [{when: '${n} == 42'}]\n",
		"id: NOTHING\ntype: api.http\nrequest: {method: GET, url: "+server.URL+"}\ncapture: {m: {json: $.ref, filter: 'regex(\"z\")'}}\n",
		"id: NEEDS\ntype: api.http\nrequest: {method: GET, url: '"+server.URL+"/${m}'}\n",
	), map[string][]string{OptExpect: nil})
	expect(t, got, "REGEX pass", "SPLIT fail schema", "ITEMS pass", "NUMBERS pass", "URLS pass", "CODED pass", "REPLACED pass", "HEADERS pass",
		"COOKIES pass", "TARGETS pass", "FAILS fail assertion", "UNKNOWN fail schema", "NUMBER fail assertion", "OPERANDS fail schema", "TAKE..TAKEN pass", "NOTHING..NEEDS fail assertion")
	for i, want := range map[int]string{1: "there is no filter upper", 10: `$.ref | regex(\"ord-(\\d+)\") is \"00042\"`, 11: "did you mean regex?", 12: "$.n | to_int is 17", 13: "the filter nth takes a whole number"} {
		if data := string(outcomes[i].Data) + strings.ReplaceAll(strings.ReplaceAll(string(outcomes[i].Attached("because")), `\`, `\\`), `"`, `\"`); !strings.Contains(data, want) {
			t.Errorf("%s lacks %s", data, want)
		}
	}
}

// A body that is a text in JSON is that text; sizes and sums are of the bytes that came; a header of several values is sent
// as often; null in a longer text is null.
func TestBodiesAsTheyAre(t *testing.T) {
	t.Chdir(t.TempDir())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=iso-8859-1")
		fmt.Fprintf(w, "\"h\xe9 %s %s\"", strings.Join(r.Header["X-A"], "+"), r.URL.Query().Get("q"))
	}))
	defer server.Close()
	k := newContract(nil)
	k.targets.HTTP = httpsys.OpenClient
	write(t, "n.json", []byte(`{"n": null}`))
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("\"h\xe9 one+two xnull\"")))
	got, _ := play(t, k, blockDocument(
		"id: N\ntype: text.file\npath: n.json\ncapture: {n: $.n}\n",
		"id: A\ntype: api.http\nrequest: {method: GET, url: '"+server.URL+"?q=x${n}', headers: {X-A: [one, two]}}\ncapture: {all: $}\nassert: [{when: ['$ == \"hé one+two xnull\"', size == 18, 'sha256 == \""+sum+"\"']}]\n",
		"id: B\ntype: api.http\nrequest: {method: GET, url: '"+server.URL+"', headers: {X-A: '${all}'}}\n",
	), nil)
	expect(t, got, "N..B pass")
}

// What accept proposes for conditions is the values that they compare with.
func TestAcceptConditions(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "s.json", []byte(`{"name": "Eve", "n": 3, "list": [1], "ok": true}`))
	doc := "```yaml spec-test\nid: A\ntype: text.file\npath: s.json\nassert:\n" +
		"  - when: $.n == 2\n  - when: '$.name == \"Ada\" and $.ok and len($.list) == 2'\n  - {when: \"$.name == 'x'\"}\n" +
		"  - when: $.n > 5\n  - when: $.n == 1 or $.n == 2\n  - when: $.list == 3\n  - when: $.ok == true\n```\n"
	c := compiled(t, doc)
	p, err := c.Accept(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	mended, err := p.Apply([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"when: $.n == 3\n", `when: '$.name == "Eve" and $.ok and len($.list) == 1'`, `{when: "$.name == \"Eve\""}`} {
		if !strings.Contains(string(mended), want) {
			t.Errorf("%s lacks %s", mended, want)
		}
	}
	if len(p.Left) != 3 || len(p.Changes) != 3 {
		t.Errorf("%v left, %v", p.Left, p.Changes)
	}
}
