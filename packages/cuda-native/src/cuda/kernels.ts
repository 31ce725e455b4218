/** Sizes in bytes of each kernel's parameters, in order, by the kernel's name. */
export type KernelParameters = ReadonlyMap<string, readonly number[]>

/** Argument of a kernel: a number is 32 bits, a bigint 64 bits, such as a pointer; a structure is passed as its bytes. */
export type KernelArgument = number | bigint | Uint8Array

/**
 * Returns the kernels of a PTX text and the sizes of their parameters. The driver does not take a count: with too few
 * arguments, it would read beyond the end.
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

/** Encodes arguments. @throws TypeError if number or sizes do not match the kernel's parameters. */
export function encodeArguments(name: string, sizes: readonly number[], args: readonly KernelArgument[]): Uint8Array[] {
  if (args.length !== sizes.length) {
    throw new TypeError(`args: expected ${sizes.length} arguments for ${name}, got ${args.length}`)
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
