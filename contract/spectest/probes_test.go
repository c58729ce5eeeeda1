package spectest

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/port/pyhost"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
	"github.com/thresh-dev/thresh/system/command"
	"github.com/thresh-dev/thresh/system/driver"
	"github.com/thresh-dev/thresh/system/program"
	"github.com/thresh-dev/thresh/system/python"
	"github.com/thresh-dev/thresh/system/scratch"
)

// probe is one case as the Python runner judged it.
type probe struct {
	Label    string                     `json:"label"`
	Suite    string                     `json:"suite"`
	Case     json.RawMessage            `json:"case"`
	Doc      string                     `json:"doc_text"`
	Files    map[string]json.RawMessage `json:"files"`
	Env      map[string]string          `json:"env"`
	Status   string                     `json:"status"`
	Category *string                    `json:"category"`
	Message  *string                    `json:"message"`
}

// deviations are the probes that are judged otherwise on purpose: by label, the
// result and the reason.
var deviations = map[string][2]string{
	"json_type nonjson":           {"fail assertion", "text that is not JSON is of no JSON type: an assertion that does not hold"},
	"json_type nonjson in cannot": {"pass", "as above, and so cannot holds"},
	"main None":                   {"pass", "a function that returns nothing ends well, as every Python program does"},
	"SystemExit() want1":          {"fail assertion", "SystemExit without a code is exit code 0 in Python"},
	"raise ValueError":            {"fail runtime", "an exception of the program under test is not a fault of the case, whatever its class"},
	"env \"\" is tmp?":            {"fail assertion", "only values that name a setup file are rewritten"},
	"ep no colon":                 {"fail runtime", "an entrypoint without a colon is a command line"},
	"assert_health bad ignored":   {"fail schema", "assertion health is the same for all types"},
}

func TestProbes(t *testing.T) {
	data, err := os.ReadFile("testdata/probes.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Cases []probe }
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	sut, err := os.ReadFile("testdata/sut.py")
	if err != nil {
		t.Fatal(err)
	}
	_, noPython := lookPython()
	shared := &sharedPython{}
	defer shared.close(t)
	for _, p := range all.Cases {
		t.Run(p.Suite+"/"+p.Label, func(t *testing.T) {
			if p.Suite == "cli_run" && noPython != nil {
				t.Skipf("needs python3: %v", noPython)
			}
			root := t.TempDir()
			docs := filepath.Join(root, "docs")
			write(t, filepath.Join(root, ".git", "HEAD"), nil)
			write(t, filepath.Join(docs, "x.spec.md"), []byte(p.Doc))
			write(t, filepath.Join(root, "sut.py"), sut)
			write(t, filepath.Join(root, "j.json"), []byte(`{"a":1}`))
			for name, content := range p.Files {
				write(t, filepath.Join(docs, name), fileContent(t, content))
			}
			t.Chdir(root)
			text := strings.ReplaceAll(string(p.Case), "@SCRATCH@", root)
			k := newContract(p.Env)
			k.targets.Python = shared.open
			got := k.one(t, "docs/x.spec.md", p.Doc, text)
			want := p.Status
			if p.Category != nil {
				want += " " + *p.Category
			}
			if d, ok := deviations[p.Label]; ok {
				if got.verdict() == want {
					t.Fatalf("is judged as the reference does; the deviation (%s) is idle", d[1])
				}
				want = d[0]
			}
			if got.verdict() != want {
				t.Errorf("%s, want %s\nmessage %q\nwanted  %q", got.verdict(), want, got.Message, str(p.Message))
			}
			for _, token := range tokens(str(p.Message)) {
				if p.Status == got.Status && !strings.Contains(got.Message, token) {
					t.Errorf("message %q lacks %q", got.Message, token)
				}
			}
		})
	}
}

// tokens are the parts of a message that documents look for.
func tokens(message string) []string {
	if !strings.HasPrefix(message, "[") {
		return nil
	}
	head, _, _ := strings.Cut(strings.TrimPrefix(message, "["), "]")
	if !strings.HasPrefix(head, "case_id=") {
		return nil
	}
	words := strings.Fields(head)
	return words[:min(len(words), 2)]
}

func str(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func fileContent(t *testing.T, raw json.RawMessage) []byte {
	t.Helper()
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []byte(text)
	}
	var b struct {
		Hex string `json:"bytes_hex"`
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		t.Fatal(err)
	}
	data, err := hex.DecodeString(b.Hex)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// contract is one with an environment of its own.
type contract struct{ *Contract }

func newContract(env map[string]string) contract {
	systems := system.New(map[sut.Kind]system.Kind{sut.Driver: driver.Open})
	k := New(Targets{Commands: command.Open, Python: python.OpenCommander, Systems: systems.Open, Scratch: tempFolder, Room: scratch.Room, FreePort: program.FreePort})
	k.getenv = func(name string) string {
		if v, ok := env[name]; ok {
			return v
		}
		if strings.HasPrefix(name, "SPEC_RUNNER_") {
			return ""
		}
		return os.Getenv(name)
	}
	k.environ = func() []string {
		list := os.Environ()
		for name, v := range env {
			list = append(list, name+"="+v)
		}
		return list
	}
	return contract{k}
}

func (r Result) verdict() string { return strings.TrimSpace(r.Status + " " + r.Category) }

// one runs a single case, given as JSON, of a document whose text is doc.
func (k contract) one(t *testing.T, path, doc, text string) Result {
	t.Helper()
	set := campaign.Settings{Options: map[string][]string{}}
	s, list := decodeSettings(set, k.getenv)
	if len(list) > 0 {
		t.Fatal(list)
	}
	body := newDocument("case.spec.json", []byte(text))
	d := newDocument(path, []byte(doc))
	c := k.Contract.campaign(d, s)
	c.held, c.keeps = map[int32][]decoded{0: body.decodeUnit(0, s)}, new(int64)
	for i := range c.held[0] {
		c.slots = append(c.slots, slot{item: int32(i)})
	}
	return c.results(t)[0]
}

// results runs all cases of a campaign.
func (c *Campaign) results(t *testing.T) []Result {
	t.Helper()
	x, err := campaign.Solo(t.Context(), c, campaign.Lane{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}()
	return c.resultsBy(t, x)
}

// resultsBy are those of all cases, executed on one lane.
func (c *Campaign) resultsBy(t *testing.T, x campaign.Executor[*state]) []Result {
	t.Helper()
	var list []Result
	for i := range c.slots {
		o, err := x.Execute(t.Context(), &state{}, campaign.Case{Index: int64(i)})
		if err != nil {
			t.Fatalf("case %d: %v", i, err)
		}
		r, ok := c.Result(int64(i), &o)
		if !ok {
			t.Fatalf("case %d: no result: %+v", i, o)
		}
		list = append(list, r)
	}
	return list
}

// sharedPython is one host for many campaigns, as each case is a process of its
// own.
type sharedPython struct{ pyhost.Commander }

func (s *sharedPython) open(_ context.Context, path string) (pyhost.Commander, error) {
	if s.Commander == nil {
		c, err := python.OpenCommander(context.Background(), path)
		if err != nil {
			return nil, err
		}
		s.Commander = c
	}
	return s, nil
}

// Close leaves the host open for the next campaign.
func (s *sharedPython) Close() error { return nil }

func (s *sharedPython) close(t *testing.T) {
	if s.Commander == nil {
		return
	}
	if err := s.Commander.Close(); err != nil {
		t.Error(err)
	}
}

func lookPython() (string, error) { return exec.LookPath("python3") }
