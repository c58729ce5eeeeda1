package spectest

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// Setup runs once for the cases of a document, however many lanes run them, and
// teardown behind the last of them.
func TestSetup(t *testing.T) {
	if _, err := lookPython(); err != nil || runtime.GOOS == "windows" {
		t.Skip("serves files with python3")
	}
	t.Chdir(t.TempDir())
	doc := "```text file=served/a.txt\nfrom the page\n```\n" +
		transcript(" setup background ready=$PORT\n$ cd served && exec python3 -m http.server $PORT --bind 127.0.0.1\n",
			" setup capture=\"word=\"\n$ echo up >> \"${PAGE%/*}/log\"; echo w-$((6*7))\n<hex>...\n") +
		"```yaml spec-test\nid: HTTP\ntype: api.http\nrequest: {method: GET, url: \"http://${ADDRESS}/a.txt\"}\nassert: [{when: status == 200}, {target: body_text, must: [{contain: [from the page]}]}]\n```\n" +
		"```yaml spec-test\nid: CLI\ntype: cli.run\nharness: {entrypoint: \"cat ${FOLDER}/served/a.txt\", env: {W: \"${word}\"}}\nassert: [{target: stdout, must: [{contain: [page]}]}]\n```\n" +
		"```yaml spec-test\nid: FAILS\ntype: cli.run\nharness: {entrypoint: \"echo ${ADDRESS} ${FOLDER} ${word}\"}\nassert: [{target: stdout, must: [{contain: [w-43]}]}]\n```\n" +
		transcript(" teardown\n$ echo down >> \"${PAGE%/*}/log\"\n")
	doc = strings.Replace(doc, "<hex>...\n", "w-42\n", 1)
	c := soleCampaign(t, doc, nil)
	s := c.Open(nil)
	one, err := s.Executor(t.Context(), campaign.Lane{Of: 2})
	if err != nil {
		t.Fatal(err)
	}
	other, err := s.Executor(t.Context(), campaign.Lane{Index: 1, Of: 2})
	if err != nil {
		t.Fatal(err)
	}
	got := c.resultsBy(t, other)
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	for i, want := range []string{"pass", "pass", "fail assertion"} {
		if got[i].verdict() != want {
			t.Errorf("%s: %s, want %s: %s", got[i].ID, got[i].verdict(), want, got[i].Message)
		}
	}
	o, err := one.Execute(t.Context(), &state{}, campaign.Case{Index: 2})
	if err != nil {
		t.Fatal(err)
	}
	if text := string(o.Attached("stdout")); text != "${ADDRESS} ${FOLDER} w-42\n" {
		t.Errorf("what differs from run to run is kept: %q", text)
	}
	if err := errors.Join(one.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	if log, _ := os.ReadFile("log"); string(log) != "up\ndown\n" {
		t.Errorf("setup and teardown have written %q", log)
	}
	if n := len(c.doc.transcripts); n != 0 {
		t.Errorf("the blocks are %d cases as well", n)
	}
}

// Where setup fails no case has a verdict.
func TestSetupThatFails(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("runs a POSIX shell")
	}
	t.Chdir(t.TempDir())
	one := "```yaml spec-test\nid: A\ntype: cli.run\nharness: {entrypoint: \"true\"}\n```\n"
	for name, c := range map[string][2]string{
		"an exit code":   {" setup\n$ false\n", `setup, line 2: expected "$ false" to end with exit status 0, not 1`},
		"another output": {" setup\n$ echo a\nb\n", `setup, line 2: expected "$ echo a" to print what the page shows`},
		"a tool":         {" setup needs=no-such-tool\n$ true\n", "needs no-such-tool"},
		"a capture":      {" setup capture=\"a=$.x\"\n$ echo 1\n", "nothing at $.x"},
		"a service":      {" setup background ready=$PORT timeout=2s\n$ exit 3\n", "the background block ended with exit status 3"},
	} {
		x, err := campaign.Solo(t.Context(), soleCampaign(t, transcript(c[0])+one, nil), campaign.Lane{Of: 1})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := x.Execute(t.Context(), &state{}, campaign.Case{}); err == nil || !strings.Contains(err.Error(), c[1]) {
				t.Errorf("%s: %v, want %s", name, err, c[1])
			}
		}
		if err := x.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	x, err := campaign.Solo(t.Context(), soleCampaign(t, transcript(" teardown\n$ exit 4\n")+one, nil), campaign.Lane{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	if o, err := x.Execute(t.Context(), &state{}, campaign.Case{}); err != nil || o.Verdict != campaign.VerdictPass {
		t.Errorf("%+v %v", o, err)
	}
	if err := x.Close(); err == nil || !strings.Contains(err.Error(), "teardown, line 2") {
		t.Errorf("a teardown that fails: %v", err)
	}
}
