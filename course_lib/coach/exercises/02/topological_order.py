"""An order in which every node comes after all that it was made from."""

from collections.abc import Iterator

from course_lib.autograd import Node
from course_lib.coach.exercise import Case, Changed, Exercise, Refused, Wrong


def made_at_random(random, count):
    """Nodes made of up to three earlier ones, and a last one made of all that are used by no other."""
    graph = {
        f"n{i}": [f"n{k}" for k in random.integers(0, i, random.integers(1, 4))] if i else [] for i in range(count)
    }
    used = {name for parents in graph.values() for name in parents}
    return graph | {"L": [name for name in random.permutation([*graph]).tolist() if name not in used]}


def cases(random):
    return [
        Case("a leaf alone", {"x": []}, "x"),
        Case("a chain", {"x": [], "a": ["x"], "L": ["a"]}, "L"),
        Case("one node used twice by another", {"x": [], "L": ["x", "x"]}, "L"),
        Case("a node that is reached along two paths", {"x": [], "a": ["x"], "b": ["a"], "L": ["a", "b"]}, "L"),
        Case("the longer path first", {"x": [], "a": ["x"], "b": ["a"], "L": ["b", "a"]}, "L"),
        Case("the shorter path first", {"x": [], "a": ["x"], "b": ["a"], "L": ["x", "b"]}, "L"),
        *(Case(f"{count} nodes at random", made_at_random(random, count), "L") for count in (5, 8, 12, 30)),
        Case(
            "60 nodes, each used twice by the next",
            {"n0": [], **{f"n{i}": [f"n{i - 1}"] * 2 for i in range(1, 60)}},
            "n59",
        ),
        Case("an input without a gradient", {"x": [], "L": [None, "x"]}, "L"),
        Case("a chain of 5,000", {"n0": [], **{f"n{i}": [f"n{i - 1}"] for i in range(1, 5000)}}, "n4999"),
    ]


def order_names(answer, graph, root):
    """Build the graph of Nodes, ask for an order, and give the labels."""
    nodes = {}
    for name, parents in graph.items():
        nodes[name] = Node("leaf" if not parents else "made", [p and (nodes[p], 0) for p in parents])
        nodes[name].label = name
    order = answer(nodes[root])
    if isinstance(order, Iterator):
        raise Refused(
            "What you return is no list: it can be gone through only once. backward() goes through it in reverse."
        )
    return [node.label for node in order]


def check(order, graph, root):
    places = {}
    for place, name in enumerate(order):
        if name in places:
            return f"{name} stands in your order {order.count(name)} times. Each node belongs there once."
        places[name] = place
    if missing := [name for name in graph if name not in places]:
        if root in missing:
            return f"{root} itself is missing: the node that one begins with belongs in the order too, as the last."
        return f"{missing[0]} is missing: {root} depends on it, so it belongs in the order."
    for name, parents in graph.items():
        for parent in parents:
            if parent and places[parent] > places[name]:
                return f"{name} stands before {parent}, which it was made from."
    return None


exercise = Exercise(
    title="An order for the backward pass",
    test_out=True,
    minutes=20,
    defines="topological_order",
    target="course_lib.autograd.topological_order",
    cases=cases,
    call=order_names,
    compared=False,
    check=check,
    given="from course_lib.autograd import Node",
    hints=(
        "Go down along the first parent as far as it leads. What may be put into the order there? And what after that?",
        "A node is put into the order when all its parents are in it. So return to it after each of them: remember the "
        "path to it.",
        "Keep a list of pairs (node, iterator over its parents). Take the last pair's next entry. Pass over None (it is no "
        "end) and nodes seen before; append a new parent's pair. At the iterator's end append the node to the order and "
        "remove its pair.",
    ),
    example='''def all_files(folder):
    """Every file below a folder, without a function that calls itself: the same list of what is still to be done."""
    found, waiting = [], [iter(folder.iterdir())]
    while waiting:
        path = next(waiting[-1], None)
        if path is None:
            waiting.pop()  # this folder is done: back to the one above
        elif path.is_dir():
            waiting.append(iter(path.iterdir()))
        else:
            found.append(path)
    return found
''',
    wrong=[
        Wrong("""def topological_order(root):
    order, seen = [], set()
    def visit(node):
        if node in seen:
            return
        seen.add(node)
        for edge in node.parents:
            if edge is not None:
                visit(edge[0])
        order.append(node)
    visit(root)
    return order
""",
              "Each step down the graph is a nested call, and Python allows about a thousand of these. Keep a stack of "
              "your own: a list of what is still to be done.",
              when=lambda seen: seen.label == "a chain of 5,000" and seen.error.startswith("RecursionError")),
        Wrong("""def topological_order(root):
    order, done, stack = [], set(), [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            order.append(node)
        elif node not in done:
            done.add(node)
            stack.append((node, True))
            stack += [(parent, False) for parent, number in node.parents]
    return order
""", "An input that needs no gradient has no pair: its entry in `parents` is None.",
              when=lambda seen: seen.label == "an input without a gradient" and "None" in seen.error),
        Wrong(Changed(("return order", "return order[::-1]")), generic="which it was made from"),
        Wrong("""def topological_order(root):
    order, waiting = [], [root]
    while waiting:
        node = waiting.pop(0)
        order.append(node)
        waiting += [edge[0] for edge in node.parents if edge is not None]
    return order[::-1]
""", generic="Each node belongs there once"),
    ],
)  # fmt: skip
