package shrink
import ("testing";"context";"runtime";"reflect";"strings")
func TestZZ(t *testing.T){
 for _,p:=range problems(){
  if !strings.Contains("xml json key at a depth json lines length number brackets",p.name){continue}
  t.Log("=====",p.name)
  s:=&search{ctx:context.Background(),test:func(b []byte)(bool,error){return p.holds(b),nil},best:p.input,refused:map[digest]struct{}{}}
  ps:=plan(p.input)
  for i,f:=range ps{ n:=runtime.FuncForPC(reflect.ValueOf(f.make).Pointer()).Name()
   ps[i].make=func(s *search){ b:=s.stats.Tests; f.make(s); x:=s.best; if len(x)>120 {x=x[:120]}; t.Logf("%s %d tests: %d %q",n[strings.LastIndex(n,"."):],s.stats.Tests-b,len(s.best),x)}}
  s.run(ps)
 }
}
