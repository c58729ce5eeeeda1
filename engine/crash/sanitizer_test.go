package crash

import "testing"

// How grave a sanitizer's report is depends on what it reports, and a program
// that stopped itself is described by its own words where it had any.
func TestSanitizerReports(t *testing.T) {
	const stack = "    #0 0x1 in parse /src/a.c:7\n"
	for report, want := range map[string]Cause{
		"==7==ERROR: AddressSanitizer: SEGV on unknown address 0x1\n==7==The signal is caused by a WRITE memory access.\n" + stack:                                                                                                                            {Class: ClassSanitizer, Severity: SeverityCritical},
		"==7==ERROR: AddressSanitizer: SEGV on unknown address 0x1\n==7==The signal is caused by a READ memory access.\n" + stack:                                                                                                                             {Class: ClassSanitizer, Severity: SeverityHigh},
		"==7==ERROR: AddressSanitizer: SEGV on unknown address 0x0\n==7==The signal is caused by a WRITE memory access.\n==7==Hint: address points to the zero page.\n" + stack:                                                                               {Class: ClassSanitizer, Severity: SeverityHigh},
		"==7==ERROR: AddressSanitizer: ABRT on unknown address 0x1\n" + stack:                                                                                                                                                                                 {Class: ClassSanitizer, Severity: SeverityMedium},
		"a: a.c:7: parse: Assertion `n > 0' failed.\n==7==ERROR: AddressSanitizer: ABRT on unknown address 0x1\n" + stack:                                                                                                                                     {Class: ClassAssert, Severity: SeverityMedium},
		"==7== ERROR: libFuzzer: deadly signal\n" + stack:                                                                                                                                                                                                     {Class: ClassSanitizer, Severity: SeverityHigh},
		"==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x1 at pc 0x2 bp 0x3 sp 0x4\nREAD of size 1 at 0x1 thread T0\n" + stack:                                                                                                                 {Class: ClassSanitizer, Severity: SeverityCritical},
		"==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1 at pc 0x2 bp 0x3 sp 0x4\nREAD of size 1 at 0x1 thread T0\n" + stack:                                                                                                                {Class: ClassSanitizer, Severity: SeverityHigh},
		"==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1 at pc 0x2 bp 0x3 sp 0x4\nWRITE of size 1 at 0x1 thread T0\n" + stack:                                                                                                               {Class: ClassSanitizer, Severity: SeverityCritical},
		"==7==ERROR: AddressSanitizer: attempting double-free on 0x1 in thread T0:\n" + stack:                                                                                                                                                                 {Class: ClassSanitizer, Severity: SeverityCritical},
		"==7==ERROR: AddressSanitizer: requested allocation size 0xffff (0x1 after adjustments for alignment, red zones etc.) exceeds maximum supported size of 0x10000000000 (thread T0)\n" + stack + "SUMMARY: AddressSanitizer: allocation-size-too-big\n": {Class: ClassSanitizer, Severity: SeverityMedium},
		"==7==ERROR: LeakSanitizer: detected memory leaks\n\nDirect leak of 8 byte(s) in 1 object(s) allocated from:\n" + stack:                                                                                                                               {Class: ClassSanitizer, Severity: SeverityLow},
	} {
		got := Analyze(Death{ExitCode: 1, Stderr: []byte(report)})
		if got.Class != want.Class || got.Severity != want.Severity {
			t.Errorf("%s\n%s of severity %s, want %s of %s", report, got.Class, got.Severity, want.Class, want.Severity)
		}
		if len(got.Frames) == 0 || got.Frames[0] == "" {
			t.Errorf("%s\nhas no frames", report)
		}
	}
}
