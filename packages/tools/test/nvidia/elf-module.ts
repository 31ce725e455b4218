/** Properties of a kernel module. */
export interface ElfModule {
  /** Fields of modinfo: 'version=580.142'. */
  readonly modinfo: readonly string[]
  /** Undefined functions that it calls. */
  readonly undefinedSymbols: readonly string[]
  /** Signer. The signature consists of zeros. */
  readonly signer?: string
}

const SECTIONS = ['', '.modinfo', '.symtab', '.strtab', '.shstrtab'] as const
const HEADER_BYTES = 64
const SECTION_HEADER_BYTES = 64
const SYMBOL_BYTES = 24

/** Returns a relocatable ELF file for x86-64 without code (System V ABI 4.1; AMD64 supplement 1.0). */
export function elfModule({ modinfo, undefinedSymbols, signer }: ElfModule): Buffer {
  const strings = textTable(['', ...undefinedSymbols])
  const names = textTable(SECTIONS)
  const bodies = [
    Buffer.alloc(0),
    Buffer.from(modinfo.map((entry) => `${entry}\0`).join(''), 'utf8'),
    symbols(undefinedSymbols, strings),
    strings.bytes,
    names.bytes,
  ]
  const offsets: number[] = []
  let end = HEADER_BYTES
  for (const body of bodies) {
    offsets.push(end)
    end = Math.ceil((end + body.length) / 8) * 8
  }
  const file = Buffer.alloc(end + SECTIONS.length * SECTION_HEADER_BYTES)
  header(end).copy(file)
  bodies.forEach((body, index) => body.copy(file, offsets[index]))
  const [PROGBITS, SYMTAB, STRTAB] = [1, 2, 3]
  const types = [0, PROGBITS, SYMTAB, STRTAB, STRTAB]
  SECTIONS.forEach((name, index) => {
    const at = end + index * SECTION_HEADER_BYTES
    file.writeUInt32LE(names.offsetOf(name), at)
    file.writeUInt32LE(types[index]!, at + 4)
    file.writeBigUInt64LE(BigInt(index === 0 ? 0 : offsets[index]!), at + 24)
    file.writeBigUInt64LE(BigInt(bodies[index]!.length), at + 32)
    // Symbol table: the section of its names, and the index of its first symbol that is not local.
    if (types[index] === SYMTAB) {
      file.writeUInt32LE(3, at + 40)
      file.writeUInt32LE(1, at + 44)
      file.writeBigUInt64LE(BigInt(SYMBOL_BYTES), at + 56)
    }
    file.writeBigUInt64LE(8n, at + 48)
  })
  return signer === undefined ? file : Buffer.concat([file, signature(signer)])
}

function header(sectionsAt: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES)
  // 64 bits, little-endian, version 1; relocatable, x86-64.
  Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]).copy(bytes)
  bytes.writeUInt16LE(1, 16)
  bytes.writeUInt16LE(62, 18)
  bytes.writeUInt32LE(1, 20)
  bytes.writeBigUInt64LE(BigInt(sectionsAt), 40)
  bytes.writeUInt16LE(HEADER_BYTES, 52)
  bytes.writeUInt16LE(SECTION_HEADER_BYTES, 58)
  bytes.writeUInt16LE(SECTIONS.length, 60)
  bytes.writeUInt16LE(SECTIONS.length - 1, 62)
  return bytes
}

function symbols(undefinedSymbols: readonly string[], strings: TextTable): Buffer {
  const bytes = Buffer.alloc((undefinedSymbols.length + 1) * SYMBOL_BYTES)
  undefinedSymbols.forEach((name, index) => {
    const at = (index + 1) * SYMBOL_BYTES
    bytes.writeUInt32LE(strings.offsetOf(name), at)
    // A global symbol without type in section 0 is undefined.
    bytes.writeUInt8(0x10, at + 4)
  })
  return bytes
}

interface TextTable {
  readonly bytes: Buffer
  offsetOf(text: string): number
}

function textTable(texts: readonly string[]): TextTable {
  const bytes = Buffer.from(texts.map((text) => `${text}\0`).join(''), 'latin1')
  return { bytes, offsetOf: (text) => (text === '' ? 0 : bytes.indexOf(`\0${text}\0`, 'latin1') + 1) }
}

/**
 * Returns what the kernel's scripts/sign-file appends: a PKCS #7 signature, its descriptor and a magic line
 * (include/linux/module_signature.h). Tests use only the common name of the issuer, 2.5.4.3.
 */
function signature(signer: string): Buffer {
  const name = der(0x0c, Buffer.from(signer, 'utf8'))
  const attribute = der(0x30, Buffer.concat([der(0x06, Buffer.from([0x55, 0x04, 0x03])), name]))
  const issuer = der(0x30, der(0x31, attribute))
  const serial = der(0x02, Buffer.from([1]))
  const sha512 = der(0x30, der(0x06, Buffer.from([0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x03])))
  const rsa = der(0x30, der(0x06, Buffer.from([0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01])))
  const version = der(0x02, Buffer.from([1]))
  const signed = der(0x04, Buffer.alloc(64))
  const signerInfo = der(
    0x30,
    Buffer.concat([version, der(0x30, Buffer.concat([issuer, serial])), sha512, rsa, signed]),
  )
  const data = der(0x30, der(0x06, Buffer.from([0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01])))
  const signedData = der(0x30, Buffer.concat([version, der(0x31, sha512), data, der(0x31, signerInfo)]))
  const kind = der(0x06, Buffer.from([0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02]))
  const message = der(0x30, Buffer.concat([kind, der(0xa0, signedData)]))
  const descriptor = Buffer.alloc(12)
  descriptor.writeUInt8(2, 2)
  descriptor.writeUInt32BE(message.length, 8)
  return Buffer.concat([message, descriptor, Buffer.from('~Module signature appended~\n', 'latin1')])
}

/** Returns tag, length and contents (X.690 8.1). */
function der(tag: number, contents: Buffer): Buffer {
  const { length } = contents
  const lengths = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...lengths]), contents])
}
