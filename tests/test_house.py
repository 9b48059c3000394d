"""Nothing stands in core or pages that no page, command or analysis reaches.

Names are followed through the source. A function, class or constant is reached where something
reached names it; a method where its class is reached and something reached names the method, or
where its class extends one of a library, which calls methods by itself.
"""

import ast
import functools
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)

NOT_YET_REACHED = {
    "option_shares": "formula for independent answers, such as those of people asked once",
    "share": "formula for independent answers, such as those of people asked once",
    "english.TAGGER": "loaded when a word list in its language is made, by taggers.tagger_of",
    "chinese.TAGGER": "loaded when a word list in its language is made, by taggers.tagger_of",
    "LocalModel.process_id": "tests look at the process from outside",
}
"""Names that stay although nothing reaches them, each with the reason."""


def modules(*folders):
    """The syntax trees of the Python files below some folders, by dotted module name."""
    files = [f for folder in folders for f in sorted((ROOT / folder).rglob("*.py"))]
    files.append(ROOT / "app.py")
    names = [".".join(f.relative_to(ROOT).with_suffix("").parts) for f in files]
    return {
        name.removesuffix(".__init__"): ast.parse(file.read_text(encoding="utf-8"))
        for name, file in zip(names, files, strict=True)
    }


class House:
    """Definitions of a tree of modules, and which names each of them uses.

    A definition is a key (module, name), with the name "" for the statements of the module itself
    and "Class.method" for a method.
    """

    def __init__(self, trees):
        self.trees = trees
        self.nodes = {}
        self.imports = {module: dict(imported(tree)) for module, tree in trees.items()}
        self.methods = defaultdict(list)
        for module, tree in trees.items():
            self.nodes[module, ""] = tree
            for node in tree.body:
                self.nodes |= {(module, name): node for name in defined(node)}
                for part in node.body if isinstance(node, ast.ClassDef) else ():
                    if isinstance(part, FUNCTIONS):
                        key = (module, f"{node.name}.{part.name}")
                        self.nodes[key] = part
                        self.methods[module, node.name].append(key)

    def resolve(self, module, name):
        """The definition or module that a name stands for; None for anything else."""
        if (module, name) in self.nodes:
            return module, name
        source, original = self.imports[module].get(name, (None, ""))
        if f"{source}.{original}" in self.trees:
            return f"{source}.{original}", ""
        return self.resolve(source, original) if source in self.trees else None

    def target(self, module, node, own=frozenset()):
        """The definition or module that a name or `module.name` stands for."""
        if isinstance(node, ast.Name):
            return None if node.id in own else self.resolve(module, node.id)
        if isinstance(node, ast.Attribute):
            holder = self.target(module, node.value, own)
            return self.resolve(holder[0], node.attr) if holder and not holder[1] else None
        return None

    @functools.cache  # noqa: B019
    def uses(self, key):
        """Definitions that one names, and the attributes and words in it that may name methods."""
        module, name = key
        node = self.nodes[key]
        if name and isinstance(node, ast.ClassDef):
            parts = [*node.bases, *node.keywords, *node.decorator_list]
            parts += [part for part in node.body if not isinstance(part, FUNCTIONS)]
        elif not name:
            parts = [p for p in node.body if not isinstance(p, DEFINITIONS) and not defined(p)]
        else:
            parts = [node]
        found, words = set(), set()
        own = bound(node) if isinstance(node, FUNCTIONS) else frozenset()
        for part in (inner for outer in parts for inner in ast.walk(outer)):
            if isinstance(part, ast.Attribute):
                words.add(part.attr)
            if isinstance(part, (ast.Attribute, ast.Name)):
                found.add(self.target(module, part, own))
            elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                words.add(part.value)
                if part.value in self.trees:  # started as a program of its own
                    found.add((part.value, ""))
                holder, _, own_name = part.value.rpartition(".")
                if (holder, own_name) in self.nodes:  # imported when it is called
                    found.add((holder, own_name))
        if not name:
            found |= {
                (source, "") for source, _ in self.imports[module].values()
            } & self.nodes.keys()
        return found - {None, key}, words

    def extends_a_library(self, key):
        """Whether a class has a base that is no class of this project."""
        return None in [self.target(key[0], base) for base in self.nodes[key].bases]

    def reached(self, roots):
        """All definitions that can be reached from some."""
        live, words, waiting = set(), set(), list(roots)
        while waiting:
            while waiting:
                key = waiting.pop()
                if key not in live:
                    live.add(key)
                    found, said = self.uses(key)
                    words |= said
                    waiting += [*found, (key[0], "")]
            for owner in live & self.methods.keys():
                every = self.extends_a_library(owner)
                for key in self.methods[owner]:
                    method = key[1].partition(".")[2]
                    if key not in live and (every or method in words or method.startswith("__")):
                        waiting.append(key)
        return live


def imported(tree):
    """Names that a module imports from others, each with the module and its name there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, (node.module, alias.name)


def defined(node):
    """The names that a statement of a module defines."""
    if isinstance(node, DEFINITIONS):
        return [node.name]
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [part for target in targets for part in ast.walk(target)]
        return [p.id for p in names if isinstance(p, ast.Name) and not p.id.startswith("__")]
    return []


def bound(function):
    """The names that a function binds inside itself."""
    parts = list(ast.walk(function))
    names = {part.arg for part in parts if isinstance(part, ast.arg)}
    names |= {p.id for p in parts if isinstance(p, ast.Name) and isinstance(p.ctx, ast.Store)}
    return names | {p.name for p in parts if isinstance(p, DEFINITIONS) and p is not function}


def entries(house):
    """The app, its pages, the command line, and the analyses, which are decorated."""
    pages = re.findall(r'PageEntry\(\s*"(.+?)\.py"', (ROOT / "app.py").read_text(encoding="utf-8"))
    assert pages
    found = [("app", ""), ("app", "app"), ("core.__main__", "")]
    found += [(page.replace("/", "."), "") for page in pages]
    for (module, name), node in house.nodes.items():
        for decorator in getattr(node, "decorator_list", ()):
            function = getattr(decorator, "func", None)
            if module.startswith("core.analysis.") and getattr(function, "id", "") == "analysis":
                found.append((module, name))
    return found


def short(key):
    """What the table calls a definition: its name, or its module's name and its own."""
    return {key[1], f"{key[0].rpartition('.')[2]}.{key[1]}"}


def test_every_name_is_reached_from_a_page_or_a_command_or_has_a_reason_to_wait():
    house = House(modules("core", "pages"))
    allowed = [key for key in house.nodes if short(key) & NOT_YET_REACHED.keys()]
    gone = NOT_YET_REACHED.keys() - {name for key in allowed for name in short(key)}
    assert not gone, f"no longer there, so to be taken out of the table: {gone}"
    plain = house.reached(entries(house))
    late = [key for key in allowed if key in plain]
    assert not late, f"reached by now, so to be taken out of the table: {late}"
    live = house.reached([*entries(house), *allowed])
    unreached = [
        f"{module}.{name}"
        for module, name in sorted(house.nodes)
        if (module, name) not in live and (name or house.trees[module].body[1:])
    ]
    assert not unreached, "\n".join(unreached)


LONGEST_FUNCTION = 100
"""Lines, with the docstring; a longer one has parts that a reader would look for by name."""


def test_no_function_is_longer_than_a_reader_can_follow():
    long = [
        f"{module}.{node.name} {node.end_lineno - node.lineno + 1}"
        for module, tree in modules("core", "pages").items()
        for node in ast.walk(tree)
        if isinstance(node, FUNCTIONS) and node.end_lineno - node.lineno >= LONGEST_FUNCTION
    ]
    assert not long, "\n".join(long)
