package crash

import "strconv"

// signalName is the name of a Linux signal.
func signalName(n int) string {
	names := [...]string{1: "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1",
		"SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN",
		"SIGTTOU", "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS"}
	if n > 0 && n < len(names) {
		return names[n]
	}
	return "signal " + strconv.Itoa(n)
}

// fatalSignal says whether 128+n as an exit code is a report of signal n rather
// than a code of the program's own.
func fatalSignal(n int) bool {
	switch signalName(n) {
	case "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGSEGV", "SIGPIPE", "SIGTERM", "SIGXCPU", "SIGXFSZ", "SIGSYS":
		return true
	}
	return false
}

func signalSeverity(n int) string {
	switch signalName(n) {
	case "SIGSEGV", "SIGBUS", "SIGILL", "SIGSYS":
		return SeverityHigh
	}
	return SeverityMedium
}
