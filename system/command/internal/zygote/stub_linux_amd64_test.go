package zygote

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/thresh-dev/thresh/internal/golden"
)

// The bytes that are put into programs are those of the listing.
func TestStubMatchesListing(t *testing.T) {
	for _, tool := range []string{"as", "objcopy"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no assembler: %v", err)
		}
	}
	object := filepath.Join(t.TempDir(), "stub.o")
	binary := object + ".bin"
	for _, argv := range [][]string{
		{"as", "--64", "-o", object, "stub.asm"},
		{"objcopy", "-O", "binary", "-j", ".text", object, binary},
	} {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", argv, err, out)
		}
	}
	code, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	if golden.Update() {
		writeStubCode(t, code)
		return
	}
	if string(code) != stubCode {
		t.Error("stubcode_linux_amd64.go is not what stub.asm assembles to; run the test with -update")
	}
}

func writeStubCode(t *testing.T, code []byte) {
	var b bytes.Buffer
	b.WriteString("// Code generated from stub.asm by go test -run TestStubMatchesListing -update; DO NOT EDIT.\n\n")
	b.WriteString("package zygote\n\nconst stubCode = \"\"")
	for len(code) > 0 {
		n := min(16, len(code))
		b.WriteString(" +\n\t\"")
		for _, c := range code[:n] {
			fmt.Fprintf(&b, "\\x%02x", c)
		}
		b.WriteString("\"")
		code = code[n:]
	}
	b.WriteString("\n")
	if err := os.WriteFile("stubcode_linux_amd64.go", b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
