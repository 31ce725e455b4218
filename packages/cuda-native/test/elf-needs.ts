/** Symbol versions that a program requires, by version name: `GLIBC`, `GLIBCXX`, `CXXABI`. */
export type Needs = ReadonlyMap<string, readonly string[]>

/** Type of the section with required versions, which `objdump -p` shows as "Version References" (elf.h). */
const SHT_GNU_VERNEED = 0x6ffffffe

/** Reads the required versions of a 64-bit little-endian ELF file: Elf64_Ehdr, Elf64_Shdr, Elf64_Verneed of elf.h. */
export function elfNeeds(file: Uint8Array): Needs {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  const u16 = (at: number) => view.getUint16(at, true)
  const u32 = (at: number) => view.getUint32(at, true)
  const u64 = (at: number) => Number(view.getBigUint64(at, true))
  if (view.getUint32(0) !== 0x7f454c46 || file[4] !== 2 || file[5] !== 1) {
    throw new TypeError('file: expected ELF of 64 bits')
  }
  const text = (at: number) => Buffer.from(file.subarray(at, file.indexOf(0, at))).toString('latin1')
  const section = (index: number) => u64(0x28) + index * u16(0x3a)
  const offsetOf = (header: number) => u64(header + 0x18)

  const needs = new Map<string, string[]>()
  for (let index = 0; index < u16(0x3c); index++) {
    const header = section(index)
    if (u32(header + 4) !== SHT_GNU_VERNEED) continue
    const strings = offsetOf(section(u32(header + 0x28)))
    // sh_info is the number of libraries. Each has vn_cnt versions from vn_aux on, linked by vna_next.
    let library = offsetOf(header)
    for (let left = u32(header + 0x2c); left > 0; left--, library += u32(library + 12)) {
      let version = library + u32(library + 8)
      for (let more = u16(library + 2); more > 0; more--, version += u32(version + 12)) {
        const [, name, number] = /^(.*?)_([\d.]+)$/.exec(text(strings + u32(version + 8))) ?? []
        if (name !== undefined) needs.set(name, [...(needs.get(name) ?? []), number!])
      }
    }
  }
  return needs
}

/** Returns the newest of versions such as `2.34`; undefined for an empty list. */
export function newest(versions: readonly string[] = []): string | undefined {
  return [...versions].sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1)
}
