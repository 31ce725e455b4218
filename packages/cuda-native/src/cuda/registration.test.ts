import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { CudaCallError, CudaRegistrationError, openCuda } from './index.js'
import { explainRegistration } from './registration-facts.js'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'
import { native } from '../../test/native.js'

const standin = useStandin()

/** Returns the root of a machine with these files of /proc and /sys. */
function machine(files: Record<string, string>): string {
  const root = scratch()
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

const OPEN_MODULE =
  'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (dvs-builder@U22-I3-AE18)\nGCC version:  gcc version 12.2.0\n'
const CLOSED_MODULE = 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\n'

const SYSFS_BAR = '/sys/devices/pci0000:00/0000:00:03.0/resource0'
/** VmFlags of a BAR mapped by sysfs, and of shared memory. */
const PFNMAP = 'rd wr sh mr mw me ms pf io de dd'
const PAGES = 'rd wr sh mr mw me ms'
const FRAMES = 'page frames without struct page (VM_IO, VM_PFNMAP)'

const BAR = { kind: 'registers', address: 0x7f00_0000_4000n, lengthBytes: 4096 } as const

/** Returns smaps with a mapping of two pages at 7f0000004000h. */
const smaps = (name: string, flags: string) =>
  '7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \nSize: 4 kB\nVmFlags: rd wr mr mw me ac sd\n' +
  `7f0000004000-7f0000006000 rw-s 00000000 00:17 1234   ${name}\nSize: 8 kB\nVmFlags: ${flags}\n`

describe('explainRegistration', () => {
  test('registers: driver, kernel, IOMMU and mapping', () => {
    const root = machine({
      'proc/driver/nvidia/version': OPEN_MODULE,
      'sys/kernel/iommu_groups/0/type': 'DMA-FQ\n',
      'sys/kernel/iommu_groups/1/type': 'identity\n',
      'proc/self/smaps': smaps('anon_inode:[vfio-device]', PFNMAP),
    })
    const report = explainRegistration({ ...BAR, lengthBytes: 12_288 }, { root, kernelRelease: '6.1.0-56-amd64' })
    expect(report).toEqual({
      kind: 'registers',
      facts: [
        'driver: open kernel module 580.65.06',
        'Linux 6.1.0-56-amd64',
        'IOMMU: on, with groups of type DMA-FQ, identity; the driver then maps registers for the GPU unless NVreg_DmaRemapPeerMmio=0',
        `the range: a region of VFIO, anon_inode:[vfio-device]; ${FRAMES}; the mapping ends before the range does`,
      ],
      next: 'map the whole range before registering it',
    })
  })

  test.each([
    ['proprietary', CLOSED_MODULE, '6.17.0-14-generic', /^install the current open variant/],
    ['proprietary', CLOSED_MODULE, '6.9.3', undefined],
    ['open, with follow_pte', OPEN_MODULE.replace('580.65.06', '570.124.06'), '6.12.1', /^update NVIDIA's driver/],
    ['open, with follow_pte', OPEN_MODULE.replace('580.65.06', '570.124.06'), '6.11.0', undefined],
    ['open, with follow_pfn', OPEN_MODULE.replace('580.65.06', '535.183.01'), '6.11.0', /^update NVIDIA's driver/],
    ['open, with follow_pfnmap_start', OPEN_MODULE, '6.18.44', undefined],
    ['open, of a later branch', OPEN_MODULE.replace('580.65.06', '615.71.09'), '7.2.0', undefined],
  ])('blames a driver only for its kernel: %s module, Linux %#s %s', (_, version, kernelRelease, next) => {
    const root = machine({ 'proc/driver/nvidia/version': version, 'proc/self/smaps': smaps(SYSFS_BAR, PFNMAP) })
    const report = explainRegistration(BAR, { root, kernelRelease })
    expect(report.facts.at(-1)).toBe(`the range: a PCI BAR, ${SYSFS_BAR}; ${FRAMES}`)
    if (next === undefined) expect(report.next).toBeUndefined()
    else expect(report.next).toMatch(next)
  })

  test.each([
    ['registers', '/dev/zero (deleted)', PAGES, "map the controller's BAR, or set isMemory to register it as memory"],
    [
      'memory',
      '/dev/gpunvme0',
      PFNMAP,
      'update the gpunvme kernel module: the loaded one does not map queues as pages (kmod/README.md)',
    ],
    ['memory', SYSFS_BAR, PFNMAP, 'use page-backed memory, such as anonymous memory'],
  ] as const)('blames no driver for a mapping that none registers: as %s, %s', (kind, name, flags, next) => {
    const root = machine({ 'proc/driver/nvidia/version': CLOSED_MODULE, 'proc/self/smaps': smaps(name, flags) })
    const report = explainRegistration({ ...BAR, kind }, { root, kernelRelease: '6.17.0' })
    expect(report.next).toBe(next)
    expect(report.facts[0]).toBe('driver: proprietary kernel module 535.183.01')
    expect(report.facts.at(-1)).toContain(`, which the driver does not register as ${kind}`)
  })

  test('memory that is not mapped, and a machine without facts', () => {
    const root = machine({ 'proc/self/smaps': smaps('', PAGES) })
    const explain = (address: bigint) => explainRegistration({ kind: 'memory', address, lengthBytes: 16 }, { root })
    expect(explain(0x7f00_0000_4000n).facts.at(-1)).toBe('the range: anonymous memory; pages of memory')
    expect(explain(0x2000n).facts.at(-1)).toBe('the range: not mapped in this process')
    expect(explainRegistration(BAR, { root: '/nonexistent' }).facts[0]).toBe(
      'driver: no NVIDIA kernel module reports its version in /proc/driver/nvidia/version',
    )
  })
})

describe.skipIf(!hasStandin)(`registers for the GPU${skippedWithoutStandin}`, () => {
  test('stay registered until they are unregistered, which is possible once', async () => {
    const cuda = openCuda()
    const bar = native.allocate(16384, 4096)
    standin.pretend(bar)
    const registration = cuda.registerIo(bar.address, bar.lengthBytes)
    expect(registration).toMatchObject({ address: bar.address, lengthBytes: 16384 })
    expect(registration.gpuPointer).not.toBe(bar.address)
    expect(standin.live().registered).toBe(1)
    registration.unregister()
    expect(() => registration.unregister()).toThrow(TypeError)
    bar.unmap()
    await cuda.close()
    expect(standin.live()).toEqual(NOTHING)
  })

  test.each([
    [
      'cuMemHostRegister_v2=1',
      'CUDA_ERROR_INVALID_VALUE',
      'infeasible',
      /Try: .*; or use the engine 'host', or cudaEngine with \{ doorbells: 'cpu' \}, .*$/,
    ],
    ['cuMemHostRegister_v2=800', 'CUDA_ERROR_NOT_PERMITTED', 'privilege', /Try: run as root, .*PeerMappingOverride=1/],
    ['cuMemHostGetDevicePointer_v2=801', 'CUDA_ERROR_NOT_SUPPORTED', 'infeasible', /Try: map the controller's BAR/],
  ])(
    'that fail with %s throw a CudaRegistrationError with the facts of the machine',
    async (plan, resultName, category, next) => {
      standin.fail(plan)
      const cuda = openCuda()
      const bar = native.allocate(4096, 4096)
      standin.pretend(bar)
      let error: unknown
      try {
        cuda.registerIo(bar.address, 4096)
      } catch (thrown) {
        error = thrown
      }
      expect(error).toBeInstanceOf(CudaRegistrationError)
      expect(error).toMatchObject({ code: 'ERR_GPUNVME_CUDA_REGISTRATION', category, resultName })
      const { message, facts, cause } = error as CudaRegistrationError
      expect(cause).toBeInstanceOf(CudaCallError)
      expect(message.split('\n')[0]).toBe(
        `Registering 4096 bytes of registers at 0x${bar.address.toString(16)} failed: ${(cause as Error).message.split(': ')[1]!.split('\n')[0]!}`,
      )
      expect(message).toMatch(next)
      expect(facts[0]).toBe(`${plan.split('=')[0]!} returned ${plan.split('=')[1]!}`)
      expect(facts.slice(1).map((fact) => fact.split(/[ :]/)[0])).toEqual(['driver', 'Linux', 'IOMMU', 'the'])
      expect(standin.live().registered).toBe(0)
      bar.unmap()
      await cuda.close()
    },
  )
})
