import sys, os  # not json: cases block its import, which would keep this module from loading
def main(argv):
    if not argv: print("noargs"); return 0
    c=argv[0]
    if c=='echo': print(*argv[1:]); return 0
    if c=='argv': import json; print(json.dumps(argv)); return 0
    if c=='none': print('x'); return None
    if c=='exit_none': raise SystemExit()
    if c=='exit_str': raise SystemExit("msg")
    if c=='exit': raise SystemExit(int(argv[1]))
    if c=='ret': return int(argv[1])
    if c=='true': return True
    if c=='str': return "3"
    if c=='value': raise ValueError("boom value")
    if c=='assert': raise AssertionError("boom assert")
    if c=='key': raise KeyError("boom key")
    if c=='env': print(repr(os.environ.get(argv[1]))); return 0
    if c=='stdin': print(repr(sys.stdin.read()), sys.stdin.isatty()); return 0
    if c=='isatty': print(sys.stdin.isatty(), os.isatty(0)); return 0
    if c=='cwd': print(os.getcwd()); return 0
    if c=='import':
        try: __import__(argv[1]); print('imported')
        except ModuleNotFoundError as e: print('missing', repr(e))
        return 0
    if c=='import2':
        import importlib
        try: m=importlib.import_module(argv[1]); print('imported',type(m).__name__)
        except ModuleNotFoundError as e: print('missing', repr(e))
        return 0
    if c=='err': print(' '.join(argv[1:]),file=sys.stderr); return 0
    if c=='fd': os.write(1,b"raw fd\n"); return 0
    if c=='kbd': raise KeyboardInterrupt()
    if c=='crlf': sys.stdout.write("a\r\nb\r\n"); return 0
notcallable=5
def hb(*,case,ctx,harness,**kw): print('HB',sorted(kw),type(case).__name__,sorted(harness))
def ha(*,case,ctx,result,**kw): print('HA',sorted(kw),{k:(v if k!='stdout_path' else repr(v)) for k,v in result.items()})
def ha_fail(*,case,ctx,result,**kw): raise AssertionError('hook says no')
