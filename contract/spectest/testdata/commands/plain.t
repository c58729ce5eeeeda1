  $ echo "$TESTDIR/$CRAMTMP"
  a.*b (re)
  [ab (re)
  \d{2,}x+y?[a-f0-9]{6,}\bq (re)
  (?i)abc|def (re)
  a\x01b (esc)
  say "hi" (esc)
  caf\xff (esc)
  tail (no-eol)
  \*\? * (glob)
  $ which -a sh || exit 80
