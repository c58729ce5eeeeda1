package fresnelfir_test

import (
	"os"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/contracttest"
	"github.com/thresh-dev/thresh/contract/fresnelfir"
)

func read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// faulty is the example with faults of its own: a withdrawn article is not
// locked, readers may publish, and a postcondition that does not hold.
func faulty(t testing.TB) string {
	t.Helper()
	text := read(t, "../../examples/fresnelfir/article.json")
	for _, e := range [][2]string{
		{`, { "target": ["article", "locked"], "value": true }`, ``},
		{`["and", ["is", "actor", "Editor"], ["eq", ["field", "article", "state"], "review"]]`, `["eq", ["field", "article", "state"], "review"]`},
		{`"postcondition": ["eq", ["field", "article", "state"], "live"]`, `"postcondition": ["eq", ["field", "article", "state"], "draft"]`},
	} {
		if !strings.Contains(text, e[0]) {
			t.Fatalf("the example does not hold %s", e[0])
		}
		text = strings.Replace(text, e[0], e[1], 1)
	}
	return text
}

func TestContract(t *testing.T) {
	text := faulty(t)
	contracttest.Run(t, contracttest.Fixture{
		Contract:   fresnelfir.New(nil),
		Spec:       campaign.Spec{Path: "article.json", Data: []byte(text)},
		Findings:   3,
		UnknownKey: campaign.Spec{Path: "article.json", Data: []byte(strings.Replace(text, `"epoch_size"`, `"epochsize"`, 1))},
	})
}
