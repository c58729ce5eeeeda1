//go:build !unix

package app

func outliveFileLimit() {}
