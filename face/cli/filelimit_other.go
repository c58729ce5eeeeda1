//go:build !unix

package cli

func outliveFileLimit() {}
