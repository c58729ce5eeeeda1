package diag

// JSON is a [Diagnostic] as programs read it.
type JSON struct {
	Code    string `json:"code"`
	Level   string `json:"level"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// JSON is the list as programs read it, never nil.
func (l List) JSON() []JSON {
	out := make([]JSON, len(l))
	for i, d := range l {
		out[i] = JSON{d.Code, d.Level.String(), d.Pos.File, d.Pos.Line, d.Pos.Col, d.Path, d.Message, d.Hint}
	}
	return out
}
