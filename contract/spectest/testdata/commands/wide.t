  $ date
  .*\d+.* (re)
  $ printf 'a.b (c)\n- x\t1\ntook 3 ms\n'
  a\.b \(c\)\s* (re)
  - x\t1 (esc)
  took \d+ m?s (re)
