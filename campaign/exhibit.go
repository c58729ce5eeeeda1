package campaign

// Exhibit is something that a contract shows to people. Exactly one of the value
// fields is set, the one that Kind names. There are no other kinds: terminal, HTML
// and pages draw each kind once, whatever the contract. All text in an exhibit is
// untrusted and is shown as text.
type Exhibit struct {
	Kind  string `json:"kind"` // "text", "table", "matrix", "diff", "bytes", "timeline", "series", "graph" or "document"
	Title string `json:"title"`
	// Brief: text reports of a whole run show it too.
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

// Text is plain text, shown in a fixed-width font.
type Text struct {
	Body      string `json:"body"`
	Truncated bool   `json:"truncated,omitempty"` // the body was cut to a limit
	Marks     []Mark `json:"marks,omitempty"`     // parts to highlight
	// ReportOf names the program or operation that reported its own failure in the body.
	// Findings with equal reports are shown as one. It is not stored.
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
	Focus   []int      `json:"focus,omitempty"`   // rows to highlight, from 0
	// Cases are the indexes of the cases that the rows are about, which pages link to;
	// nil: none. It may be shorter than Rows.
	Cases []*int64 `json:"cases,omitempty"`
}

// Matrix is rates by row and column, each with its count and interval.
type Matrix struct {
	Rows    []string       `json:"rows"`
	Columns []string       `json:"columns"`
	Cells   [][]MatrixCell `json:"cells"` // [row][column]
	// Measures says what the hits count, so that comparisons can tell better from worse:
	// "" for cases that held, otherwise [OfFailures], [OfGuided] or [OfCounts].
	Measures string `json:"measures,omitempty"`
}

// The values of [Matrix].Measures.
const (
	OfFailures = "failures" // fewer are better
	OfGuided   = "guided"   // failures of cases that depend on earlier replies, so the counts of two runs cannot be compared
	OfCounts   = "counts"   // more are neither better nor worse
)

// RowOfAll is the row of a matrix that counts all cases of its campaign.
const RowOfAll = "all"

// MatrixCell is Hits of Total, with the bounds of its interval as rates.
type MatrixCell struct {
	Hits  int64   `json:"hits"`
	Total int64   `json:"total"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Note  string  `json:"note,omitempty"`
	// Case is the index of the case that a page links to: the first that failed, if any;
	// nil: unknown.
	Case *int64 `json:"case,omitempty"`
	// Finding is the id of the finding that contains this case, perhaps not as its
	// first; the run fills it in. "": the case did not fail.
	Finding string `json:"finding,omitempty"`
}

// Diff shows how one text became another, as a sequence of segments.
type Diff struct {
	Segments []Segment `json:"segments"`
}

// Segment is a run of text: Op is "equal", "insert" or "delete".
type Segment struct {
	Op   string `json:"op"`
	Text string `json:"text"`
}

// Bytes is byte strings to compare, such as seed, case and minimized case.
type Bytes struct {
	Rows []BytesRow `json:"rows"`
}

// BytesRow is one byte string. Marks highlight what differs from the first row.
type BytesRow struct {
	Label string `json:"label"`
	Data  []byte `json:"data"`
	Size  int64  `json:"size"` // full length; Data may be a part
	Start int64  `json:"start,omitempty"`
	Marks []Mark `json:"marks,omitempty"` // offsets within Data
}

// Timeline is spans on lanes; Start and End share Unit.
type Timeline struct {
	Unit  string `json:"unit"` // "ms", "step"
	Spans []Span `json:"spans"`
}

// Span is something that happened on a lane; a point in time has Start == End.
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

// Node is a node of a graph.
type Node struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	Hits  int64  `json:"hits"`
}

// Edge is a directed edge of a graph.
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
	// Line is the line to highlight if Name is a source file; 0: the body is Markdown.
	Line int `json:"line,omitempty"`
	// First is the number of the body's first line, if the body is a part of the
	// document; 0: it is the whole.
	First  int     `json:"first,omitempty"`
	Blocks []Block `json:"blocks"`
}

// Block is a range of lines of the body with its verdict. Lines count from 1, and
// both ends are included. A block within another marks a part of it, such as the
// lines that failed.
type Block struct {
	From    int     `json:"from"`
	To      int     `json:"to"`
	Verdict Verdict `json:"verdict"`
	Note    string  `json:"note,omitempty"`
	Case    *int64  `json:"case,omitempty"` // index of the case that gave the verdict, which pages link to; nil: unknown
}

// TextExhibit returns a text as an exhibit.
func TextExhibit(title, body string) Exhibit {
	return Exhibit{Kind: "text", Title: title, Text: &Text{Body: body}}
}

// TableExhibit returns a table as an exhibit.
func TableExhibit(title string, columns []string, rows [][]string) Exhibit {
	return Exhibit{Kind: "table", Title: title, Table: &Table{Columns: columns, Rows: rows}}
}

// BytesExhibit returns byte strings as an exhibit.
func BytesExhibit(title string, rows ...BytesRow) Exhibit {
	return Exhibit{Kind: "bytes", Title: title, Bytes: &Bytes{Rows: rows}}
}

// SeriesExhibit returns lines over an axis as an exhibit.
func SeriesExhibit(title, x, y string, lines ...Line) Exhibit {
	return Exhibit{Kind: "series", Title: title, Series: &Series{XLabel: x, YLabel: y, Lines: lines}}
}
