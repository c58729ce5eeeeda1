  output first
Text
  $ cram x.t
  a.*b (re)
  [ab (re)
  \d{2,}x+y?[a-f0-9]{6,}\bq (re)
  (?i)abc|def (re)
  a\x01b (esc)
  caf\xff (esc)
  tail (no-eol)
  [17]
  [x]
  > not
  ```
  <number> [..]
  \*\? * (glob)

  $ exit 80
  >
  > x
