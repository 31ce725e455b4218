import { closeSync, openSync, readSync, truncateSync } from 'node:fs'
import { onTestFinished, describe, expect, test } from 'vitest'
import { openCuda, registerLookup, type Cuda } from '../../src/cuda/index.js'
import { native } from '../native.js'
import { scratchFile } from '../scratch-file.js'
import { hasStandin, skippedWithoutStandin, useStandin } from './standin.js'

const standin = useStandin()

const PAGE = 4096

function open(machine = 'open 580.159.04 6.18'): Cuda {
  standin.driver(machine)
  const cuda = openCuda()
  onTestFinished(async () => {
    await cuda.close()
  })
  return cuda
}

/** Whether pages are present, by bit 63 of /proc/self/pagemap. */
function presentPages(address: bigint, count: number): boolean[] {
  const entries = new BigUint64Array(count)
  const fd = openSync('/proc/self/pagemap', 'r')
  readSync(fd, entries, 0, count * 8, Number(address / BigInt(PAGE)) * 8)
  closeSync(fd)
  return [...entries].map((entry) => entry >> 63n === 1n)
}

/** Locked memory, whose pages are present. */
function memory(lengthBytes = 4 * PAGE) {
  const region = native.allocate(lengthBytes, PAGE)
  onTestFinished(() => region.unmap())
  return region
}

/** Returns the name of the driver's answer. */
function answer(register: () => { unregister(): void }): string {
  try {
    register().unregister()
    return 'accepted'
  } catch (error) {
    return (error as { resultName: string }).resultName
  }
}

const REFUSED = 'CUDA_ERROR_INVALID_VALUE'

describe.skipIf(!hasStandin)(`registrations that NVIDIA's driver refuses${skippedWithoutStandin}`, () => {
  // From the branch of a driver to kernels on which its lookup finds the pages of registers.
  const KERNELS = ['5.15', '6.1', '6.9', '6.11', '6.12', '6.18', '7.2'] as const
  const upTo = (last: (typeof KERNELS)[number]) => KERNELS.slice(0, KERNELS.indexOf(last) + 1)

  test.each([
    ['open 535.154.05', upTo('6.9')],
    ['open 535.183.01', upTo('6.9')],
    ['open 535.230.02', upTo('6.11')],
    ['open 535.247.01', KERNELS],
    ['open 550.54.14', upTo('6.9')],
    ['open 550.144.03', upTo('6.11')],
    ['open 550.163.01', KERNELS],
    ['open 570.86.16', upTo('6.11')],
    ['open 570.124.06', upTo('6.11')],
    ['open 570.133.07', KERNELS],
    ['open 575.64.05', KERNELS],
    ['open 580.95.05', KERNELS],
    ['open 590.48.01', KERNELS],
    ['proprietary 535.183.01', upTo('6.9')],
    ['proprietary 550.163.01', upTo('6.9')],
    ['proprietary 570.133.07', upTo('6.9')],
    ['proprietary 575.64.05', upTo('6.9')],
    ['proprietary 580.95.05', upTo('6.9')],
    ['proprietary 590.48.01', upTo('6.9')],
  ])('%s finds the pages of registers where the kernel exports its lookup', async (driver, expected) => {
    const bar = memory()
    standin.pretend(bar)
    const accepted: string[] = []
    for (const kernel of KERNELS) {
      standin.driver(`${driver} ${kernel}`)
      const cuda = openCuda()
      const got = answer(() => cuda.registerIo(bar.address, bar.lengthBytes))
      if (got === 'accepted') accepted.push(kernel)
      else expect(got).toBe(REFUSED)
      await cuda.close()
    }
    expect(accepted).toEqual(expected)
  })

  // The prediction that `doctor` and errors report, against the driver's answer.
  test('registerLookup predicts each of these answers', async () => {
    const bar = memory()
    standin.pretend(bar)
    const drivers = ['535.54.03', '535.183.01', '535.216.03', '535.247.01', '550.54.14', '550.90.07', '550.163.01']
    drivers.push('570.86.15', '570.124.06', '570.133.07', '575.64.05', '580.95.05', '590.48.01')
    for (const variant of ['open', 'proprietary'])
      for (const version of drivers)
        for (const kernel of KERNELS) {
          standin.driver(`${variant} ${version} ${kernel}`)
          const cuda = openCuda()
          const got = answer(() => cuda.registerIo(bar.address, bar.lengthBytes)) === 'accepted'
          const predicted = registerLookup({ isOpen: variant === 'open', version }, `${kernel}.0-generic`)
          expect([variant, version, kernel, predicted]).toEqual([variant, version, kernel, got ? 'works' : predicted])
          expect([variant, version, kernel, got]).toEqual([variant, version, kernel, predicted === 'works'])
          await cuda.close()
        }
  })

  test('registers are refused to a process without privileges', () => {
    const bar = memory()
    standin.pretend(bar)
    const cuda = open('open 580.159.04 6.18 user')
    expect(answer(() => cuda.registerIo(bar.address, PAGE))).toBe('CUDA_ERROR_NOT_PERMITTED')
  })

  // Measured on an H100 and an H200 with the driver open 580.159.04.
  test('ordinary memory is refused as registers', () => {
    const cuda = open()
    expect(answer(() => cuda.registerIo(memory().address, PAGE))).toBe(REFUSED)
  })

  test.each([
    ['open 535.154.05 6.1', true, 'accepted'],
    ['open 535.154.05 6.1', false, REFUSED],
    ['open 535.161.07 6.1', true, REFUSED],
    ['open 550.40.07 6.1', true, 'accepted'],
    ['open 550.54.14 6.1', true, REFUSED],
    ['open 580.159.04 6.18', true, REFUSED],
    ['proprietary 580.159.04 6.1', true, REFUSED],
  ])('%s, given a PFNMAP mapping as memory, page-backed %s: %s', (machine, isRam, expected) => {
    const queue = memory()
    standin.pretend({ ...queue, name: '/dev/gpunvme0', isRam, flags: 'rd wr sh mr mw ms pf io dc de dd' })
    const cuda = open(machine)
    expect(answer(() => cuda.register(queue.address, queue.lengthBytes))).toBe(expected)
  })

  test('pages that a driver has inserted (VM_MIXEDMAP) are registered as memory', () => {
    const queue = memory()
    standin.pretend({ ...queue, name: '/dev/gpunvme0', flags: 'rd wr sh mr mw ms dc de mm dd' })
    const cuda = open()
    expect(answer(() => cuda.register(queue.address, queue.lengthBytes))).toBe('accepted')
  })

  // Like vfio-pci since Linux 6.12, which maps each page at its first access.
  test('pages of registers that nothing has accessed are mapped before they are registered', () => {
    const file = scratchFile(new Uint8Array(4 * PAGE))
    onTestFinished(() => file[Symbol.dispose]())
    const fd = openSync(file.path, 'r+')
    const untouched = native.map(fd, 0, 4 * PAGE, 'read-write')
    closeSync(fd)
    onTestFinished(() => untouched.unmap())
    standin.pretend({ ...untouched, name: 'anon_inode:[vfio-device]' })
    expect(presentPages(untouched.address, 4)).toEqual([false, false, false, false])
    const cuda = open()
    expect(answer(() => cuda.registerIo(untouched.address + BigInt(PAGE), 2 * PAGE))).toBe('accepted')
    expect(presentPages(untouched.address, 4).slice(1, 3)).toEqual([true, true])
  })

  test('registers are refused while their pages are not present', () => {
    const nothing = { address: 0x20_0000n, lengthBytes: 2 * PAGE }
    standin.pretend({ ...nothing, name: 'anon_inode:[vfio-device]' })
    expect(presentPages(nothing.address, 2)).toEqual([false, false])
    const cuda = open()
    expect(answer(() => cuda.registerIo(nothing.address, nothing.lengthBytes))).toBe(REFUSED)
  })

  test('registers are refused beyond the end of their mapping', () => {
    const bar = memory(4 * PAGE)
    const half = { address: bar.address, lengthBytes: 2 * PAGE }
    standin.pretend(half, { address: bar.address + BigInt(2 * PAGE), lengthBytes: 2 * PAGE })
    const cuda = open()
    expect(answer(() => cuda.registerIo(bar.address, 2 * PAGE))).toBe('accepted')
    expect(answer(() => cuda.registerIo(bar.address + BigInt(PAGE), 2 * PAGE))).toBe(REFUSED)
  })

  test('memory that is not mapped, is read-only or is beyond the end of its file is refused', () => {
    const cuda = open()
    expect(answer(() => cuda.register(0x1000n, PAGE))).toBe(REFUSED)
    const file = scratchFile(new Uint8Array(4 * PAGE))
    onTestFinished(() => file[Symbol.dispose]())
    const fd = openSync(file.path, 'r+')
    const writable = native.map(fd, 0, 4 * PAGE, 'read-write')
    const readOnly = native.map(fd, 0, 4 * PAGE, 'read')
    closeSync(fd)
    onTestFinished(() => writable.unmap())
    onTestFinished(() => readOnly.unmap())
    expect(answer(() => cuda.register(readOnly.address, PAGE))).toBe(REFUSED)
    truncateSync(file.path, PAGE)
    standin.pretend({ ...writable, flags: 'rd wr sh mr mw me ms', name: '/memfd:x (deleted)' })
    expect(answer(() => cuda.register(writable.address, PAGE))).toBe('accepted')
    expect(answer(() => cuda.register(writable.address, 2 * PAGE))).toBe(REFUSED)
  })

  test.each([
    ['open 580.159.04 6.1', 'accepted'],
    ['open 580.159.04 6.4', 'accepted'],
    ['open 535.154.05 6.8', 'accepted'],
    ['open 580.159.04 6.5', REFUSED],
    ['open 580.159.04 6.18', REFUSED],
  ])('%s, given pages of a file on disk: %s', (machine, expected) => {
    const pages = memory()
    standin.pretend({ ...pages, flags: 'rd wr sh mr mw me ms', name: import.meta.filename })
    const cuda = open(machine)
    expect(answer(() => cuda.register(pages.address, PAGE))).toBe(expected)
  })
})
