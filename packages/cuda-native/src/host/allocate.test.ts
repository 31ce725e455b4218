import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { reserveHugePages } from '../../test/huge-pages.js'
import { isBuilt, native, skipped } from '../../test/native.js'

const HUGE = 2_097_152

describe.skipIf(!isBuilt)(`allocate${skipped}`, () => {
  test('returns whole pages, zeroed, resident and locked', () => {
    const region = native.allocate(5000, 4096)
    expect(region.lengthBytes).toBe(8192)
    expect(region.address % 4096n).toBe(0n)
    expect(new Uint8Array(region.buffer).every((byte) => byte === 0)).toBe(true)
    expect(smapsOf(region.address)).toMatchObject({ Size: 8, Rss: 8, Locked: 8 })
    region.unmap()
    expect(smapsOf(region.address)).toBeUndefined()
  })

  test('returns zeroed pages again after used memory was freed', () => {
    for (let round = 0; round < 3; round++) {
      const region = native.allocate(64 * 4096, 4096)
      const bytes = new Uint8Array(region.buffer)
      expect(bytes.every((byte) => byte === 0)).toBe(true)
      bytes.fill(0xa5)
      region.unmap()
    }
  })

  test('returns memory that child processes do not inherit', () => {
    const region = native.allocate(4096, 4096)
    // VmFlags dc: do not copy on fork.
    expect(smapsOf(region.address)?.['VmFlags']).toContain('dc')
    region.unmap()
  })

  test('returns huge pages of 2 MiB, zeroed, aligned and resident', ({ skip }) => {
    using pages = reserveHugePages(2)
    if (pages === undefined) return skip('there are no huge pages, and none can be reserved')
    const region = native.allocate(HUGE + 1, HUGE)
    expect(region.lengthBytes).toBe(2 * HUGE)
    expect(region.address % BigInt(HUGE)).toBe(0n)
    expect(new Uint8Array(region.buffer).every((byte) => byte === 0)).toBe(true)
    expect(smapsOf(region.address)).toMatchObject({ KernelPageSize: 2048, Shared_Hugetlb: 0, Private_Hugetlb: 4096 })
    region.store32(2 * HUGE - 4, 0x12345678)
    expect(region.load32(2 * HUGE - 4)).toBe(0x12345678)
    region.unmap()
  })

  test('throws ENOMEM if there are not enough huge pages', () => {
    const total = Number(/HugePages_Total: +(\d+)/.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1])
    // With overcommit the kernel may allocate more than the pool holds, but not more than all memory.
    const pages = total + Math.ceil(Number(/MemTotal: +(\d+)/.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]) / 2048)
    expect(() => native.allocate(pages * HUGE, HUGE)).toThrow(
      expect.objectContaining({ code: 'ENOMEM', errno: -12, syscall: 'mmap' }),
    )
  })

  test('rejects invalid lengths and page sizes', () => {
    expect(() => native.allocate(0, 4096)).toThrow(
      new RangeError('lengthBytes: expected an integer from 1 to 9007199254740991, got 0'),
    )
    expect(() => native.allocate(1.5, 4096)).toThrow(RangeError)
    expect(() => native.allocate(4096, 8192 as 4096)).toThrow(
      new RangeError('pageBytes: expected 4096 or 2097152, got 8192'),
    )
  })

  test('throws EAGAIN with the limit beyond RLIMIT_MEMLOCK', ({ skip }) => {
    if (process.getuid?.() !== 0) return skip('only root can run a program as somebody whom the limit binds')
    const script = `
      const { loadHardwareHost } = await import('@gpunvme/cuda-native/host')
      const host = loadHardwareHost()
      process.setgid(65534)
      process.setuid(65534)
      const fits = host.allocate(16384, 4096)
      fits.unmap()
      let refusal
      try {
        host.allocate(131072, 4096)
      } catch ({ code, errno, syscall, message }) {
        refusal = { code, errno, syscall, message }
      }
      console.log(JSON.stringify({ limit: host.memlockLimitBytes(), refusal }))`
    // The shell's unit is KiB.
    const shell = 'ulimit -l 64 && exec "$0" --input-type=module -e "$1"'
    const cwd = join(import.meta.dirname, '../..')
    const output = execFileSync('sh', ['-c', shell, process.execPath, script], { cwd, encoding: 'utf8' })
    expect(JSON.parse(output)).toEqual({
      limit: 65536,
      refusal: {
        ...{ code: 'EAGAIN', errno: -11, syscall: 'mmap' },
        message:
          'EAGAIN: Resource temporarily unavailable, mmap: ' +
          'RLIMIT_MEMLOCK limits this process to 65536 locked bytes; raise it with ulimit -l',
      },
    })
  })
})

/** Returns the smaps entry of the mapping at an address: sizes in KiB, and flags. */
function smapsOf(address: bigint): Readonly<Record<string, number | string>> | undefined {
  const blocks = readFileSync('/proc/self/smaps', 'utf8').split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m)
  const block = blocks.find((text) => text.startsWith(`${address.toString(16)}-`))
  if (block === undefined) return undefined
  const sizes = [...block.matchAll(/^(\w+): +(\d+) kB$/gm)].map((line) => [line[1]!, Number(line[2])] as const)
  return Object.fromEntries<number | string>([...sizes, ['VmFlags', /^VmFlags: (.*)$/m.exec(block)![1]!]])
}
