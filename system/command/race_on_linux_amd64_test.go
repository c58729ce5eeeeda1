//go:build race

package command

const racing = true
