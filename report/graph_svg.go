package report

import (
	"bytes"
	"fmt"
	"io"

	"github.com/thresh-dev/thresh/campaign"
)

// graphStyle is what the pages' style sheet says of drawings, for one that
// stands alone.
const graphStyle = `<style>text{font:13px sans-serif;fill:#1f2328;text-anchor:middle}.edge-label{text-anchor:start;font-size:11px;stroke:#fff;stroke-width:4px;paint-order:stroke}.end{text-anchor:end}polygon{fill:#57606a}rect{fill:#f6f8fa;stroke:#57606a}.never rect{stroke-dasharray:4 3;fill:#fff}path{fill:none;stroke:#57606a}</style>`

// GraphSVG draws a graph exhibit as a drawing of its own.
func GraphSVG(w io.Writer, e *campaign.Exhibit) error {
	parts, err := Parts()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := parts.ExecuteTemplate(&b, "graph", DrawExhibit(e).Graph); err != nil {
		return fmt.Errorf("drawing %s: %w", e.Title, err)
	}
	from, to := bytes.Index(b.Bytes(), []byte("<svg")), bytes.Index(b.Bytes(), []byte("</svg>"))
	if from < 0 || to < from {
		return fmt.Errorf("drawing %s: the graph is too large to draw", e.Title)
	}
	drawing := b.Bytes()[from : to+len("</svg>")]
	open := bytes.IndexByte(drawing, '>') + 1
	_, err = fmt.Fprintf(w, "<svg xmlns=\"http://www.w3.org/2000/svg\"%s%s%s\n", drawing[len("<svg"):open], graphStyle, drawing[open:])
	return err
}
