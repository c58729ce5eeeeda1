package crash

import (
	"slices"
	"strings"
)

// readNode reads an uncaught JavaScript error in the forms of node, deno and
// browser engines. Of nested causes the last is the root.
func readNode(t text) (report, bool) {
	top := nodeTop(t) // what comes before it is only what the program printed
	first := max(top, 0)
	for first < len(t.lines) && !nodeFrameLine(t.lines[first]) {
		first++
	}
	if first == len(t.lines) {
		return nodeValue(t, top)
	}
	head := first
	if top >= 0 && !strings.HasPrefix(t.lines[top], "[") { // brackets are around errors without frames
		head = top
	} else {
		for head > max(top, 0) && head > first-8 {
			head--
			if kind, _ := nodeHead(strings.TrimLeft(t.lines[head], " ")); kind != "" {
				break
			}
		}
	}
	for j := first; j < len(t.lines); j++ {
		if strings.HasPrefix(strings.TrimLeft(t.lines[j], " "), "[cause]: ") && slices.ContainsFunc(t.lines[j+1:min(j+9, len(t.lines))], nodeFrameLine) {
			head = j
		}
	}
	kind, msg := nodeHead(strings.TrimPrefix(strings.TrimLeft(t.lines[head], " "), "[cause]: "))
	if kind == "" && head == top {
		kind, msg = nodeOther(t.lines[top])
	}
	if kind == "" {
		return report{}, false
	}
	if _, reason, ok := strings.Cut(msg, "was not handled with .catch(). The promise rejected with the reason \""); ok {
		msg = strings.TrimSuffix(reason, "\".") // the thrown value is not an Error
	}
	j := head + 1
	for j < len(t.lines) && !nodeFrameLine(t.lines[j]) {
		j++
	}
	var all []string
	place, owner := "", ""
	for ; j < len(t.lines) && nodeFrameLine(t.lines[j]) && len(all) < maxScan; j++ {
		f := nodeFrame(t.lines[j])
		if all = append(all, f); place == "" {
			if place = nodePlace(t.lines[j]); place != "" {
				owner = f
			}
		}
	}
	r := exception(kind, msg, ownFrames(all, func(string) bool { return false }))
	r.place, r.owner = place, owner
	// A SyntaxError has the source line in its stack, so a program that catches it prints that too.
	if top >= 0 && kind != "SyntaxError" || t.lastPrefix("Node.js v") >= j {
		r.ends = nodeEnds
	}
	return r, true
}

// nodeTop returns the first line of the error with which node ended, or -1: node prints
// a place, its source line, a mark below it and an empty line before the error.
func nodeTop(t text) int {
	for i := len(t.lines) - 3; i >= 2; i-- {
		if nodeMark(t, i) && t.lines[i+1] == "" {
			if _, line, ok := cutLast(t.lines[i-2], ":"); ok && allDigits(line) {
				return i + 2
			}
		}
	}
	return -1
}

// nodeMark reports whether a line marks a place in the line before it.
func nodeMark(t text, i int) bool {
	s := strings.TrimSpace(t.lines[i])
	return s != "" && strings.Trim(s, "^") == ""
}

// nodeOther splits the first line of an error without a usual name: of a class that a
// bundler renamed, or in brackets because it has no stack.
func nodeOther(s string) (kind, msg string) {
	if rest, ok := strings.CutPrefix(s, "["); ok {
		s = strings.TrimSuffix(strings.TrimSuffix(rest, " {"), "]")
	}
	if kind, msg = nodeHead(s); kind != "" {
		return kind, msg
	}
	kind, msg, _ = strings.Cut(s, ": ")
	if name, _, _ := strings.Cut(kind, " ["); !pythonName(strings.ReplaceAll(name, "$", "_")) {
		return "Error", s
	}
	return kind, msg
}

// nodeValue reads the end by what has no stack: the place and its line, a mark below
// it, the value, or an empty line and the error at line top, and node's version.
func nodeValue(t text, top int) (report, bool) {
	for i := max(2, top-2); i+1 < len(t.lines); i++ {
		if !nodeMark(t, i) || t.lastPrefix("Node.js v") < i {
			continue
		}
		var frames []string
		if place := nodePlace(t.lines[i-2]); place != "" {
			frames = []string{place}
		}
		kind, msg := "uncaught value", t.lines[i+1]
		if i+2 == top {
			kind, msg = nodeOther(t.lines[top])
		}
		r := exception(kind, msg, frames)
		r.ends = nodeEnds
		return r, true
	}
	return report{}, false
}

// nodeEnds are the exit codes after an uncaught error, and after an error in the
// handler of such errors.
var nodeEnds = []int{1, 7}

// nodeHead splits "TypeError: words" and "AssertionError [ERR_ASSERTION]: words".
func nodeHead(s string) (kind, msg string) {
	s = strings.TrimPrefix(s, "Uncaught ")
	kind, msg, _ = strings.Cut(s, ": ")
	name, _, _ := strings.Cut(kind, " [")
	if name == "" || name[0] < 'A' || name[0] > 'Z' || !pythonName(strings.ReplaceAll(name, "$", "_")) {
		return "", ""
	}
	return kind, msg
}

func nodeFrameLine(s string) bool {
	s = strings.TrimLeft(s, " ")
	if !strings.HasPrefix(s, "at ") {
		return false
	}
	s = strings.TrimSuffix(strings.TrimRight(s, " {"), ")")
	if strings.HasSuffix(s, "(<anonymous>") || strings.HasSuffix(s, "(native") {
		return true
	}
	_, line, ok := sourcePlace(strings.ReplaceAll(s[strings.LastIndexByte(s, ' ')+1:], "(", ""))
	return ok && line != ""
}

// nodeFrame names a frame by its function or, if that has no name, by its file;
// frames of the engine itself have no name.
func nodeFrame(s string) string {
	s = strings.TrimPrefix(strings.TrimLeft(strings.TrimRight(s, " {"), " "), "at ")
	s = strings.TrimPrefix(s, "async ")
	name, place, ok := cutLast(s, " (")
	if !ok {
		name, place = "", s
	}
	place = strings.TrimSuffix(place, ")")
	if strings.HasPrefix(place, "node:") || strings.HasPrefix(place, "internal/") {
		return ""
	}
	name, _, _ = strings.Cut(name, " [as ")
	name, _, _ = strings.Cut(name, " (eval at ")
	file := place
	if f, _, ok := sourcePlace(place); ok {
		file = f
	}
	switch {
	case name == "" || name == "<anonymous>" || name == "Object.<anonymous>" || strings.HasSuffix(name, ".<anonymous>"):
		return file
	}
	return clip(name, 120)
}

// nodePlace returns the file, line and column of a frame of the program's own. The
// column matters because a bundler puts a whole program into one line.
func nodePlace(s string) string {
	s = strings.TrimSuffix(strings.TrimRight(s, " {"), ")")
	if i := strings.LastIndexAny(s, " ("); i >= 0 {
		s = s[i+1:]
	}
	if strings.HasPrefix(s, "node:") || strings.HasPrefix(s, "internal/") || strings.Contains(s, "/node_modules/") {
		return ""
	}
	file, line, ok := sourcePlace(s)
	if !ok {
		return ""
	}
	place := file + ":" + line
	if rest, column, _ := cutLast(s, ":"); strings.HasSuffix(rest, ":"+line) {
		place += ":" + column
	}
	return place
}

// readRuby reads
//
//	tool.rb:3:in `parse': undefined method `foo' for nil (NoMethodError)
//		from tool.rb:8:in `main'
func readRuby(t text) (report, bool) {
	for i, s := range t.lines {
		if !strings.HasSuffix(s, ")") || !strings.Contains(s, ":in ") {
			continue
		}
		_, rest, ok := rubyFrame(s)
		if !ok {
			continue
		}
		msg, kind, ok := cutLast(strings.TrimPrefix(rest, ": "), " (")
		kind = strings.TrimSuffix(kind, ")")
		if !ok || !pythonName(strings.ReplaceAll(kind, "::", ".")) {
			continue
		}
		r := exception(kind, msg, nil)
		frames := append([]string{s}, rubyCallers(t.lines[i+1:])...)
		var all, own []string
		for k, s := range frames {
			place, _, _ := strings.Cut(s, ":in ")
			f, _, _ := rubyFrame(s)
			if len(all) == 0 && k+1 < len(frames) && strings.HasPrefix(frames[k+1], place+":in ") {
				if next, _, _ := rubyFrame(frames[k+1]); next != f {
					continue // raised by a function written in C, which has the place of its caller
				}
			}
			all = append(all, f)
			if strings.Contains(place, "/lib/ruby/") || strings.Contains(place, "/gems/") || strings.HasPrefix(place, "<internal:") {
				continue
			}
			if own = append(own, f); r.place == "" {
				if file, line, ok := sourcePlace(place); ok {
					r.place = file + ":" + line
				}
			}
		}
		if len(own) == 0 {
			own = all
		}
		r.frames = own
		r.ends = []int{1}
		return r, true
	}
	return report{}, false
}

// maxAside is how many lines may separate what was raised from its callers: the
// rest of the message, hints, and the source line with marks.
const maxAside = 32

// rubyCallers returns the frames below the first one.
func rubyCallers(lines []string) (frames []string) {
	for j, s := range lines {
		s, ok := strings.CutPrefix(strings.TrimSpace(s), "from ")
		if !ok && strings.HasPrefix(s, "... ") || !ok && len(frames) == 0 && j < maxAside {
			continue
		}
		if _, _, is := rubyFrame(s); !ok || len(frames) == maxScan {
			break
		} else if is {
			frames = append(frames, s)
		}
	}
	return frames
}

// rubyFrame reads file:line:in `function' and returns what follows it.
func rubyFrame(s string) (frame, rest string, ok bool) {
	place, rest, ok := strings.Cut(s, ":in ")
	if !ok || len(rest) < 2 || rest[0] != '`' && rest[0] != '\'' {
		return "", "", false
	}
	file, _, ok := sourcePlace(place)
	if !ok {
		return "", "", false
	}
	name, rest, ok := strings.Cut(rest[1:], "'")
	for _, p := range [...]string{"block in ", "rescue in ", "ensure in "} {
		name = strings.TrimPrefix(name, p)
	}
	return clip(file+":"+name, 120), rest, ok
}

// readPHP reads a fatal error of PHP, with the stack of an exception if there is
// one.
func readPHP(t text) (report, bool) {
	for i, line := range t.lines {
		s, ok := strings.CutPrefix(line, "PHP Fatal error:  ")
		if !ok {
			if s, ok = strings.CutPrefix(line, "Fatal error: "); !ok {
				if s, ok = strings.CutPrefix(line, "PHP Parse error:  "); !ok {
					continue
				}
			}
		}
		place := ""
		if m, p, ok := cutLast(s, " in /"); ok {
			s, place = m, "/"+p
		}
		rest, uncaught := strings.CutPrefix(s, "Uncaught ")
		if !uncaught {
			if place == "" || !strings.Contains(place, " on line ") && !strings.Contains(place, ":") {
				continue // not PHP's form
			}
			r := report{class: ClassException, kind: "php fatal error: " + stem(s), ends: phpEnds}
			if strings.HasPrefix(s, "Allowed memory size") {
				r = report{class: ClassMemoryLimit, kind: "php out of memory", volatile: true, ends: phpEnds}
			} else {
				file, line, _ := strings.Cut(place, " on line ")
				r.frames = []string{base(file) + ":" + line}
			}
			return r, true
		}
		kind, msg, _ := strings.Cut(rest, ": ")
		var all []string
		for j := i + 1; j < len(t.lines) && len(all) < maxScan; j++ {
			num := frameNumber(t.lines[j])
			if num == "" {
				if len(all) > 0 {
					break
				}
				continue
			}
			// #0 /src/x.php(8): parse('abc')
			_, f, ok := strings.Cut(t.lines[j], "): ")
			if ok {
				all = append(all, clip(f[:spanTo(f, "(")], 120))
			}
		}
		if len(all) == 0 && place != "" {
			if file, line, ok := sourcePlace(place); ok {
				all = []string{file + ":" + line}
			}
		}
		r := exception(kind, msg, all)
		r.ends = phpEnds
		return r, true
	}
	return report{}, false
}

// phpEnds is the exit code of a fatal error.
var phpEnds = []int{255}

// readPerl reads the words of die, croak and confess, which end with the place.
// Programs refuse input that way, so it is no crash if the user expects the exit
// code.
func readPerl(t text) (report, bool) {
	for i := len(t.lines) - 1; i >= 0; i-- {
		s := t.lines[i]
		if !strings.HasSuffix(s, ".") {
			continue
		}
		msg, rest, ok := cutLast(strings.TrimSuffix(s, "."), " at ")
		if !ok || strings.HasPrefix(s, "\t") {
			continue
		}
		file, line, ok := strings.Cut(rest, " line ")
		line, _, _ = strings.Cut(line, ", <")
		if !ok || !allDigits(line) || strings.Contains(file, " ") {
			continue
		}
		var all []string
		for j := i + 1; j < len(t.lines) && strings.HasPrefix(t.lines[j], "\t") && len(all) < maxScan; j++ {
			if f, _, ok := strings.Cut(t.lines[j][1:], "("); ok {
				all = append(all, f)
			}
		}
		// Its words may come from the input, so the line says which of its ends it was.
		place := base(file) + ":" + line
		if len(all) == 0 {
			all = []string{place}
		}
		r := exception("perl died", msg, all)
		r.place = place
		if strings.HasPrefix(msg, "Out of memory") {
			r = report{class: ClassMemoryLimit, kind: "perl out of memory", volatile: true}
		}
		return r, true
	}
	return report{}, false
}
