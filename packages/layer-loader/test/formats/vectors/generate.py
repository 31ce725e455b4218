"""Writes the vectors beside it: pip install gguf==0.19.0 safetensors==0.8.0 numpy, then python3 generate.py."""

import json

import numpy
from gguf import GGMLQuantizationType, GGUFEndian, GGUFReader, GGUFWriter, quants
from safetensors import safe_open
from safetensors.numpy import save_file


def quantized(shape, dtype):
    return quants.quantize(numpy.linspace(-1, 1, numpy.prod(shape), dtype=numpy.float32).reshape(shape), dtype)


def write(path, split=0, alignment=None, endian=GGUFEndian.LITTLE):
    writer = GGUFWriter(path, "llama", split_max_tensors=split, endianess=endian)
    if alignment is not None:
        writer.add_custom_alignment(alignment)
    writer.add_name("vector")
    writer.add_uint8("v.u8", 200)
    writer.add_int8("v.i8", -100)
    writer.add_uint16("v.u16", 60000)
    writer.add_int16("v.i16", -30000)
    writer.add_uint32("v.u32", 4000000000)
    writer.add_int32("v.i32", -2000000000)
    writer.add_uint64("v.u64", 2**63 + 1)
    writer.add_int64("v.i64", -(2**62))
    writer.add_float32("v.f32", 0.5)
    writer.add_float64("v.f64", 0.1)
    writer.add_bool("v.bool", True)
    writer.add_string("v.string", "žluťoučký kůň")
    writer.add_array("v.strings", ["a", "", "€"])
    writer.add_array("v.ints", [1, -2, 3])
    writer.add_tensor("token_embd.weight", numpy.ones((2, 64), numpy.float32))
    if endian == GGUFEndian.LITTLE:
        for block in range(2):
            q8, q4 = GGMLQuantizationType.Q8_0, GGMLQuantizationType.Q4_0
            writer.add_tensor(f"blk.{block}.attn_norm.weight", numpy.ones((64,), numpy.float16))
            writer.add_tensor(f"blk.{block}.attn_q.weight", quantized((2, 64), q8), raw_dtype=q8)
            writer.add_tensor(f"blk.{block}.ffn_up_exps.weight", quantized((3, 2, 64), q4), raw_dtype=q4)
        writer.add_tensor("output_norm.weight", numpy.ones((64,), numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


write("plain.gguf")
write("aligned.gguf", alignment=256)
write("split.gguf", split=3)
write("big-endian.gguf", endian=GGUFEndian.BIG)
save_file(
    {
        "model.embed_tokens.weight": numpy.arange(12, dtype=numpy.float32).reshape(3, 4),
        "model.layers.0.mlp.experts.0.up_proj.weight": numpy.arange(6, dtype=numpy.float16).reshape(2, 3),
        "model.layers.0.mask": numpy.array([True, False, True]),
        "scalar": numpy.array(7, dtype=numpy.int64),
        "empty": numpy.zeros((0, 3), dtype=numpy.float64),
    },
    "numpy.safetensors",
    metadata={"format": "np"},
)

# What their own readers say: of a GGUF the type, the shape innermost first, the absolute offset, the length in bytes.
expected = {}
for name in ["plain.gguf", "aligned.gguf", *(f"split-0000{part}-of-00003.gguf" for part in (1, 2, 3))]:
    expected[name] = [
        [tensor.name, tensor.tensor_type.name, [int(n) for n in tensor.shape], int(tensor.data_offset), int(tensor.n_bytes)]
        for tensor in GGUFReader(name).tensors
    ]
with safe_open("numpy.safetensors", "np") as file:
    slices = [(name, file.get_slice(name)) for name in file.keys()]
    expected["numpy.safetensors"] = [[name, str(s.get_dtype()), s.get_shape()] for name, s in slices]
with open("expected.json", "w") as file:
    json.dump(expected, file, indent=2)
    file.write("\n")
