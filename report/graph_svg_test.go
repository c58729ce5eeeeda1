package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// A drawing that stands alone is XML of one svg element, whatever the labels hold.
func TestGraphSVG(t *testing.T) {
	g := &campaign.Graph{
		Nodes: []campaign.Node{{ID: "a", Label: `<open> & "shut"`, Hits: 3}, {ID: "b", Label: "]]>"}},
		Edges: []campaign.Edge{{From: "a", To: "b", Label: "<", Hits: 1}},
	}
	var b bytes.Buffer
	if err := GraphSVG(&b, &campaign.Exhibit{Kind: "graph", Title: "P & Q", Graph: g}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.String(), `<svg xmlns="http://www.w3.org/2000/svg"`) {
		t.Errorf("begins with %.60s", b.String())
	}
	for d := xml.NewDecoder(&b); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
