package draft

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"slices"

	"github.com/thresh-dev/thresh/engine/lazy"
)

// Seed is an input that a program is known or expected to accept.
type Seed struct {
	Name string // of its file
	Data []byte
}

// Seeds are small inputs of common formats, for a program without given seeds. Those that the
// program accepts are kept.
func Seeds() []Seed {
	return []Seed{
		{"seed.json", []byte(`{"name": "a", "list": [1, -2.5, true, null], "map": {"k": "v"}}` + "\n")},
		{"seed.xml", []byte(`<?xml version="1.0"?><a b="c"><d>1</d><!-- e --></a>` + "\n")},
		{"seed.html", []byte("<!DOCTYPE html><html><body><p class=\"a\">b</p></body></html>\n")},
		{"seed.csv", []byte("name,amount\na,1\n\"b, c\",-2.5\n")},
		{"seed.ini", []byte("[section]\nkey = value\nnumber = 1\n")},
		{"seed.yaml", []byte("name: a\nlist: [1, 2]\nmap: {k: v}\n")},
		{"seed.md", []byte("# Title\n\nText *with* `code` and a [link](http://a.example/).\n\n- item\n")},
		{"seed.expr", []byte("1+2*(3-4)/5")},
		{"seed.list", []byte("[1,2,[3]]")},
		{"seed.num", []byte("1 2 3\n")},
		{"seed.txt", []byte("hello world\n")},
		{"seed.png", unpacked("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==")},
		{"seed.gif", unpacked("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")},
		{"seed.zip", unpacked("UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA==")},
		{"seed.bmp", unpacked("Qk06AAAAAAAAADYAAAAoAAAAAQAAAAEAAAABABgAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAA////AA==")},
		{"seed.wav", unpacked("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQIAAACAgA==")},
		{"seed.pdf", []byte("%PDF-1.1\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n")},
	}
}

func unpacked(text string) []byte {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic("draft: a seed is no base64: " + err.Error())
	}
	return b
}

var (
	printable = lazy.Pattern(`[ -~]{2,32}`)
	quoted    = lazy.Pattern(`"([^"\\\n]{2,24})"|'([^'\\\n]{2,24})'`)
	plainWord = lazy.Pattern(`^[!-~]{2,32}$`)
	internal  = lazy.Pattern(`^(_|\.|\*\.|GCC|GLIBC|lib|crt)|\.(c|so|o|go|py)$|@|;|\$|^[A-Z][\]\^]|std::`)
)

// maxTokens limits the tokens of a dictionary.
const maxTokens = 200

// Texts in the data of a module, and words in long ones.
var (
	printableRun = lazy.Pattern(`[ -~]{2,}`)
	runWord      = lazy.Pattern(`[A-Za-z0-9_-]{3,16}`)
)

// moduleData returns the data section of a WebAssembly module.
func moduleData(module []byte) ([]byte, bool) {
	rest, ok := bytes.CutPrefix(module, []byte("\x00asm"))
	for rest = rest[min(4, len(rest)):]; ok && len(rest) > 1; {
		size, n := binary.Uvarint(rest[1:])
		if n <= 0 || size > uint64(len(rest)-1-n) {
			break
		}
		body := rest[1+n:][:size]
		if rest[0] == 11 {
			return body, true
		}
		rest = rest[1+n+int(size):]
	}
	return nil, ok
}

// Dictionary returns an AFL dictionary of the words in a program's file: quoted strings of a
// script, constants of a binary. "" if there are none.
func Dictionary(text []byte) []byte {
	var words []string
	add := func(w string) {
		if plainWord().MatchString(w) && !internal().MatchString(w) && !slices.Contains(words, w) && len(words) < maxTokens {
			words = append(words, w)
		}
	}
	if data, ok := moduleData(text); ok {
		for _, run := range printableRun().FindAll(data, 2000) {
			if plainWord().Match(run) {
				add(string(run))
				continue
			}
			for _, w := range runWord().FindAll(run, -1) { // texts without separators
				add(string(w))
			}
		}
	} else if data, ok := constants(text); ok {
		for part := range bytes.SplitSeq(data, []byte{0}) {
			add(string(part))
		}
	} else if bytes.IndexByte(text, 0) < 0 {
		for _, m := range quoted().FindAllSubmatch(text, 2000) {
			add(string(m[1]) + string(m[2]))
		}
	} else {
		for _, part := range bytes.Split(text, []byte{0}) {
			if len(part) <= 16 && len(part) >= 2 && printable().Match(part) {
				add(string(part))
			}
		}
	}
	var b bytes.Buffer
	for _, w := range words {
		b.WriteString(`"` + string(bytes.ReplaceAll(bytes.ReplaceAll([]byte(w), []byte(`\`), []byte(`\\`)), []byte(`"`), []byte(`\"`))) + "\"\n")
	}
	return b.Bytes()
}
