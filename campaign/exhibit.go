package campaign

// Exhibit is something that a contract wants shown. Exactly one of the value
// fields is set, the one that Kind names. The set of kinds is closed: every
// face (terminal, HTML, web) draws each kind once and knows no contract. All
// text in an exhibit is untrusted and must be shown as text.
type Exhibit struct {
	Kind  string `json:"kind"` // "text", "table", "matrix", "diff", "bytes", "timeline", "series", "graph" or "document"
	Title string `json:"title"`
	// Brief says that text reports of a whole run show it, too.
	Brief bool `json:"brief,omitempty"`

	Text     *Text     `json:"text,omitempty"`
	Table    *Table    `json:"table,omitempty"`
	Matrix   *Matrix   `json:"matrix,omitempty"`
	Diff     *Diff     `json:"diff,omitempty"`
	Bytes    *Bytes    `json:"bytes,omitempty"`
	Timeline *Timeline `json:"timeline,omitempty"`
	Series   *Series   `json:"series,omitempty"`
	Graph    *Graph    `json:"graph,omitempty"`
	Document *Document `json:"document,omitempty"`
}

// Text is plain text, shown in a fixed-width face.
type Text struct {
	Body      string `json:"body"`
	Truncated bool   `json:"truncated,omitempty"` // the body was cut to a cap
	Marks     []Mark `json:"marks,omitempty"`     // parts to point at
	// ReportOf names what failed, such as a program or an operation, if the body is what
	// it reported of its failure. Findings with one report are shown as one. It is not stored.
	ReportOf string `json:"-"`
}

// Mark is a half-open range, in bytes, of the text or byte string it belongs to.
type Mark struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	Kind string `json:"kind"` // "changed", "added", "removed" or "focus"
}

// Table is rows of cells under headings.
type Table struct {
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
	Numeric []bool     `json:"numeric,omitempty"` // per column: align right
	Focus   []int      `json:"focus,omitempty"`   // rows to point at, counted from 0
	// Cases are, per row, the index of the case that the row is about, so that a
	// page can lead to it; nil: none. It may be shorter than Rows.
	Cases []*int64 `json:"cases,omitempty"`
}

// Matrix is rates by row and column, each with its count and interval.
type Matrix struct {
	Rows    []string       `json:"rows"`
	Columns []string       `json:"columns"`
	Cells   [][]MatrixCell `json:"cells"` // [row][column]
	// Measures is what the hits are: "" what held, [OfFailures], [OfGuided] or [OfCounts]. A
	// comparison of runs needs it to know better from worse.
	Measures string `json:"measures,omitempty"`
}

// What the hits of a matrix may be, beside cases that held.
const (
	OfFailures = "failures" // fewer are better
	OfGuided   = "guided"   // failures of cases that earlier replies decided on: the counts of two runs are no samples of the same
	OfCounts   = "counts"   // more are neither better nor worse
)

// MatrixCell is Hits of Total, with the bounds of its interval as rates.
type MatrixCell struct {
	Hits  int64   `json:"hits"`
	Total int64   `json:"total"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Note  string  `json:"note,omitempty"`
	// Case is the index of the case that shows the cell best, so that a page can
	// lead to it: the first that failed if there is one. nil: none is known.
	Case *int64 `json:"case,omitempty"`
}

// Diff is how one text became another, as a sequence of segments.
type Diff struct {
	Segments []Segment `json:"segments"`
}

// Segment is a run of text: Op is "equal", "insert" or "delete".
type Segment struct {
	Op   string `json:"op"`
	Text string `json:"text"`
}

// Bytes is aligned byte strings, such as seed, case and minimized case.
type Bytes struct {
	Rows []BytesRow `json:"rows"`
}

// BytesRow is one byte string. Marks point at what differs from the first row.
type BytesRow struct {
	Label string `json:"label"`
	Data  []byte `json:"data"`
	Size  int64  `json:"size"` // true length; Data may be a part of it
	Start int64  `json:"start,omitempty"`
	Marks []Mark `json:"marks,omitempty"` // offsets within Data
}

// Timeline is spans on lanes; Start and End share Unit.
type Timeline struct {
	Unit  string `json:"unit"` // "ms", "step"
	Spans []Span `json:"spans"`
}

// Span is something that took place on a lane; a point has Start == End.
type Span struct {
	Lane  string  `json:"lane"`
	Label string  `json:"label"`
	Start float64 `json:"start"`
	End   float64 `json:"end"`
	Kind  string  `json:"kind,omitempty"` // "fault", "call", "message", ...
	Note  string  `json:"note,omitempty"`
}

// Series is one or more lines over a shared axis.
type Series struct {
	XLabel string `json:"x_label"`
	YLabel string `json:"y_label"`
	Lines  []Line `json:"lines"`
}

// Line is named points.
type Line struct {
	Name   string       `json:"name"`
	Points [][2]float64 `json:"points"` // [x, y], x not falling
}

// Graph is nodes and directed edges with hit counts.
type Graph struct {
	Nodes []Node `json:"nodes"`
	Edges []Edge `json:"edges"`
}

// Node is a place in a graph.
type Node struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	Hits  int64  `json:"hits"`
}

// Edge is a way from one node to another.
type Edge struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Label string `json:"label,omitempty"`
	Hits  int64  `json:"hits"`
}

// Document is a text with verdicts on ranges of its lines.
type Document struct {
	Name string `json:"name"`
	Body string `json:"body"` // Markdown source
	// Line is the line that matters of a source file Name, counted as First counts;
	// 0: the body is Markdown.
	Line int `json:"line,omitempty"`
	// First is the number of the body's first line, if it is a part of a longer
	// document; 0: it is the whole.
	First  int     `json:"first,omitempty"`
	Blocks []Block `json:"blocks"`
}

// Block is a range of lines of the body, counted from 1, both ends included, with its verdict. One
// within another points at a part of it, such as what failed.
type Block struct {
	From    int     `json:"from"`
	To      int     `json:"to"`
	Verdict Verdict `json:"verdict"`
	Note    string  `json:"note,omitempty"`
	Case    *int64  `json:"case,omitempty"` // index of the case that gave the verdict, so that a page can lead to it; nil: unknown
}

// TextExhibit, TableExhibit, BytesExhibit and SeriesExhibit build exhibits of
// the common kinds.
func TextExhibit(title, body string) Exhibit {
	return Exhibit{Kind: "text", Title: title, Text: &Text{Body: body}}
}

// TableExhibit builds a table exhibit.
func TableExhibit(title string, columns []string, rows [][]string) Exhibit {
	return Exhibit{Kind: "table", Title: title, Table: &Table{Columns: columns, Rows: rows}}
}

// BytesExhibit builds a bytes exhibit.
func BytesExhibit(title string, rows ...BytesRow) Exhibit {
	return Exhibit{Kind: "bytes", Title: title, Bytes: &Bytes{Rows: rows}}
}

// SeriesExhibit builds a series exhibit.
func SeriesExhibit(title, x, y string, lines ...Line) Exhibit {
	return Exhibit{Kind: "series", Title: title, Series: &Series{XLabel: x, YLabel: y, Lines: lines}}
}
