package draft

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fuzzspec"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/seq"
)

// ProgramFacts describes a program.
type ProgramFacts struct {
	Name    string
	Folder  string   // absolute
	Command []string // absolute for words that name files; Mark stands for the input
	Allow   string   // the program, if it is outside the allowed folders
	Seeds   []Seed   // accepted by the program, the first one first
	Made    bool     // the seeds were generated
	Refused int      // number of seeds that the program rejects
	Opened  int      // number of accepted inputs made of words in its binary, if it accepts no generated seed
	Crash   string   // the first given seed on which the program fails, and how
	Slowest time.Duration
	Usual   time.Duration  // usual time for a seed
	Exits   map[int]string // what the program says with each exit code with which it rejects input
	Words   []byte
	// Unsanitized: the program is written in C or C++ and built without a sanitizer.
	Unsanitized bool
	// Guided: the program is instrumented, so inputs that reach new code can be kept. Unguided is why
	// they cannot although it is.
	Guided   bool
	Unguided string
	// Unset are variables that the program names and the caller's environment sets.
	Unset []string
	Lanes int // parallel cases
	// System is the system file of a module that replaces the program; Function is the export that
	// takes the input, "" for standard input.
	System   *campaign.File
	Function string
}

// Limits of a case.
const (
	leastTimeout = 2 * time.Second
	mostTimeout  = 30 * time.Second
	slack        = 50 // multiple of the slowest seed's time

	mostCases = 1_000_000
)

const askSeeds = "what does a small valid input look like? Put one or more in seeds/, or try again with: -- FOLDER"

// Refuse notes that the program refused an input with an exit code, and what it said.
func (f *ProgramFacts) Refuse(code int, said string) {
	if f.Exits == nil {
		f.Exits = make(map[int]string)
	}
	if f.Exits[code] == "" {
		f.Exits[code] = diag.Cut(said, mostSaid)
	}
}

const (
	mostSaid = 80 // bytes of what a program says, in a draft
	fewCodes = 4  // that many exit codes are shown with it
)

// without says which --ok-exit to run with if one of its codes is a failure.
func without(codes []int, code int) string {
	rest := strings.Join(seq.Map(slices.DeleteFunc(slices.Clone(codes), func(c int) bool { return c == code }), strconv.Itoa), ",")
	if rest == "" {
		return "run without --ok-exit"
	}
	return "run with --ok-exit " + rest
}

// DraftProgram returns a FuzzSpec campaign for a program.
func DraftProgram(f *ProgramFacts) *Draft {
	d := &Draft{Format: "fuzzspec", Folder: f.Folder, Document: "fuzzspec.json"}
	command := make([]string, len(f.Command))
	stdin := true
	for i, w := range f.Command {
		stdin = stdin && !strings.Contains(w, Mark)
		command[i] = strings.ReplaceAll(w, Mark, "<input_path>")
	}
	switch {
	case f.Function != "":
		d.why("The input is given to %s, by address and length, in memory from the module's allocator.", f.Function)
	case f.System != nil:
		d.why("The module is a WASI command: it reads the input from standard input.")
	case stdin:
		d.why("The input is given on standard input, as the command has no %s.", Mark)
	}
	if f.System != nil {
		command = []string{"/bin/cat", "<input_path>"} // never started
		d.Files = append(d.Files, *f.System)
		d.option("system", filepath.Join(f.Folder, f.System.Name))
	}
	d.option("mutators", "deep")
	d.why("Run with --mutators deep, which knows numbers, text, brackets, JSON and XML, since flipped bits rarely get past a parser.")
	if f.Allow != "" {
		d.option("allow-exec", f.Allow)
		d.why("The program is outside the system's folders, so --allow-exec names it.")
	}
	if len(f.Exits) > 0 {
		codes := slices.Sorted(maps.Keys(f.Exits))
		d.option("ok-exit", strings.Join(seq.Map(codes, strconv.Itoa), ","))
		if list := strings.Join(seq.Map(codes, strconv.Itoa), ", "); len(codes) > fewCodes {
			d.why("While this was drafted, the program refused damaged inputs with exit codes %s.", list)
			d.askFlag("ok-exit", "are exit codes %s how the program refuses an input? Omit those that are failures.", list)
			codes = nil
		}
		for _, code := range codes {
			said := f.Exits[code]
			if said != "" {
				said = ", for example: " + said
			}
			d.why("While this was drafted, the program refused damaged inputs with exit code %d%s.", code, said)
			d.askFlag("ok-exit", "is exit code %d how the program refuses an input? If it is a failure, %s.", code, without(codes, code))
		}
	}
	if len(f.Words) > 0 {
		d.Files = append(d.Files, campaign.File{Name: "words.dict", Data: f.Words})
		d.option("dict", filepath.Join(f.Folder, "words.dict"))
		d.why("words.dict holds words from the program itself.")
	}
	if f.Unsanitized {
		d.why("It is built without a sanitizer, so overflows show only if they happen to crash: try a build with -g -fsanitize=address,undefined too.")
	}
	if f.Guided {
		d.option("guided", "")
		d.why("It is instrumented: --guided keeps inputs that reach new code and builds on them.")
	} else if f.Unguided != "" {
		d.why("It is instrumented, but what an input reaches cannot be measured: %s.", f.Unguided)
	}
	if len(f.Unset) > 0 {
		d.ask(`"command"`, "does the program need %s, which your environment sets? It gets no variables: put \"/usr/bin/env\", \"%s=VALUE\" before it.", strings.Join(f.Unset, ", "), f.Unset[0])
	}
	if len(f.Seeds) > 1 {
		d.option("corpus", filepath.Join(f.Folder, "seeds"))
	}
	for _, s := range f.Seeds {
		d.Files = append(d.Files, campaign.File{Name: "seeds/" + s.Name, Data: s.Data})
	}
	first := f.Seeds[0]
	switch {
	case f.Made && len(f.Exits) == 0:
		d.why("No seed was given, so seeds are small inputs of common formats; the program refuses none of them.")
		d.ask(`"path"`, askSeeds)
	case f.Opened > 0:
		d.why("No seed was given, and the program refuses small inputs of %d common formats; it accepts inputs made of words that its binary holds.", f.Refused)
		d.ask(`"path"`, askSeeds)
	case f.Made && f.Refused == len(Seeds()):
		d.Doubt = fmt.Sprintf("No seed was given, and the program refuses small inputs of %d common formats, so little of it is tested.", f.Refused)
		d.why("%s", d.Doubt)
		d.ask(`"path"`, askSeeds)
	case f.Made:
		d.why("No seed was given; of small inputs of common formats the program accepts %s.", first.Name)
		d.ask(`"path"`, "is there a better small valid input? Name it in seed.path and remove seed.sha256, or try again with: -- FOLDER")
	case f.Refused > 0:
		d.why("The program refuses %d of the seeds given, which were skipped.", f.Refused)
	}
	if f.Crash != "" {
		d.why("The program fails on a seed: %s.", f.Crash)
	}
	limit := min(max(f.Slowest*slack, leastTimeout), mostTimeout).Round(time.Second)
	cases := caseCount(f.Usual, f.Lanes)
	if f.System != nil {
		cases = mostCases
		d.ask("limits:", "how long may one input take? 200,000,000 instructions are a guess.")
	} else {
		d.why("The slowest seed took %s, so a case may take %s.", f.Slowest.Round(time.Millisecond), limit)
		d.ask(`"timeout_s"`, "how long may one input take? %s is a guess.", limit)
	}
	data := fuzzspec.Draft(fuzzspec.Drafted{
		Name: f.Name, Description: d.describe(), WorkRoot: filepath.Join(f.Folder, "work"), Command: command, Timeout: limit,
		Seed: filepath.Join(f.Folder, "seeds", first.Name), SeedData: first.Data, MediaType: mediaType(first.Name), Cases: cases,
	})
	d.Files = append([]campaign.File{{Name: d.Document, Data: data}}, d.Files...)
	d.Files = append(d.Files, campaign.File{Name: ".gitignore", Data: []byte("/work/\n")}) // what failing cases leave
	return d
}

// caseCount is the number of cases for a run of some minutes, assuming that starting a process
// costs a quarter of what it did for a seed, as with the fast executors.
func caseCount(usual time.Duration, lanes int) int {
	n := int(8*time.Minute/max(usual, 500*time.Microsecond)) * max(lanes, 1)
	for round := 1000; round < mostCases; round *= 10 {
		for _, of := range []int{1, 2, 5} {
			if n <= of*round {
				return of * round
			}
		}
	}
	return mostCases
}

// mediaTypes maps file extensions to the media types that a FuzzSpec names the input's file by.
var mediaTypes = map[string]string{
	".json": "application/json", ".pdf": "application/pdf", ".png": "image/png", ".txt": "text/plain", ".xml": "application/xml",
	".html": "text/html", ".csv": "text/csv", ".gif": "image/gif", ".zip": "application/zip",
}

func mediaType(name string) string {
	if t, ok := mediaTypes[strings.ToLower(filepath.Ext(name))]; ok {
		return t
	}
	return "application/octet-stream"
}
