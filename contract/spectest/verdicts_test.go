package spectest

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	httpsys "github.com/thresh-dev/thresh/system/http"
)

// refused is the address of a server that is down.
func refused(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

// soleCampaign is the campaign of a document.
func soleCampaign(t *testing.T, doc string, options map[string][]string) *Campaign {
	t.Helper()
	return campaignAt(t, "a.spec.md", doc, options)
}

func campaignAt(t *testing.T, path, doc string, options map[string][]string) *Campaign {
	t.Helper()
	if options == nil {
		options = map[string][]string{}
	}
	k := newContract(nil)
	k.targets.HTTP = httpsys.OpenClient
	camps, list := k.Compile(t.Context(), campaign.Spec{Path: path, Data: []byte(doc)}, campaign.Settings{Options: options})
	if list.HasErrors() || len(camps) != 1 {
		t.Fatal(list)
	}
	c, _ := campaign.As[*Campaign](camps[0])
	return c
}

// outcomes runs the cases of a campaign one after the other; what could not be
// run is an error outcome, as the runner makes it.
func outcomes(t *testing.T, c *Campaign) []campaign.Outcome {
	t.Helper()
	e, err := campaign.Solo(t.Context(), c, campaign.Lane{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var list []campaign.Outcome
	for i := range c.slots {
		o, err := e.Execute(t.Context(), &state{}, campaign.Case{Index: int64(i)})
		if err != nil {
			o = campaign.Outcome{Verdict: campaign.VerdictError, Title: err.Error()}
		}
		list = append(list, o)
	}
	return list
}

func folded(c *Campaign, list []campaign.Outcome) *state {
	return c.Fold(c.Start(campaign.Facts{}), func(yield func(campaign.Case, campaign.Outcome) bool) {
		for i, o := range list {
			if !yield(campaign.Case{Index: int64(i)}, o) {
				return
			}
		}
	})
}

func TestServerThatIsDownIsNoFinding(t *testing.T) {
	url := refused(t)
	doc := blockDocument("- {id: A, type: api.http, request: {method: GET, url: '"+url+"/a'}}\n"+
		"- {id: B, type: api.http, request: {method: POST, url: '"+url+"/b'}}\n"+
		"- {id: C, type: text.file, assert: [{target: text, must: [{contain: [id]}]}]}\n", `
id: D
type: text.file
requires: {capabilities: [no.such], when_missing: skip}
`)
	t.Chdir(t.TempDir())
	c := soleCampaign(t, doc, nil)
	list := outcomes(t, c)
	e, err := campaign.Solo(t.Context(), c, campaign.Lane{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for i := range int64(2) { // nothing was sent, so each may be tried again, also the second
		if _, err := e.Execute(t.Context(), &state{}, campaign.Case{Index: i}); !campaign.IsTransient(err) {
			t.Errorf("case %d is not tried again: %v", i, err)
		}
	}
	var verdicts []string
	for _, o := range list {
		verdicts = append(verdicts, o.Verdict.String())
	}
	expect(t, verdicts, "error", "error", "pass", "skip")
	expect(t, folded(c, list).unread) // the run names cases without a verdict
	if list[0].Title != "nothing answers at "+url+": the connection was refused" {
		t.Errorf("the error of A: %q", list[0].Title)
	}
	if why := c.skipReason(campaign.Case{Index: 3}, &list[3]); why != "this runner has no capability no.such" {
		t.Errorf("the skip of D: %q", why)
	}
	c = soleCampaign(t, doc, map[string][]string{OptExpect: {"true"}}) // conformance compares what came of it
	r, _ := c.Result(0, &outcomes(t, c)[0])
	if r.verdict() != "fail runtime" {
		t.Errorf("judged by expectation: %s", r.verdict())
	}
}

func TestRequestsThatChangeThingsAreNotRepeated(t *testing.T) {
	c := soleCampaign(t, blockDocument(`
- {id: GET, type: api.http, request: {method: get, url: "http://localhost/"}}
- {id: POST, type: api.http, request: {method: POST, url: "http://localhost/"}}
- {id: DELETE, type: api.http, request: {method: delete, url: "http://localhost/"}}
- {id: SAFE, type: api.http, harness: {repeatable: true}, request: {method: PUT, url: "http://localhost/"}}
- {id: ONCE, type: api.http, harness: {repeatable: false}, request: {method: GET, url: "http://localhost/"}}
- {id: FILE, type: api.http, request: {method: POST, url: "a.json"}}
- {id: DEPLOYS, type: cli.run, harness: {entrypoint: "true", repeatable: false}}
- {id: LISTS, type: cli.run, harness: {entrypoint: "true"}}
`), nil)
	var got []string
	for i := range c.slots {
		if why := c.unrepeatable(campaign.Case{Index: int64(i)}); why != "" {
			got = append(got, c.Case(int64(i)).ID+": "+why)
		}
	}
	expect(t, got, "POST: POST may change what it reaches; harness.repeatable: true allows sending it again",
		"DELETE: DELETE may change what it reaches; harness.repeatable: true allows sending it again",
		"ONCE: the case says that it is not repeatable", "DEPLOYS: the case says that it is not repeatable")
}

func TestIsolatedCasesAndSharedFolders(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "data/in.txt", []byte("in"))
	past := time.Now().Add(-time.Minute)
	if err := os.Chtimes("data/in.txt", past, past); err != nil {
		t.Fatal(err)
	}
	doc := blockDocument(`
id: SHARED
type: cli.run
harness: {entrypoint: sh -c 'echo x >> data/log; exit 1'}
`, `
id: ISOLATED
type: cli.run
harness: {entrypoint: sh -c 'cat data/in.txt; echo y > data/own; rm data/in.txt; exit 1', isolate: true}
`, `
id: READS
type: cli.run
harness: {entrypoint: sh -c 'cat data/in.txt; exit 1'}
`, `
id: WRITES
type: cli.run
harness: {entrypoint: sh -c 'echo x >> data/log'}
`, `
id: READS-AGAIN
type: cli.run
harness: {entrypoint: 'false'}
`)
	c := soleCampaign(t, doc, nil)
	list := outcomes(t, c)
	if got := string(list[0].Attached(changedNote)); got != "data/log" {
		t.Errorf("SHARED changed %q", got)
	}
	text := c.Describe(nil, campaign.Case{}, list[0], nil)[0].Text.Body
	if !strings.Contains(text, "note:     the folder that commands share changed while it ran: data/log (isolate: true gives a case a copy)") {
		t.Error(text)
	}
	if got := string(list[1].Attached("stdout")); got != "in" || list[1].Attached(changedNote) != nil {
		t.Errorf("ISOLATED saw %q", got)
	}
	files, err := filepath.Glob("data/*")
	if err != nil || !slices.Equal(files, []string{"data/in.txt", "data/log"}) {
		t.Errorf("the shared folder holds %q %v", files, err)
	}
	for _, o := range list[2:] {
		if o.Attached(changedNote) != nil || o.Attached(meanwhileNote) != nil {
			t.Errorf("a case that only reads changed %q %q", o.Attached(changedNote), o.Attached(meanwhileNote))
		}
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "thresh-*"))
	if err != nil || slices.ContainsFunc(left, func(p string) bool { _, err := os.Stat(filepath.Join(p, "data/own")); return err == nil }) {
		t.Errorf("the copy is still there: %q %v", left, err)
	}
}

func TestFailureTexts(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "ada.txt", []byte("Ada\n"))
	write(t, "long.txt", []byte("one\ntwo\nthree\n"))
	write(t, "price.json", []byte(`{"items":[{"price":"3","id":1.0}],"more":null}`))
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	for _, c := range []struct{ name, path, leaf, want string }{
		{"a line feed", "ada.txt", `evaluate: [[eq, [subject], Ada]]`, "expected: text to satisfy [\"eq\",[\"subject\"],\"Ada\"]\n" +
			"actual:   \"Ada\\n\"\ndiffers:  the actual text ends with \"\\n\", the expected one does not\n"},
		{"several lines", "long.txt", `evaluate: [[eq, [subject], "one\n2\nthree\n"]]`, "--- expected\n+++ actual\n@@ -1,3 +1,3 @@\n one\n-2\n+two\n three\n"},
		{"no last line end", "long.txt", `evaluate: [[eq, [subject], "one\ntwo\nthree"]]`, "-three\n\\ No newline at end of file\n+three\n"},
		{"case", "ada.txt", `evaluate: [[eq, [trim, [subject]], ADA]]`, "differs:  in upper and lower case alone\n"},
		{"JSON", "price.json", `evaluate: [[eq, [json_parse, [subject]], [json_parse, '{"items": [{"id": 1, "price": 3}], "less": 1}']]]`,
			"differs:  at $.items[0].price: expected 3, actual \"3\"\n          at $.less: expected 1, there is no such key\n" +
				"          at $.more: null, which is not expected\n--- expected\n"},
		{"no JSON", "ada.txt", `when: $.name == "Ada"`, "because:  text is not JSON: 1:1: unexpected 'A', expected a value\nactual:   \"Ada\\n\"\n"},
		{"a number that is a text", "price.json", `when: "$.items[0].price == 3"`, "because:  $.items[0].price is \"3\"\n"},
		{"a pattern", "ada.txt", `regex: ['^\d+ "x"$']`, `expected: text to match "^\d+ "x"$"` + "\n"},
		{"a long text", "ada.txt", `contain: [Bob]`, "actual:   \"Ada\\n\"\n"},
	} {
		camp := soleCampaign(t, blockDocument("id: X\ntype: text.file\npath: "+c.path+"\nassert: [{target: text, must: [{"+c.leaf+"}]}]\n"), nil)
		o := outcomes(t, camp)[0]
		shown := camp.Describe(nil, campaign.Case{}, o, nil)
		if text := shown[0].Text.Body; !strings.Contains(text, c.want) {
			t.Errorf("%s:\n%s\nwant in it\n%s", c.name, text, c.want)
		} else if strings.HasPrefix(c.want, "because:  $") && strings.Contains(text, "actual:") {
			t.Errorf("%s says the value twice:\n%s", c.name, text)
		}
		for _, e := range shown {
			if e.Document != nil && e.Document.First != 1 {
				t.Errorf("%s: the block begins on line %d", c.name, e.Document.First)
			}
		}
	}
}

// Where a transcript's difference cannot be seen in the lines that changed, words say it.
func TestPageTexts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("runs a POSIX shell")
	}
	t.Chdir(t.TempDir())
	camp := soleCampaign(t, transcript("\n$ echo b; echo a\na\nb\n$ printf 'x\\302\\240y\\n'\nx y\n$ echo 1\n2\n"), nil)
	text := camp.Describe(nil, campaign.Case{}, outcomes(t, camp)[0], nil)[0].Text.Body
	for _, want := range []string{
		"echo a\ndiffers: in line 1: expected \"a\\n\", actual \"b\\n\"\n-",
		`240y\n'` + "\n" + `differs: in line 1: in blanks and invisible characters alone: "x y\n" and "x\u00a0y\n"` + "\n-",
		"echo 1\n-2\n+1\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s\nwant in it\n%s", text, want)
		}
	}
}

func TestFiltersNameWhatThereIs(t *testing.T) {
	for text, want := range map[string]string{
		"tga=quick": "did you mean tag?", "colour=red": "known are id, type, tag, title",
		"title=a=b": "", "A-1": "", "^x=1$": "", "tag=quick": "", "1=2": "",
	} {
		_, err := parseFilter(text)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestRequestsAsCurl(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/a", http.StatusFound)
			return
		}
		http.NotFound(w, r)
	}))
	defer s.Close()
	t.Chdir(t.TempDir())
	write(t, "in/body.txt", []byte("the body"))
	write(t, "in/p.txt", []byte("a part"))
	for _, c := range []struct{ request, curl, sent string }{ // sent: a part of the request as it went
		{"method: post, url: 'AT/a', headers: {X-Api-Key: secret-value, A: it's}, body_json: {b: 1}",
			"-L 'AT/a' \\\n  -H 'X-Api-Key: ...' \\\n  -H 'A: it'\\''s' \\\n  -H 'Content-Type: application/json' \\\n  --data-binary '{\"b\":1}'", "\n\n{\"b\":1}\n"},
		{"method: put, url: 'AT/a b?c[]=1', body_text: '@a'", "-L -X PUT -g 'AT/a%20b?c[]=1' \\\n  -H 'Content-Type:' \\\n  --data-raw '@a'", "\n\n@a\n"},
		{"method: get, url: 'AT/a', redirects: 3", "-L -X GET 'AT/a' --max-redirs 3", "GET AT/a\n"},
		{"method: head, url: 'AT/a', redirects: false", "-I 'AT/a'", "HEAD AT/a\n"},
		{"method: post, url: 'AT/a', proxy: none", "-L -X POST 'AT/a' --noproxy '*'", "POST AT/a\n"},
		{"method: post, url: 'AT/moved', body_file: body.txt", "-L 'AT/moved' --data-binary '@in/body.txt' \\\n  -H 'Content-Type:'", "\n\nthe body\n\nredirected to AT/a\n"},
		{"method: put, url: 'AT/a', multipart: {f: {file: p.txt}, at: '@p.txt', o: {text: 'a;type=\"b\"', type: text/csv}}",
			"-L -X PUT 'AT/a' \\\n  -F 'f=@in/p.txt' \\\n  -F 'at=\"@p.txt\"' \\\n  -F 'o=\"a;type=\\\"b\\\"\";type=text/csv'", "\r\n\r\na part\r\n"},
	} {
		here := strings.NewReplacer("AT", s.URL).Replace
		doc := here(blockDocument("id: A\ntype: api.http\nrequest: {" + c.request + "}\nassert: [{target: status, must: [{contain: ['200']}]}]\n"))
		o := outcomes(t, campaignAt(t, "in/case.spec.md", doc, nil))[0]
		if got, want := string(o.Attached("request")), "curl -i "+here(c.curl)+"\n"; got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
		if got := string(o.Attached(sentNote)); !strings.Contains(got, here(c.sent)) {
			t.Errorf("%q does not show %q", got, here(c.sent))
		}
		if answer := string(o.Attached("answer")); !strings.HasPrefix(answer, "status 404\n") {
			t.Error(answer)
		}
	}
}
