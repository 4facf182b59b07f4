"""Write the trained networks as 8-bit ONNX that shares its table of words with the embedder.

`restore` reads them back, so that a training can go on from what ships.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

import make_embedder
from reader import files
from reader.network import Reader, Relater

ROOT_OUTPUT = "root"
CLAUSE_FILE = "clauses.npz"
TABLE = ("words.int8", "words.scales")  # the embedder's, shared by all networks
LARGE = 4096  # numbers of a matrix from which on half precision is worth its node


class Graph:
    """Collects nodes and constants behind those of the encoder."""

    def __init__(self, net: Any, *, words: int) -> None:
        """Take the encoder's graph from the words' vectors to its last layer."""
        weights = {
            name.replace("/", "."): p.detach().float().numpy()
            for name, p in net.encoder.layers.items()
        }
        weights["words"] = np.zeros((32, make_embedder.DIM), np.float32)  # cut off again below
        weights["positions"] = net.encoder.positions.numpy()
        # segment 0 is part of the positions; what training added to it is too
        segments = net.encoder.segments.detach().float().numpy()
        shapes = net.encoder.shapes.detach().float().numpy()
        self.model = make_embedder.build(weights, quantised=True)
        words_for_ids(self.model)
        self.graph = graph = self.model.graph
        while graph.node[-1].name != "5.out":
            graph.node.pop()
        nodes = list(graph.node)
        del graph.node[:]
        for node in nodes:
            if node.name == "shape":
                node.input[0] = "shapes"
            if node.name == "hidden.sum":
                node.input[0] = "seen"
                for name, table, ids in (
                    ("segment", segments, "segments"),
                    ("shaped", shapes, "shapes"),
                ):
                    self.constant(f"{name}.table", table)
                    self.node("Gather", [f"{name}.table", ids], f"{name}.rows")
                self.node("Add", ["words", "segment.rows"], "seen.part")
                self.node("Add", ["seen.part", "shaped.rows"], "seen")
            graph.node.append(node)
        shape = ["texts", "tokens"]
        for name in ("shapes", "segments"):
            graph.input.append(helper.make_tensor_value_info(name, TensorProto.INT64, shape))
        if words:
            graph.input.append(helper.make_tensor_value_info("first", TensorProto.INT64, ["n"]))
        for name, value in (("at.zero", 0), ("at.one", 1)):
            self.constant(name, np.array([value], np.int64))
        del graph.output[:]

    def constant(self, name: str, values: Any) -> str:
        """Add a constant."""
        values = np.ascontiguousarray(values)
        self.graph.initializer.append(numpy_helper.from_array(values, name))
        return name

    def node(self, op: str, inputs: list[str], output: str, **attributes: Any) -> str:
        """Add a node; its output has its name."""
        self.graph.node.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def linear(self, inputs: str, name: str, layer: Any) -> str:
        """Add a linear layer."""
        weight = layer.weight.detach().float().numpy().T
        self.node("MatMul", [inputs, self.constant(f"{name}.w", weight)], f"{name}.product")
        bias = self.constant(f"{name}.b", layer.bias.detach().float().numpy())
        return self.node("Add", [f"{name}.product", bias], name)

    def gelu(self, inputs: str, name: str, layer: Any) -> str:
        """Add a linear layer with its activation."""
        return self.node("Gelu", [self.linear(inputs, f"{name}.in", layer)], name)

    def output(self, name: str, *, axes: int) -> None:
        """Make a node's output, of so many axes, one of the graph's."""
        shape = [None] * axes
        self.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def save(self, path: Path) -> None:
        """Write the graph."""
        save(self.model, path)


def words_for_ids(model: onnx.ModelProto) -> None:
    """Let a graph of `make_embedder.build` take the words' vectors (texts, tokens, DIM) for ids.

    The table of words goes out of it: whoever runs the graph looks it up in the embedder's file.
    """
    graph = model.graph
    kept = [i for i in graph.initializer if i.name not in TABLE]
    del graph.initializer[:]
    graph.initializer.extend(kept)
    nodes = [n for n in graph.node if not n.name.startswith("words")]
    del graph.node[:]
    for node in nodes:
        if node.name == "shape":
            node.input[0] = "words"
        graph.node.append(node)
    del graph.input[:]
    shape = ["texts", "tokens", make_embedder.DIM]
    graph.input.append(helper.make_tensor_value_info("words", TensorProto.FLOAT, shape))


def save(model: onnx.ModelProto, path: Path) -> None:
    """Write a graph; matrices that are not 8-bit already are stored in half precision."""
    graph = model.graph
    kept, casts = [], []
    for tensor in graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.dtype == np.float32 and values.size > LARGE:
            half = numpy_helper.from_array(values.astype(np.float16), f"{tensor.name}.half")
            kept.append(half)
            casts.append(
                helper.make_node(
                    "Cast", [half.name], [tensor.name], name=tensor.name, to=TensorProto.FLOAT
                )
            )
        else:
            kept.append(tensor)
    del graph.initializer[:]
    graph.initializer.extend(kept)
    nodes = [*casts, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    onnx.checker.check_model(model, full_check=False)
    path.write_bytes(model.SerializeToString(deterministic=True))


def reader(net: Reader, folder: Path) -> None:
    """Write `reader.onnx` and the small matrices that read clauses."""
    g = Graph(net, words=1)
    g.node("Gather", ["5.out", "first"], "tokens", axis=1)
    g.node("Slice", ["5.out", "at.zero", "at.one", "at.one"], ROOT_OUTPUT)
    for name, layer in net.tags.items():
        g.output(g.linear("tokens", f"tag.{name}", layer), axes=3)
    g.node("Concat", [ROOT_OUTPUT, "tokens"], "heads", axis=1)
    g.gelu("heads", "arc.head", net.arc_head)
    g.gelu("tokens", "arc.word", net.arc_word)
    arc = net.arc.detach().float().numpy()
    g.node("MatMul", ["arc.word", g.constant("arc.w", arc[:-1])], "arc.left.product")
    g.node("Add", ["arc.left.product", g.constant("arc.b", arc[-1])], "arc.left")
    g.node("Transpose", ["arc.head"], "arc.right", perm=[0, 2, 1])
    g.node("MatMul", ["arc.left", "arc.right"], "arcs")
    g.gelu("heads", "rel.head", net.rel_head)
    g.gelu("tokens", "rel.word", net.rel_word)
    for name in ("arcs", "rel.head", "rel.word", "tokens", ROOT_OUTPUT):
        g.output(name, axes=3)
    g.save(folder / "reader.onnx")
    small = {"rel": net.rel.detach().float().numpy()}
    for name, layer in (("state", net.clause), ("prompt", net.prompt), *net.parts.items()):
        small[f"{name}.w"] = layer.weight.detach().float().numpy().T
        small[f"{name}.b"] = layer.bias.detach().float().numpy()
    np.savez_compressed(folder / CLAUSE_FILE, **{k: v.astype(np.float16) for k, v in small.items()})


def relater(net: Relater, folder: Path) -> None:
    """Write `relater.onnx`."""
    g = Graph(net, words=0)
    g.node("ReduceMean", ["5.out", "at.one"], "mean", keepdims=0)
    g.node("Slice", ["5.out", "at.zero", "at.one", "at.one"], "root.row")
    g.node("Squeeze", ["root.row", "at.one"], "root.flat")
    g.node("Concat", ["root.flat", "mean"], "both", axis=1)
    g.gelu("both", "state", net.state)
    for name, layer in net.parts.items():
        g.output(g.linear("state", name, layer), axes=2)
    g.save(folder / "relater.onnx")


def restore(net: Any, folder: Path) -> None:
    """Fill a network with the weights of its written file; rounding to 8 bits has cost a little."""
    name = "relater" if isinstance(net, Relater) else "reader"
    graph = onnx.load(folder / f"{name}.onnx").graph
    written = {i.name.removesuffix(".half"): numpy_helper.to_array(i) for i in graph.initializer}

    def floats(key: str) -> Any:
        if key in written:
            return torch.tensor(written[key].astype(np.float32))
        scales = written[f"{key}.scales"].astype(np.float32)
        rows = written[f"{key}.int8"].astype(np.float32)
        return torch.tensor(rows * np.repeat(scales, make_embedder.BLOCK, axis=0))

    def fill(layer: Any, key: str) -> None:
        layer.weight.copy_(floats(f"{key}.w").T)
        layer.bias.copy_(floats(f"{key}.b"))

    with torch.no_grad():
        for key, values in net.encoder.layers.items():
            values.copy_(floats(key.replace("/", ".")))
        net.encoder.segments.copy_(floats("segment.table"))
        net.encoder.shapes.copy_(floats("shaped.table"))
        if isinstance(net, Relater):
            fill(net.state, "state.in")
            for key, layer in net.parts.items():
                if f"{key}.b" in written:  # what an older file does not answer begins anew
                    fill(layer, key)
            return
        for key, layer in net.tags.items():
            fill(layer, f"tag.{key}")
        for key in ("arc_head", "arc_word", "rel_head", "rel_word"):
            fill(getattr(net, key), key.replace("_", ".") + ".in")
        net.arc.copy_(torch.cat([floats("arc.w"), floats("arc.b")[None]]))
        written |= dict(np.load(folder / CLAUSE_FILE))
        net.rel.copy_(floats("rel"))
        for key, layer in (("state", net.clause), ("prompt", net.prompt), *net.parts.items()):
            fill(layer, key)


def places(embedder: Path) -> dict[str, Any]:
    """Say where the table of words lies in the embedder's file; MakeError if not once each."""
    data = embedder.read_bytes()
    found: dict[str, Any] = {"embedder_sha256": make_embedder.digest(data)}
    for tensor in onnx.load_from_string(data).graph.initializer:
        if tensor.name not in TABLE:
            continue
        at = data.find(tensor.raw_data)
        if at < 0 or data.find(tensor.raw_data, at + 1) >= 0:
            raise make_embedder.MakeError(f"{tensor.name} does not stand once in {embedder}")
        found[tensor.name] = {"offset": at, "shape": list(tensor.dims)}
    return found


def record(folder: Path, figures: Mapping[str, Any], embedder: Path) -> dict[str, Any]:
    """Write `reader.json`: what was written, and where the embedder's table of words lies."""
    return files.write(folder, {"words": places(embedder), "figures": dict(figures)})
