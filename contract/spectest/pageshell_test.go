package spectest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// batch stands for cmd where there is none: sh runs those lines of a batch file that mean
// the same to both.
const batch = `#!/bin/sh
private=$(dirname "$4")
eval "$(sed 's/\r$//; s/^(call )$//; s/^echo\.$/c=$?; echo/; s/%errorlevel%/$c/; s/^exit \/b/return/; s/^call/./' "${4%.bat}-commands.bat" | { echo 'run() {'; cat; echo; echo '}'; })"
run 2>&1
code=$?
state=$(sed -n 's/\r$//; s/^cd > "\(.*\)\.dir"$/\1/p' "$4")
if [ "$state" ]; then pwd > "$state.dir"; env | sed 's/$/\r/' > "$state.env"; fi
exit $code
`

// Blocks of another shell share a folder and variables, and the prompt says whose they are.
func TestOtherShells(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a shell script stands for cmd")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile(filepath.Join(dir, "cmd"), []byte(batch), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	fence := func(words, body string) string { return "```" + words + "\n" + body + "```\n\n" }
	for _, c := range []struct{ name, doc, want string }{ // want: what the title ends with; "" holds
		{"output and exit codes", fence("console run", "C:\\> echo a\na\nC:\\Users\\me>false\n[exit 1]\nC:\\> echo b\nb\n"), ""},
		{"another output", fence("cmd run", "C:\\> echo a\nb\n"), `:2 transcript: expected "C:\> echo a" to print what the page shows`},
		{"folder and variables", fence("console run", "C:\\> mkdir in\nC:\\> cd in\nC:\\> export A='x y'\n") + fence("bat run", "C:\\> echo \"$A\"\nx y\nC:\\> pwd\n<folder>/in\n"), ""},
		{"variables of a block", fence("console run", "C:\\> export A=1\n") + fence("console run env=A=2,B=3", "C:\\> echo $A $B\n2 3\n") + fence("console run", "C:\\> echo \"$A ${B-none}\"\n1 none\n"), ""},
		{"behind exit", fence("console run", "C:\\> export A=1\nC:\\> exit /b 9009\n[exit 49]\nC:\\> echo $A\n1\n"), ""},
		{"captured", fence("console run capture=n=/(\\d+)/", "C:\\> echo no 47\nno 47\n") + fence("console run", "C:\\> echo $n\n${n}\n"), ""},
		{"a file", fence("text file=in", "one\n") + fence("console run", "C:\\> cat in\none\nC:\\> echo a #\\\na\n"), ""},
		{"a program", fence("bat run", "echo a\nexit 3\n") + fence("output", "a\n[exit 3]\n"), ""},
		{"its own state", fence("console run", "$ cd /; export A=1\n") + fence("console run", "C:\\> pwd; echo ${A-none}\n<folder>\nnone\n") + fence("console run", "$ pwd\n/\n"), ""},
		{"no such shell", fence("powershell run", "PS> 1\n1\n") + fence("console run", "$ true\n"), "(pass)not run: the block on line 1: needs pwsh"},
	} {
		if _, err := exec.LookPath("pwsh"); err == nil && c.name == "no such shell" {
			continue
		}
		camp := soleCampaign(t, c.doc, nil)
		o := outcomes(t, camp)
		got := o[0].Title
		if warnings := folded(camp, o).unread; len(warnings) > 0 && o[0].Verdict == campaign.VerdictPass {
			got = "(pass)" + strings.Join(warnings, "; ")
		}
		if c.want == "" && got != "" || !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %s\n%s", c.name, got, o[0].Attached(stepsNote))
		}
	}
}

// What PowerShell prints is shown as its console does.
func TestPowerShell(t *testing.T) {
	if _, err := exec.LookPath("pwsh"); err != nil {
		t.Skip("needs pwsh")
	}
	t.Chdir(t.TempDir())
	for _, doc := range []string{
		"PS> 1 + 1\n2\nPS /home/me> $x = 'it''s'\nPS> $x\nit's\nPS> foreach ($i in 1, 2) {\n>>   $i\n>> }\n1\n2\n",
		"PS> Get-Item nothing\n...\n[exit 1]\nPS> throw 'x'\n[..]x\n[exit 1]\nPS> 'on'\non\nPS> exit 4\n[exit 4]\nPS> 'there'\nthere\n",
		"PS> mkdir in | Out-Null\nPS> cd in\nPS> $env:A = \"a`nb\"\n```\n\n```powershell run env=B=1\nPS> \"$env:A$env:B\"\na\nb1\nPS> (Get-Location).Path\n<folder>[..]in\n```\n\n```powershell run\n\"$env:B.\"\nexit 3\n```\n\n```output\n.\n[exit 3]\n",
		"PS> 1; throw 'x'\n1\n[..]x\n[exit 1]\nPS> 2; exit 4\n2\n[exit 4]\n",
		"PS> Write-Warning 'low'; Write-Host 'hi'; Write-Verbose 'on' -Verbose; 3\nWARNING: low\nhi\nVERBOSE: on\n3\n",
		"PS> sh -c 'echo a >&2; echo >&2; echo b >&2'\na\n\nb\n",
		"PS> [pscustomobject]@{Name='Ada'; Left=2}\n\nName Left\n---- ----\nAda     2\n",
	} {
		if o := outcomes(t, soleCampaign(t, "```powershell run\n"+doc+"```\n", nil)); o[0].Title != "" {
			t.Errorf("%s\n%s", o[0].Title, o[0].Attached(stepsNote))
		}
	}
}

// Names of programs have endings on Windows, and files no mode that says what may be
// executed.
func TestProgramFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"tool.exe", "note.txt", "both.cmd", "both.bat"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ends := windowsEnds([]string{"PATHEXT=.EXE" + string(filepath.ListSeparator) + ".Bat" + string(filepath.ListSeparator) + ".cmd"})
	for name, want := range map[string]string{"tool": "tool.exe", "tool.exe": "tool.exe", "both": "both.bat", "both.cmd": "both.cmd", "note.txt": "", "none": "", "TOOL.EXE": ""} {
		got, err := programFile(filepath.Join(dir, name), ends)
		if runtime.GOOS == "windows" && name == "TOOL.EXE" {
			continue
		}
		if (err != nil) != (want == "") || err == nil && filepath.Base(got) != want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, want)
		}
	}
}
