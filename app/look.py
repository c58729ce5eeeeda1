# What the text of a Python module says about the agent in it, as JSON on
# standard output. The module is read, not run.
import ast
import json
import re
import sys

QUESTION = re.compile(r"(?:[A-Z가-힣]|(?<=[\"“'])\w)[^{}\n\"“”.:?]{8,120}\?")
IDENTIFIER = re.compile(r"[A-Za-z]{0,6}[-_#]?[0-9]{2,12}")
PROMPT = re.compile(r"prompt|text|message|query|question|input|said")
MODEL = re.compile(r"openai|anthropic|litellm|ollama|langchain(?!_core)|/chat/completions|/v1/messages")

TAKES_MAPPING = re.compile(r"create(?:_\w+)?_agent|AgentExecutor|(?:Chat)?PromptTemplate|from_(?:template|messages)")


def text(node):
    if isinstance(node, ast.JoinedStr) and node.values:
        node = node.values[0]
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def names(target):
    return [n.id for n in ast.walk(target) if isinstance(n, ast.Name)]


def words(decorator):
    return names(decorator) + [n.attr for n in ast.walk(decorator) if isinstance(n, ast.Attribute)]


def calls(tree, name):
    found = []
    for n in ast.walk(tree):
        if isinstance(n, ast.Call):
            f = n.func
            if isinstance(f, ast.Attribute) and f.attr in ("invoke", "run", "ainvoke", "arun"):
                f = f.value
            if isinstance(f, ast.Name) and f.id == name:
                found.append(n)
    return found


def imports(tree):
    found = [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    return {i.partition(".")[0] for i in found + [a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names]}


def runnable(tree, name):
    """Whether what is bound to a name takes a mapping, as graphs, agents and prompts of LangChain do."""
    for _ in range(4):
        bound = [n.value for n in tree.body if isinstance(n, (ast.Assign, ast.AnnAssign)) and n.value and name in names(n.targets[0] if isinstance(n, ast.Assign) else n.target)]
        value = bound[-1] if bound else None
        while isinstance(value, ast.BinOp):  # a chain takes what its first part takes
            value = value.left
        if isinstance(value, ast.Call):
            called = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
            return bool(TAKES_MAPPING.fullmatch(called)) or called == "compile" and "langgraph" in imports(tree)
        if not isinstance(value, ast.Name):
            return False
        name = value.id
    return False


def copes(handler):
    broad = handler.type is None or {"Exception", "BaseException"} & set(names(handler.type))
    return broad and not any(isinstance(n, ast.Raise) for n in ast.walk(handler))


def refusals(tree, name):
    """Which prompts functions refuse by an exception of their own: blank ones, long ones."""
    found = set()
    for f in (n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))):
        given = {a.arg for a in f.args.args if f.name == name.rpartition(".")[2] or PROMPT.search(a.arg)} - {"self"}
        for n in ast.walk(f):
            if isinstance(n, ast.Assign) and given & set(names(n.value)):
                given.update(x for t in n.targets for x in names(t))
        for n in ast.walk(f):
            if isinstance(n, ast.If) and any(isinstance(s, ast.Raise) for s in n.body) and given & set(names(n.test)):
                long = "len" in names(n.test) and any(isinstance(t, (ast.Gt, ast.GtE)) for t in ast.walk(n.test))
                found.update(["long"] if long else ["blank"] if any(isinstance(t, ast.Not) for t in ast.walk(n.test)) else [])
    return found


def look(tree, module, name):
    functions = {n.name: n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))}
    bound = [n.asname or n.name for n in ast.walk(tree) if isinstance(n, ast.alias)]
    bound += [n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))]
    bound += [n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    found = {"bound": None if {"*", "__getattr__"} & set(bound) else bound, "questions": [], "words": [], "ids": [], "system": [], "tools": [], "guarded": [], "model": False, "runnable": False}
    found["runnable"] = runnable(tree, name)
    found["refuses"] = sorted(refusals(tree, name))

    def add(kind, value):
        if value not in found[kind]:
            found[kind].append(value)

    for documented in (n for n in ast.walk(tree) if isinstance(n, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))):
        for q in QUESTION.findall(ast.get_docstring(documented) or ""):
            add("questions", q)
    for f in functions.values():
        if any("tool" in n.lower() for d in f.decorator_list for n in words(d)):
            add("tools", module + ":" + f.name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            value = text(node)
            if value is None:
                continue
            if IDENTIFIER.fullmatch(value):
                add("ids", value)
            if MODEL.search(value):
                found["model"] = True
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            imported = [a.name for a in node.names] + [getattr(node, "module", None) or ""]
            if any(MODEL.search(i) for i in imported):
                found["model"] = True
        elif isinstance(node, ast.Call):
            function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            system = re.search(r"system_?(?:message|prompt)", function, re.I)
            said = [*node.args] if system else []
            said += [k.value for k in node.keywords if k.arg and (re.search(r"system|instruct|persona", k.arg) or system and k.arg == "content")]
            for value in map(text, said):
                if value and len(value) >= 20:
                    add("system", value)
        elif isinstance(node, ast.Tuple) and len(node.elts) == 2 and text(node.elts[0]) == "system" and len(text(node.elts[1]) or "") >= 20:
            add("system", text(node.elts[1]))
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In):
            word = text(node.left)
            if word and re.fullmatch(r"[\w' -]{3,30}", word.strip()):
                add("words", word.strip())
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            called = [n for t in targets for n in names(t)]
            value = text(node.value) if node.value is not None else None
            named = r"system|instruct|persona" + ("|prompt" if (value or "").lstrip().startswith("You are ") else "")
            if value and len(value) >= 20 and any(re.search(named, n, re.I) for n in called):
                add("system", value)
            if isinstance(node.value, (ast.List, ast.Tuple, ast.Dict)) and any("tool" in n.lower() for n in called):
                for n in ast.walk(node.value):
                    if isinstance(n, ast.Name) and n.id in functions:
                        add("tools", module + ":" + n.id)
        elif isinstance(node, ast.Dict):
            pairs = {text(k): v for k, v in zip(node.keys, node.values) if k is not None}
            if text(pairs.get("role")) == "system" and len(text(pairs.get("content")) or "") >= 20:
                add("system", text(pairs["content"]))
    # A tool is guarded if the code copes with any failure wherever it calls it.
    guarded = {id(c) for t in ast.walk(tree) if isinstance(t, ast.Try) and any(map(copes, t.handlers)) for s in t.body for c in ast.walk(s)}
    for tool in found["tools"]:
        made = calls(tree, tool.split(":")[1])
        if made and all(id(c) in guarded for c in made):
            add("guarded", tool)
    return found


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        try:
            tree = ast.parse(file.read())
        except (SyntaxError, ValueError) as e:
            sys.exit(f"{getattr(e, 'lineno', 1)}:{getattr(e, 'offset', 1)}: {getattr(e, 'msg', e)}")
    print(json.dumps(look(tree, sys.argv[2], sys.argv[3])))
