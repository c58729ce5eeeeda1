package fuzzspec

// StderrTail is the end of standard error that enters a signature.
func StderrTail(stderr []byte) string {
	return decode(stderr[max(0, len(stderr)-tailSize):])
}
