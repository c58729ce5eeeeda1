package cli_test

import "testing"

// What a machine does not have is said, with what it is for and how to get it.
func TestDoctorSaysHowToGetWhatIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	expect(t, call("doctor"), 0, "sandbox\n", "  missing  python3  for operators in Python", "\n           Debian: apt install python3")
	expect(t, call("doctor", "--json"), 0, `"name": "python3"`, `"have": false`)
}
