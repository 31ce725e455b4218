import { expect, test } from 'vitest'
import { encodeArguments, kernelParameters } from './kernels.js'

test('reads the parameter sizes of each kernel from its PTX', () => {
  const ptx = `
.version 8.2
.func (.param .b32 result) helper(.param .b32 a) { ret; }
.visible .entry first(
	.param .u64 first_param_0,
	.param .u32 first_param_1,
	.param .align 16 .b8 first_param_2[48],
	.param .u64 .ptr .global .align 8 first_param_3,
	.param .f32 first_param_4
)
.maxntid 1, 1, 1
{
	ret;
}
.entry second { ret; }
.entry third() { ret; }
`
  expect([...kernelParameters(ptx)]).toEqual([
    ['first', [8, 4, 48, 8, 4]],
    ['second', []],
    ['third', []],
  ])
  expect(() => kernelParameters('.entry odd(.param .texref a)')).toThrow(
    new RangeError('ptx: expected parameters of a known type, got .param .texref a'),
  )
})

test('encodes arguments as little-endian bytes', () => {
  const encoded = encodeArguments('k', [4, 8, 2], [0x01020304, 0x0102030405060708n, Uint8Array.of(1, 2)])
  expect(encoded.map((bytes) => [...bytes])).toEqual([
    [4, 3, 2, 1],
    [8, 7, 6, 5, 4, 3, 2, 1],
    [1, 2],
  ])
  expect(() => encodeArguments('k', [8], [2n ** 64n])).toThrow(RangeError)
  expect(() => encodeArguments('k', [4], [0.5])).toThrow(RangeError)
  expect(() => encodeArguments('k', [4], ['1' as unknown as number])).toThrow(
    new TypeError('args[0]: expected a number, a bigint or a Uint8Array, got string'),
  )
})
