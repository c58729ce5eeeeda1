package app

import (
	"os/exec"
	"runtime"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/system/command"
)

// Finding out what a machine offers: [App.Doctor].

// Provision is something that a machine provides to runs, or lacks.
type Provision struct {
	Group string `json:"group"`
	Name  string `json:"name"`
	Have  bool   `json:"have"`
	// Detail is the location or a description or, if it is missing, its purpose.
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // how to provide what is missing
}

// tools lists programs that some documents need.
var tools = []struct{ name, purpose, fix string }{
	{"python3", "operators in Python, systems of kind python", "Debian: apt install python3; macOS: brew install python3"},
	{"node", "drivers and agents in JavaScript", "Debian: apt install nodejs; macOS: brew install node"},
	{"cc", "targets that are compiled from C", "Debian: apt install gcc libc6-dev; macOS: xcode-select --install"},
	{"clang", "thresh fuzzspec cc, targets with sanitizers", "Debian: apt install clang libclang-rt-14-dev"},
	{"afl-clang-fast", "guided campaigns", "Debian: apt install afl++"},
	{"sh", "transcripts and command lines", "every Unix has one"},
}

// Doctor returns what this machine provides, in a fixed order.
func (*App) Doctor() ([]Provision, error) {
	granted, refused, err := command.Containment()
	if err != nil {
		return nil, err
	}
	var list []Provision
	for _, g := range granted {
		list = append(list, Provision{Group: "sandbox", Name: g, Have: true})
	}
	for _, r := range refused {
		name, why := r, ""
		if at := strings.LastIndex(r, " ("); at > 0 {
			name, why = r[:at], r[at+2:]
		}
		fix := "run as root, or let users make namespaces: sysctl kernel.unprivileged_userns_clone=1"
		switch {
		case runtime.GOOS != "linux" || runtime.GOARCH != "amd64":
			fix = "run in a container or a virtual machine with Linux on amd64"
		case strings.HasPrefix(why, "cgroup:"):
			why = diag.FirstLine(why) // all controllers are refused for the same reason
			fix = "run as root, or with a control group that may be written to: systemd-run --user --scope -p Delegate=yes thresh ..."
		}
		list = append(list, Provision{Group: "sandbox", Name: name, Detail: strings.TrimSuffix(why, ")"), Fix: fix})
	}
	for _, t := range tools {
		path, err := exec.LookPath(t.name)
		p := Provision{Group: "program", Name: t.name, Have: err == nil, Detail: path}
		if err != nil {
			p.Detail, p.Fix = "for "+t.purpose, t.fix
		}
		list = append(list, p)
	}
	return list, nil
}
