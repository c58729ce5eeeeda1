package lsp

// The types below are the supported part of the Language Server Protocol 3.17, under its names.

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"` // in UTF-16 units
}

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI   string `json:"uri"`
	Range span   `json:"range"`
}

type document struct {
	URI     string `json:"uri"`
	Version int    `json:"version"`
	Text    string `json:"text"`
}

type at struct {
	Document document `json:"textDocument"`
	Position position `json:"position"`
	Range    span     `json:"range"`
	Query    string   `json:"query"`
}

type changed struct {
	Document document `json:"textDocument"`
	Changes  []struct {
		Range *span  `json:"range"`
		Text  string `json:"text"`
	} `json:"contentChanges"`
}

type initialize struct {
	RootURI      string `json:"rootUri"`
	Folders      []struct{ URI string }
	Capabilities struct {
		Window struct {
			ShowDocument struct{ Support bool } `json:"showDocument"`
		}
		Workspace struct {
			CodeLens struct{ RefreshSupport bool } `json:"codeLens"`
		}
	}
}

type diagnostic struct {
	Range    span      `json:"range"`
	Severity int       `json:"severity"`
	Code     string    `json:"code"`
	Source   string    `json:"source"`
	Message  string    `json:"message"`
	Related  []related `json:"relatedInformation,omitempty"`
}

type related struct {
	Location location `json:"location"`
	Message  string   `json:"message"`
}

type textEdit struct {
	Range   span   `json:"range"`
	NewText string `json:"newText"`
}

type completion struct {
	Label         string   `json:"label"`
	Kind          int      `json:"kind"` // 10: Property, 12: Value
	Detail        string   `json:"detail,omitempty"`
	Documentation string   `json:"documentation,omitempty"`
	SortText      string   `json:"sortText"`
	TextEdit      textEdit `json:"textEdit"`
}

type hover struct {
	Contents markup `json:"contents"`
	Range    span   `json:"range"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

type codeAction struct {
	Title       string        `json:"title"`
	Kind        string        `json:"kind"`
	Diagnostics []diagnostic  `json:"diagnostics"`
	IsPreferred bool          `json:"isPreferred"`
	Edit        workspaceEdit `json:"edit"`
}

type workspaceEdit struct {
	Changes map[string][]textEdit `json:"changes"`
}

type codeLens struct {
	Range   span    `json:"range"`
	Command command `json:"command"`
}

type command struct {
	Title     string `json:"title"`
	Command   string `json:"command"`
	Arguments []any  `json:"arguments"`
}

type symbol struct {
	Name     string   `json:"name"`
	Kind     int      `json:"kind"`
	Location location `json:"location"`
}

// The commands of lenses, with their arguments.
const (
	runCommand  = "thresh.run"     // URI
	caseCommand = "thresh.runCase" // URI, name of the case
	showCommand = "thresh.show"    // FINDING
	goCommand   = "thresh.goto"    // FINDING
)

func capabilities(version string) map[string]any {
	return map[string]any{
		"capabilities": map[string]any{
			"positionEncoding":        "utf-16",
			"textDocumentSync":        map[string]any{"openClose": true, "change": 2, "save": true},
			"completionProvider":      map[string]any{"triggerCharacters": []string{"\"", " ", ":", "-"}},
			"hoverProvider":           true,
			"definitionProvider":      true,
			"workspaceSymbolProvider": true,
			"codeActionProvider":      map[string]any{"codeActionKinds": []string{"quickfix"}},
			"codeLensProvider":        map[string]any{"resolveProvider": false},
			"executeCommandProvider":  map[string]any{"commands": []string{runCommand, caseCommand, showCommand, goCommand}},
		},
		"serverInfo": map[string]any{"name": "thresh", "version": version},
	}
}
