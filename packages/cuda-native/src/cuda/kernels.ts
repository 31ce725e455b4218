/** What a kernel takes: the size of each parameter in bytes, in order. */
export type KernelParameters = ReadonlyMap<string, readonly number[]>

/** A number is a parameter of 32 bits, a bigint one of 64, as pointers are; a structure is given as its bytes. */
export type KernelArgument = number | bigint | Uint8Array

/**
 * The kernels of a PTX text and the sizes of their parameters. The driver asks for no count: it reads as many arguments
 * as a kernel has parameters, and beyond the end where fewer were given.
 */
export function kernelParameters(ptx: string): KernelParameters {
  const kernels = new Map<string, readonly number[]>()
  for (const [, name, list] of ptx.matchAll(/\.entry\s+([\w$]+)\s*(?:\(([^)]*)\))?/g)) {
    const parameters = (list ?? '').split(',').filter((each) => each.includes('.param'))
    kernels.set(
      name!,
      parameters.map((each) => {
        const bits = /\.[usbf](8|16|32|64)\b/.exec(each)?.[1]
        if (bits === undefined) throw new RangeError(`ptx: expected parameters of a known type, got ${each.trim()}`)
        return (Number(bits) / 8) * Number(/\[(\d+)\]/.exec(each)?.[1] ?? 1)
      }),
    )
  }
  return kernels
}

/** The bytes of each argument. @throws TypeError where they are not those that the kernel takes. */
export function encodeArguments(name: string, sizes: readonly number[], args: readonly KernelArgument[]): Uint8Array[] {
  if (args.length !== sizes.length) {
    throw new TypeError(`args: expected the ${sizes.length} of ${name}, got ${args.length}`)
  }
  return args.map((argument, index) => {
    const bytes = encodeArgument(argument, `args[${index}]`)
    if (bytes.length === sizes[index]) return bytes
    throw new TypeError(`args[${index}]: expected ${sizes[index]!} bytes for ${name}, got ${bytes.length}`)
  })
}

function encodeArgument(argument: KernelArgument, name: string): Uint8Array {
  if (typeof argument === 'number') {
    if (!Number.isInteger(argument) || argument < 0 || argument > 0xffff_ffff) {
      throw new RangeError(`${name}: expected an integer from 0 to 4294967295, got ${argument}`)
    }
    return new Uint8Array(Uint32Array.of(argument).buffer)
  }
  if (typeof argument === 'bigint') {
    if (BigInt.asUintN(64, argument) !== argument) {
      throw new RangeError(`${name}: expected a bigint from 0 to 2^64 - 1, got ${argument}n`)
    }
    return new Uint8Array(BigUint64Array.of(argument).buffer)
  }
  if (argument instanceof Uint8Array) return argument.slice()
  throw new TypeError(`${name}: expected a number, a bigint or a Uint8Array, got ${typeof argument}`)
}
