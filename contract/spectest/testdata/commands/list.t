Lists:

  $ printf 'a\nb\n' > list
  $ cat list
  a
  b
  $ echo "name 17 done"
  name * done (glob)
  $ printf '* \\a\n'
  \* \\a (glob)
  $ for i in 1 2
  > do echo $i; done
  1
  2

Failures:

  $ grep z list
  [1]
