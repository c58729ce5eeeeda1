package spectest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	httpsys "github.com/thresh-dev/thresh/system/http"
)

// shop is a service whose tokens differ from login to login.
func shop(t *testing.T) (url string, seen *[]string) {
	seen = new([]string)
	logins := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*seen = append(*seen, r.Method+" "+r.URL.Path)
		token := fmt.Sprintf("token-%08d", logins)
		switch {
		case r.URL.Path == "/login":
			logins++
			w.Header().Set("X-Trace", "trace/7")
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: "s1"})
			fmt.Fprintf(w, `{"access": "token-%08d", "user": {"id": 12}}`, logins)
		case r.Header.Get("Authorization") != "Bearer "+token:
			w.WriteHeader(http.StatusUnauthorized)
		default:
			var body struct{ User any }
			_ = json.NewDecoder(r.Body).Decode(&body)
			fmt.Fprintf(w, `{"order": "A-1", "user": %v, "cookie": %q, "token": %q}`, body.User, r.Header.Get("Cookie"), token)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, seen
}

const flow = `
id: LOGIN
type: api.http
request: {method: POST, url: "${base}/login"}
harness: {repeatable: true}
capture:
  token: $.access
  user: $.user.id
  sid: {cookie: sid}
  trace: {header: X-Trace}
  number: {regex: '"id": (\d+)'}
`

const placing = `
id: PLACE
type: api.http
request:
  method: POST
  url: "${base}/orders"
  headers: {Authorization: "Bearer ${token}", Cookie: "sid=${sid}"}
  body_json: {user: "${user}"}
harness: {repeatable: true}
capture: {order: $.order}
assert:
  - target: body_json
    must: [{evaluate: [[eq, [get, [subject], user], 12]]}]
  - target: body_text
    must: [{contain: ["sid=s1", "${number}"]}]
`

const looking = `
id: LOOK
type: api.http
tags: [look]
request: {method: GET, url: "${base}/orders/${order}", headers: {Authorization: "Bearer ${token}"}}
assert: [{target: body_text, must: [{contain: [MISSING]}]}]
`

const cleaning = `
id: CLEAN
type: api.http
request: {method: DELETE, url: "${base}/orders/${order}", headers: {Authorization: "Bearer ${token}"}}
harness: {always: true, repeatable: true}
assert: [{target: status, must: [{contain: ["200"]}]}]
`

const alone = "id: ALONE\ntype: text.file\nassert: [{target: text, must: [{contain: ['$${token}']}]}]\n"

func TestChainsOfCaptures(t *testing.T) {
	t.Chdir(t.TempDir())
	url, seen := shop(t)
	k := newContract(nil)
	k.targets.HTTP = httpsys.OpenClient
	doc := blockDocument(flow, alone, placing, looking, cleaning)
	got, outcomes := play(t, k, doc, map[string][]string{"var": {"base=" + url}})
	expect(t, got, "LOGIN..CLEAN fail assertion", "ALONE pass")
	expect(t, *seen, "POST /login", "POST /orders", "GET /orders/A-1", "DELETE /orders/A-1")
	o := outcomes[0]
	if want := `a.spec.md:42 LOOK: expected body_text to contain "MISSING"`; o.Title != want {
		t.Errorf("got %q, want %q", o.Title, want)
	}
	steps := string(o.Attached(chainNote))
	for _, want := range []string{"LOGIN  holds, captures token, user, sid, trace, number", "PLACE  holds, captures order", "LOOK  fails", "CLEAN  holds"} {
		if !strings.Contains(steps, want) {
			t.Errorf("no %q in\n%s", want, steps)
		}
	}
	all, _ := json.Marshal(o)
	if strings.Contains(string(all), "token-0") || !strings.Contains(string(o.Attached("answer")), "${token}") {
		t.Errorf("the token is kept: %s", all)
	}
	if request := string(o.Attached("request")); !strings.Contains(request, "'"+url+"/orders/A-1'") {
		t.Errorf("a value that the caller gave is no longer in %s", request)
	}
	again, more := play(t, k, doc, map[string][]string{"var": {"base=" + url}})
	if expect(t, again, got...); string(more[0].Data) != string(o.Data) {
		t.Errorf("another run keeps something else: %s\n%s", o.Data, more[0].Data)
	}
}

// A name that is close to a known one gets a warning, whoever gives the known one its value.
func TestNamesOfVariables(t *testing.T) {
	t.Chdir(t.TempDir())
	use := func(text string) string {
		return blockDocument("id: A\ntype: cli.run\nharness: {entrypoint: echo}\nargv: ['" + text + "']\n")
	}
	setup := transcript(" setup capture=token=$.a\n$ true\n")
	for _, c := range []struct{ doc, want string }{
		{use("${bsae} ${HOME} ${base}"), "did you mean base?"}, {use("${HOME} $${bsae}"), ""}, {setup + use("${TOKEM}"), "did you mean token?"},
		{setup + use("${PORT} ${port} ${token}"), ""},
	} {
		_, list := newContract(nil).Compile(t.Context(), campaign.Spec{Path: "a.spec.md", Data: []byte(c.doc)},
			campaign.Settings{Options: map[string][]string{optVar: {"base=x", "port=1"}}})
		got := ""
		for _, d := range list {
			got += d.Hint
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.doc, got, c.want)
		}
	}
}

// A chain is not run again if one of its cases may change something; it says which.
func TestChainThatIsNotRepeated(t *testing.T) {
	t.Chdir(t.TempDir())
	get := "id: A\ntype: api.http\nrequest: {method: GET, url: 'http://x/'}\ncapture: {v: $.v}\n"
	post := "id: B\ntype: api.http\nrequest: {method: POST, url: 'http://x/${v}'}\ncapture: {w: $.w}\n"
	last := "id: C\ntype: api.http\nrequest: {method: DELETE, url: 'http://x/${w}'}\n"
	for _, c := range []struct{ doc, want string }{
		{blockDocument(get, post, last), "B: POST may change what it reaches; harness.repeatable: true allows sending it again"},
		{blockDocument(get, post+"harness: {repeatable: true}\n", last+"harness: {repeatable: true}\n"), ""},
	} {
		expect(t, []string{soleCampaign(t, c.doc, nil).unrepeatable(campaign.Case{})}, c.want)
	}
}

// A value that is not there is a failure, also where no other case asks for it.
func TestCaptureThatNobodyUses(t *testing.T) {
	t.Chdir(t.TempDir())
	url, _ := shop(t)
	k := newContract(nil)
	k.targets.HTTP = httpsys.OpenClient
	for what, want := range map[string]string{"$.access": "LOGIN pass", "$.acces": "LOGIN fail assertion", "{header: X-Trac}": "LOGIN fail assertion", "{cookie: sid}": "LOGIN pass"} {
		got, _ := play(t, k, blockDocument("id: LOGIN\ntype: api.http\nrequest: {method: POST, url: \"${base}/login\"}\nharness: {repeatable: true}\ncapture: {token: "+what+"}\n"), map[string][]string{"var": {"base=" + url}})
		if !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
}

// What a case captures stays out of what is kept of it, also if the case fails itself, by a
// check or by its exit code, and whether another case asks for the value or not.
func TestCaptureOfACaseThatFails(t *testing.T) {
	t.Chdir(t.TempDir())
	first := "id: A\ntype: cli.run\nharness: {entrypoint: sh}\nargv: [-c, 'echo key t-$((123456*1000))-x; exit EXIT']\n" +
		"capture: {k: {regex: 'key (\\S+)'}}\nassert: [{target: stdout, must: [{contain: [WANTED]}]}]\n"
	second := "id: B\ntype: cli.run\nharness: {entrypoint: echo}\nargv: ['${k}']\n"
	for name, with := range map[string]*strings.Replacer{"a check": strings.NewReplacer("EXIT", "0", "WANTED", "lock"), "an exit": strings.NewReplacer("EXIT", "3", "WANTED", "key")} {
		for _, doc := range []string{blockDocument(with.Replace(first)), blockDocument(with.Replace(first), second)} {
			got, outcomes := play(t, newContract(nil), doc, nil)
			if len(got) != 1 || !strings.HasSuffix(got[0], "fail assertion") {
				t.Errorf("%s: %s", name, got)
			}
			for _, e := range outcomes[0].Evidence {
				if strings.Contains(string(e.Data), "t-123456000-x") {
					t.Errorf("%s: %s shows what is captured:\n%s", name, e.Name, e.Data)
				}
			}
		}
	}
}

// A filter takes what a case needs, and what cleans up.
func TestFilterTakesTheChain(t *testing.T) {
	t.Chdir(t.TempDir())
	url, seen := shop(t)
	k := newContract(nil)
	k.targets.HTTP = httpsys.OpenClient
	doc := blockDocument(flow, alone, placing, strings.Replace(looking, "MISSING", "A-1", 1), cleaning)
	for filter, want := range map[string][]string{
		"tag=look": {"LOGIN..CLEAN pass"}, "id=LOGIN": {"LOGIN pass"}, "id=ALONE": {"ALONE pass"}, "id=NONE": nil,
	} {
		*seen = nil
		got, _ := play(t, k, doc, map[string][]string{"var": {"base=" + url}, "filter": {filter}})
		if expect(t, got, want...); filter == "id=LOGIN" && len(*seen) != 1 {
			t.Errorf("%s asks for %v", filter, *seen)
		}
	}
	_, list := k.Compile(t.Context(), campaign.Spec{Path: "a.spec.md", Data: []byte(doc)}, ofFiles(map[string][]string{"var": {"base=x"}, "filter": {"tag=look"}}))
	if !strings.Contains(list.Error(), "--filter also selects LOGIN, PLACE, CLEAN") {
		t.Errorf("got %v", list)
	}
	var shares []string
	for _, shard := range []string{"1/2", "2/2"} {
		got, _ := play(t, k, doc, map[string][]string{"var": {"base=" + url}, "shard": {shard}})
		shares = append(shares, got...)
	}
	slices.Sort(shares)
	expect(t, shares, "ALONE pass", "LOGIN..CLEAN pass")
}

func TestVariablesOfFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "v.yaml", []byte("n: 3\nname: Ada\nkey: {env: SHOP_KEY}\n"))
	write(t, "v.env", []byte("\ufeff# comment\nexport other='two words'\nname=Bob\n"))
	k := newContract(map[string]string{"SHOP_KEY": "hunter2hunter2"})
	doc := blockDocument("id: A\ntype: text.file\nassert:\n- {target: text, must: [{evaluate: [[eq, '${n}', 3]]}, {evaluate: [[eq, \"${name} ${other} ${unset}\", 'Cy two words ${unset}']]}]}\n",
		"id: B\ntype: text.file\nassert: [{target: text, must: [{contain: ['${key}!']}]}]\n")
	got, outcomes := play(t, k, doc, map[string][]string{"var": {"name=Cy"}, "var-file": {"v.yaml", "v.env"}})
	expect(t, got, "A pass", "B fail assertion")
	if all, _ := json.Marshal(outcomes); strings.Contains(string(all), "hunter2") || !strings.Contains(outcomes[1].Title, "${key}!") {
		t.Errorf("got %s", all)
	}
	for wrong, options := range map[string]map[string][]string{
		"must be NAME=VALUE":     {"var": {"=x"}},
		"the environment has no": {"var": {"THRESH_NOT_SET"}},
		"no-such-file":           {"var-file": {"no-such-file"}},
	} {
		if _, list := k.Compile(t.Context(), campaign.Spec{Path: "a.spec.md", Data: []byte(doc)}, ofFiles(options)); !strings.Contains(list.Error(), wrong) {
			t.Errorf("got %v, want %s", list, wrong)
		}
	}
}

// A value that a document sends as a credential is a secret, wherever it comes from.
func TestVariablesOfCredentials(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "v.env", []byte("session=hunter2hunter2\n"))
	k := newContract(nil)
	doc := blockDocument("id: A\ntype: text.file\nassert: [{target: text, must: [{contain: ['${session}! ${place}!']}]}]\n# headers: {Authorization: \"Bearer ${session}\"}\n")
	got, outcomes := play(t, k, doc, map[string][]string{"var": {"place=Reykjavik"}, "var-file": {"v.env"}})
	expect(t, got, "A fail assertion")
	if all, _ := json.Marshal(outcomes); strings.Contains(string(all), "hunter2") || !strings.Contains(outcomes[0].Title, "${session}! Reykjavik!") {
		t.Errorf("got %s", all)
	}
}

func TestPagesHandValuesOn(t *testing.T) {
	t.Chdir(t.TempDir())
	k := newContract(map[string]string{"PAGE_KEY": "hunter2hunter2"})
	page := func(shown string) string {
		return "```console run capture=\"token=$.access,id=/order ([0-9]+), /\"\n$ echo '{\"access\": \"t-'$$'\", \"x\": \"order 7, 8\"}'\n{\"access\": \"${token}\", [..]\n```\n\n" +
			"```console run\n$ echo \"$token for $id by $NAME\"\n" + shown + "\n$ echo key ${PAGE_KEY}\nkey ${PAGE_KEY}\n```\n"
	}
	options := map[string][]string{"var": {"NAME=Ada", "PAGE_KEY"}}
	got, _ := play(t, k, strings.Replace(page("${token} for 7 by Ada"), `"${token}", [..]`, `"t-[..]`, 1), options)
	expect(t, got, "transcript pass")
	got, outcomes := play(t, k, strings.Replace(page("${token} for 8 by Ada"), `"${token}", [..]`, `"t-[..]`, 1), options)
	expect(t, got, "transcript fail assertion")
	if steps := string(outcomes[0].Attached(stepsNote)); !strings.Contains(steps, "+${token} for 7 by Ada") || strings.Contains(steps, "hunter2") {
		t.Errorf("got %s", steps)
	}
	got, outcomes = play(t, k, "```console run capture=\"x=$.a\"\n$ echo '{}'\n{}\n```\n", nil)
	if expect(t, got, "transcript fail assertion"); !strings.Contains(outcomes[0].Title, "nothing at $.a") {
		t.Errorf("got %s", outcomes[0].Title)
	}
}

// What fails behind the failure of a chain is shown beside it, and a case without a result does not
// hide it. Cases with one id are findings of their own.
func TestFailuresBesideAnother(t *testing.T) {
	t.Chdir(t.TempDir())
	file := "type: text.file\npath: a.txt\nassert: [{target: text, must: [{contain: [nope]}]}]\n"
	always := "harness: {always: true, after: A}\n"
	write(t, "a.txt", []byte("text\n"))
	c := soleCampaign(t, blockDocument("id: A\n"+file, "id: B\n"+file+always,
		"id: C\ntype: api.http\nrequest: {method: GET, url: \"http://127.0.0.1:1/\"}\n"+always, "id: D\n"+file, "id: D\n"+file, "id: D\n"+file), nil)
	x, err := campaign.Solo(t.Context(), c, campaign.Lane{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	var got []string
	for i := range c.slots {
		o, err := x.Execute(t.Context(), &state{}, campaign.Case{Index: int64(i)})
		if err != nil || o.Verdict != campaign.VerdictFail {
			t.Fatalf("case %d: %+v, %v", i, o, err)
		}
		got = append(got, o.Signature)
		if i > 0 {
			continue
		}
		if text := besides(besideFailures(o)); text != "also:     line 12 B: expected text to contain \"nope\"\n" {
			t.Errorf("beside the failure: %q", text)
		}
		if log := string(o.Attached(chainNote)); !strings.Contains(log, "\na.spec.md:16 C  no result: nothing answers") {
			t.Errorf("the chain's log:\n%s", log)
		}
	}
	if want := []string{"A|assert[0].must[0]", "D|assert[0].must[0]", "D|assert[0].must[0]|2", "D|assert[0].must[0]|3"}; !slices.Equal(got, want) {
		t.Errorf("signatures %q, want %q", got, want)
	}
}
