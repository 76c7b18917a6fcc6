"""Lists the public interface of a crate, one item per line, from rustdoc's JSON."""

import json


def lines(path):
    """Returns the sorted items that users can name, with their signatures."""
    return Listing(json.loads(path.read_text())).lines()


class Listing:
    def __init__(self, document):
        self.index, self.root = document["index"], document["root"]
        self.paths, self.found, self.walked = document["paths"], set(), set()

    def lines(self):
        crate = self.item(self.root)
        self.module(crate, crate["name"])
        return sorted(self.found)

    def item(self, id_):
        return self.index.get(str(id_))

    def add(self, line):
        self.found.add(" ".join(line.split()))

    def module(self, module, path):
        if (module["id"], path) in self.walked:
            return
        self.walked.add((module["id"], path))
        for id_ in module["inner"]["module"]["items"]:
            self.visible(self.item(id_), path)

    def visible(self, item, path):
        """Lists an item that is public at a path."""
        if item is None:
            return
        kind, inner = next(iter(item["inner"].items()))
        if kind == "use":
            target = self.item(inner["id"]) if inner["id"] is not None else None
            if inner["is_glob"]:
                if target is None:
                    self.add(f"use {inner['source']}::* as {path}")
                elif "module" in target["inner"]:
                    self.module(target, path)
            elif target is None:
                self.add(f"use {inner['source']} as {path}::{inner['name']}")
            else:
                self.visible(target | {"name": inner["name"]}, path)
            return
        here = f"{path}::{item['name']}"
        if kind == "module":
            self.add(f"mod {here}")
            self.module(item, here)
        elif kind == "function":
            self.add(self.function(item, here))
        elif kind in ("struct", "union"):
            shape = inner["kind"]
            self.add(f"{kind} {here}{self.params(inner['generics'])}{self.fields(shape)}")
            if isinstance(shape, dict) and "plain" in shape:
                for id_ in shape["plain"]["fields"]:
                    if field := self.item(id_):
                        self.add(f"{here}.{field['name']}: {self.type(field['inner']['struct_field'])}")
            self.impls(inner["impls"], here)
        elif kind == "enum":
            self.add(f"enum {here}{self.params(inner['generics'])}")
            for id_ in inner["variants"]:
                variant = self.item(id_)
                shape = variant["inner"]["variant"]["kind"]
                self.add(f"{here}::{variant['name']}{self.fields(shape)}")
            self.impls(inner["impls"], here)
        elif kind == "trait":
            unsafe = "unsafe " if inner["is_unsafe"] else ""
            bounds = self.bounds(inner["bounds"], ": ")
            self.add(f"{unsafe}trait {here}{self.params(inner['generics'])}{bounds}")
            for id_ in inner["items"]:
                if member := self.item(id_):
                    self.member(member, here, "trait ")
        elif kind == "type_alias":
            self.add(f"type {here}{self.params(inner['generics'])} = {self.type(inner['type'])}")
        elif kind == "constant":
            self.add(f"const {here}: {self.type(inner['type'])}")
        elif kind == "static":
            self.add(f"static {here}: {self.type(inner['type'])}")
        else:
            self.add(f"{kind} {here}")

    def fields(self, shape):
        if not isinstance(shape, dict):
            return ""
        if "tuple" in shape:
            items = [self.item(id_) if id_ is not None else None for id_ in shape["tuple"]]
            types = [self.type(i["inner"]["struct_field"]) if i else "_" for i in items]
            return f"({', '.join(types)})"
        fields = shape.get("struct") or shape.get("plain")
        items = [self.item(id_) for id_ in fields["fields"]]
        parts = [f"{i['name']}: {self.type(i['inner']['struct_field'])}" for i in items if i]
        if fields.get("has_stripped_fields"):
            parts.append("..")
        return f" {{ {', '.join(parts)} }}"

    def impls(self, ids, here):
        for id_ in ids:
            impl = self.item(id_)
            if impl is None:
                continue
            inner = impl["inner"]["impl"]
            if inner["is_synthetic"] or inner["blanket_impl"] is not None:
                continue
            params = self.params(inner["generics"])
            if inner["trait"] is None:
                for member in inner["items"]:
                    if member := self.item(member):
                        self.member(member, here + self.of(inner["for"]), "")
                continue
            if inner["trait"]["path"].endswith("StructuralPartialEq"):
                continue
            not_ = "!" if inner["is_negative"] else ""
            trait = self.path(inner["trait"])
            self.add(f"impl{params} {not_}{trait} for {here}{self.of(inner['for'])}")

    def of(self, type_):
        """Returns the arguments of an impl's type."""
        args = (type_.get("resolved_path") or {}).get("args")
        return self.args(args)

    def member(self, member, here, prefix):
        kind, inner = next(iter(member["inner"].items()))
        name = f"{here}::{member['name']}"
        if kind == "function":
            self.add(prefix + self.function(member, name))
        elif kind == "assoc_const":
            value = f" = {inner['value']}" if inner.get("value") is not None and prefix else ""
            self.add(f"{prefix}const {name}: {self.type(inner['type'])}{value}")
        elif kind == "assoc_type":
            default = f" = {self.type(inner['type'])}" if inner.get("type") else ""
            bounds = self.bounds(inner["bounds"], ": ")
            self.add(f"{prefix}type {name}{self.params(inner['generics'])}{bounds}{default}")

    def function(self, item, here):
        inner = item["inner"]["function"]
        header, signature = inner["header"], inner["sig"]
        words = [word for word in ("const", "async", "unsafe") if header[f"is_{word}"]]
        inputs = ", ".join(f"{name}: {self.type(t)}" for name, t in signature["inputs"])
        output = f" -> {self.type(signature['output'])}" if signature["output"] else ""
        return f"{' '.join([*words, 'fn'])} {here}{self.params(inner['generics'])}({inputs}){output}"

    def params(self, generics):
        parts = []
        for param in generics["params"]:
            kind, inner = next(iter(param["kind"].items()))
            if kind == "lifetime":
                parts.append(param["name"])
            elif kind == "const":
                parts.append(f"const {param['name']}: {self.type(inner['type'])}")
            elif not inner["is_synthetic"]:
                default = f" = {self.type(inner['default'])}" if inner["default"] else ""
                parts.append(param["name"] + self.bounds(inner["bounds"], ": ") + default)
        text = f"<{', '.join(parts)}>" if parts else ""
        where = []
        for predicate in generics["where_predicates"]:
            if bound := predicate.get("bound_predicate"):
                where.append(self.type(bound["type"]) + self.bounds(bound["bounds"], ": "))
            elif life := predicate.get("lifetime_predicate"):
                where.append(f"{life['lifetime']}: {' + '.join(life['outlives'])}")
            else:
                equal = predicate["eq_predicate"]
                where.append(f"{self.type(equal['lhs'])} == {self.term(equal['rhs'])}")
        return text + (f" where {', '.join(where)}" if where else "")

    def bounds(self, bounds, before=""):
        parts = []
        for bound in bounds:
            if trait := bound.get("trait_bound"):
                modifier = {"none": "", "maybe": "?", "maybe_const": "~const "}[trait["modifier"]]
                parts.append(modifier + self.path(trait["trait"]))
            elif "outlives" in bound:
                parts.append(bound["outlives"])
            else:
                parts.append(json.dumps(bound, sort_keys=True))
        return before + " + ".join(parts) if parts else ""

    def path(self, path):
        return path["path"].split("::")[-1] + self.args(path["args"])

    def args(self, args):
        if not args:
            return ""
        if "parenthesized" in args:
            inner = args["parenthesized"]
            output = f" -> {self.type(inner['output'])}" if inner["output"] else ""
            return f"({', '.join(map(self.type, inner['inputs']))}){output}"
        if "angle_bracketed" not in args:
            return f"({json.dumps(args, sort_keys=True)})"
        inner = args["angle_bracketed"]
        parts = []
        for arg in inner["args"]:
            if not isinstance(arg, dict):
                parts.append("_")
            elif "lifetime" in arg:
                parts.append(arg["lifetime"])
            elif "type" in arg:
                parts.append(self.type(arg["type"]))
            else:
                parts.append(arg["const"]["expr"])
        for constraint in inner["constraints"]:
            binding = constraint["binding"]
            end = (
                f" = {self.term(binding['equality'])}"
                if "equality" in binding
                else self.bounds(binding["constraint"], ": ")
            )
            parts.append(constraint["name"] + end)
        return f"<{', '.join(parts)}>" if parts else ""

    def term(self, term):
        return self.type(term["type"]) if "type" in term else term["constant"]["expr"]

    def type(self, type_):
        if type_ == "infer":
            return "_"
        kind, inner = next(iter(type_.items()))
        if kind == "resolved_path":
            return self.path(inner)
        if kind in ("generic", "primitive"):
            return inner
        if kind == "borrowed_ref":
            life = f"{inner['lifetime']} " if inner["lifetime"] else ""
            mutable = "mut " if inner["is_mutable"] else ""
            return f"&{life}{mutable}{self.type(inner['type'])}"
        if kind == "raw_pointer":
            return f"*{'mut' if inner['is_mutable'] else 'const'} {self.type(inner['type'])}"
        if kind == "slice":
            return f"[{self.type(inner)}]"
        if kind == "array":
            return f"[{self.type(inner['type'])}; {inner['len']}]"
        if kind == "tuple":
            return f"({', '.join(map(self.type, inner))})"
        if kind == "impl_trait":
            return f"impl {self.bounds(inner)}"
        if kind == "dyn_trait":
            traits = [self.path(trait["trait"]) for trait in inner["traits"]]
            return f"dyn {' + '.join([*traits, *([inner['lifetime']] if inner['lifetime'] else [])])}"
        if kind == "function_pointer":
            inputs = ", ".join(self.type(t) for _, t in inner["sig"]["inputs"])
            output = f" -> {self.type(inner['sig']['output'])}" if inner["sig"]["output"] else ""
            return f"fn({inputs}){output}"
        if kind == "qualified_path":
            # Without a trait where `C::Key` is enough.
            named = inner["trait"] and inner["trait"]["path"]
            trait = f" as {self.path(inner['trait'])}" if named else ""
            of = self.type(inner["self_type"])
            of = f"<{of}{trait}>" if trait else of
            return f"{of}::{inner['name']}{self.args(inner['args'])}"
        raise ValueError(f"unknown type in rustdoc's JSON: {kind}")
