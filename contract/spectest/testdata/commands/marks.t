  $ echo '$ touch made'
  \$ touch made (re)
  $ echo exit status 2
  exit status 2
  $ printf 'caf\303\251 plain\n'
  caf\xc3\xa9 plain (esc)
  $ echo a.b
  a?b (glob)
  $ echo 3f0a9c1 plain
  [0-9a-f]{7} plain (re)
  $ echo plain; exit 3
  plain (re)
  [3]
