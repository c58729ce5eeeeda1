package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// A frame is of the file that the trace ends in, below the folder alone.
func TestFrames(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Repeat("line\n", 8) + "boom\nafter\n"
	put("work/src/main.py", lines)
	put("work/src/parse.py", lines)
	put("work/src/parse.go", lines)
	put("work/src/parse.js", lines)
	put("work/src/main/java/org/shop/Rates.java", lines)
	put("work/.env", lines)
	put("work/spec/doc.yaml", "a: 1\nfunctions:\n  close: {after: 1}\nrules:\n  - {id: no-orders, after: x}\n  - turns:\n    - one\n    - expect: [x]\n")
	put("outside/lib.py", lines)
	if err := os.Symlink(filepath.Join(dir, "outside", "lib.py"), filepath.Join(dir, "work", "link.py")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(dir, "work"))
	for _, x := range []struct{ name, title, text, want string }{
		{"python, innermost", "", "Traceback\n  File \"src/main.py\", line 3\n  File \"src/parse.py\", line 9, in parse\nZeroDivisionError", "src/parse.py:9"},
		{"python, through a library", "", "  File \"src/parse.py\", line 9, in parse\n  File \"/usr/lib/python3/json.py\", line 1", "src/parse.py:9"},
		{"go", "", "panic: x\n\ngoroutine 1:\n\t/usr/go/panic.go:12 +0x1\n\tsrc/parse.go:9 +0x1f", "src/parse.go:9"},
		{"node, thrown again", "", "src/parse.js:2\n  throw e;\n  ^\n\nTypeError: x\n    at Array.map (<anonymous>)\n    at parse (src/parse.js:9:3)\n    at src/parse.js:2:1\n    at node:internal/main:2:1", "src/parse.js:9"},
		{"node, without a function", "", "TypeError: x\n    at file://" + filepath.Join(dir, "work", "src", "parse.js") + ":9:3", "src/parse.js:9"},
		{"java", "", "Exception in thread \"main\" x\n\tat Parse.one(src/parse.js:9)\n\tat Parse.main(src/parse.js:2)", "src/parse.js:9"},
		{"java, in a package", "", "Exception in thread \"main\" x\n\tat java.base/java.util.List.get(List.java:4)\n\tat org.shop.Rates.of(Rates.java:9)\n\tat org.shop.Main.main(Main.java:2)", "src/main/java/org/shop/Rates.java:9"},
		{"where a variable is defined", "", "ERROR: AddressSanitizer: global-buffer-overflow\n    #0 0x1 in parse (a+0x1)\n\n0x1 is located 0 bytes after global variable 'name' defined in 'src/parse.go:9:13' (0x2) of size 8", ""},
		{"absolute", "", filepath.Join(dir, "work", "src", "parse.go") + ":9:4: error", "src/parse.go:9"},
		{"outside", "", "  File \"" + filepath.Join(dir, "outside", "lib.py") + "\", line 9", ""},
		{"climbing", "", "../outside/lib.py:9", ""},
		{"by a link", "", "link.py:9", ""},
		{"hidden", "", "  File \".env\", line 9", ""},
		{"behind its end", "", "src/parse.go:99", ""},
		{"pointer", "", "$.functions.close", "spec/doc.yaml:3"},
		{"an item", "", "$.rules[1].turns[1].expect[0]", "spec/doc.yaml:8"},
		{"an item that is gone", "", "$.rules[1].turns[2]", ""},
		{"named in the title", "no-orders does not hold", "x", "spec/doc.yaml:5"},
		{"a name after a word that is a key", "called after a failure (no-orders in calm)", "x", "spec/doc.yaml:5"},
		{"a key", "close after all", "x", "spec/doc.yaml:3"},
		{"quoted in the title", `the reply "no-orders" is wrong`, "x", ""},
		{"a key of the format", "the rules say so", "x", ""},
		{"nothing", "it fell", "x", ""},
	} {
		f := campaign.Finding{Title: x.title, Evidence: []campaign.Exhibit{campaign.TextExhibit("stderr", x.text)}}
		got := ""
		for _, e := range New().framer().frames(filepath.Join("spec", "doc.yaml"), &f) {
			got = strings.TrimPrefix(e.Title, "Source: ")
			if line := strings.Split(e.Document.Body, "\n")[e.Document.Line-e.Document.First]; strings.HasSuffix(got, ":9") && line != "boom" {
				t.Errorf("%s: the frame's line is %q", x.name, line)
			}
		}
		if got != x.want {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
}

func TestOrigin(t *testing.T) {
	const one, two = "1111111111111111111111111111111111111111", "2222222222222222222222222222222222222222"
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("loose/.git/HEAD", "ref: refs/heads/main\n")
	put("loose/.git/refs/heads/main", one+"\n")
	put("loose/deep/x", "")
	put("packed/.git/HEAD", "ref: refs/heads/feature/x\n")
	put("packed/.git/packed-refs", "# pack-refs\n"+two+" refs/heads/feature\n"+one+" refs/heads/feature/x\n")
	put("detached/.git/HEAD", two+"\n")
	put("tree/.git", "gitdir: ../loose/.git/worktrees/tree\n")
	put("loose/.git/worktrees/tree/HEAD", "ref: refs/heads/side\n")
	put("loose/.git/worktrees/tree/commondir", "../..\n")
	put("loose/.git/refs/heads/side", two+"\n")
	put("odd/.git/HEAD", "ref: ../../../secret\n")
	github := map[string]string{
		"GITHUB_SERVER_URL": "https://github.example", "GITHUB_REPOSITORY": "a/b", "GITHUB_RUN_ID": "7", "GITHUB_HEAD_REF": "topic",
	}
	for _, x := range []struct {
		folder, commit, branch, ci string
		env                        map[string]string
	}{
		{"loose/deep", one, "main", "", nil},
		{"packed", one, "feature/x", "", nil},
		{"detached", two, "", "", nil},
		{"detached", two, "topic", "https://github.example/a/b/actions/runs/7", github},
		{"tree", two, "side", "", nil},
		{"odd", "", "", "", nil},
		{"odd", one, "v1", "", map[string]string{"CI_COMMIT_SHA": one, "CI_COMMIT_REF_NAME": "v1"}},
		{"loose", one, "main", "", map[string]string{"GITHUB_SHA": two}},
		{"loose", one, "main", "https://ci.example/job/3", map[string]string{"CI_JOB_URL": "https://me:pass@ci.example/job/3?token=x"}},
		{"loose", one, "main", "", map[string]string{"BUILD_URL": "javascript:alert(1)"}},
	} {
		t.Run(x.folder, func(t *testing.T) {
			t.Chdir(filepath.Join(dir, filepath.FromSlash(x.folder)))
			a := New()
			a.Getenv = func(name string) string { return x.env[name] }
			o := a.origin()
			if o.Commit != x.commit || o.Branch != x.branch || o.CI != x.ci {
				t.Errorf("got %+v, want %+v", *o, x)
			}
		})
	}
}
