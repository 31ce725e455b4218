import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { CudaCallError, CudaRegistrationError, openCuda } from './index.js'
import { registrationFacts } from './registration-facts.js'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'
import { native } from '../../test/native.js'

const standin = useStandin()

/** A machine, as far as its /proc and /sys tell of it. */
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

describe('what a registration depends on', () => {
  test('a proprietary module on a kernel without follow_pfn, IOMMU off, a BAR of sysfs', () => {
    const root = machine({
      'proc/driver/nvidia/version': CLOSED_MODULE,
      'proc/self/maps':
        '7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n' +
        '7f0000004000-7f0000008000 rw-s 00000000 00:17 1234   /sys/devices/pci0000:00/0000:00:03.0/resource0\n',
    })
    expect(registrationFacts(0x7f00_0000_5000n, 4096, { root, kernelRelease: '6.17.0-14-generic' })).toEqual([
      'driver: proprietary kernel module 535.183.01, which can look up pages of registers only on Linux before 6.10',
      'Linux 6.17.0-14-generic, without follow_pfn',
      'IOMMU: off (no IOMMU groups)',
      'the range: a PCI BAR, /sys/devices/pci0000:00/0000:00:03.0/resource0',
    ])
  })

  test('an open module on a kernel with follow_pfn, IOMMU on, a region of VFIO that ends too early', () => {
    const root = machine({
      'proc/driver/nvidia/version': OPEN_MODULE,
      'sys/kernel/iommu_groups/0/type': 'DMA-FQ\n',
      'sys/kernel/iommu_groups/1/type': 'identity\n',
      'proc/self/maps': '7f0000004000-7f0000005000 rw-s 00000000 00:17 1234   anon_inode:[vfio-device]\n',
    })
    expect(registrationFacts(0x7f00_0000_4000n, 8192, { root, kernelRelease: '6.1.0-56-amd64' })).toEqual([
      'driver: open kernel module 580.65.06',
      'Linux 6.1.0-56-amd64, with follow_pfn',
      'IOMMU: on, with groups of type DMA-FQ, identity; the driver then maps registers for the GPU unless NVreg_DmaRemapPeerMmio=0',
      'the range: a region of VFIO, anon_inode:[vfio-device]; read every page once before registering it, which ends before the range',
    ])
  })

  test('memory that is no BAR, memory that is not mapped, and a machine that tells nothing', () => {
    const root = machine({
      'proc/self/maps': '1000-2000 rw-p 00000000 00:00 0 \n3000-4000 r--s 00000000 08:01 7 /a b\n',
    })
    const range = (address: bigint) => registrationFacts(address, 16, { root, kernelRelease: '6.1.0' })[3]
    expect(range(0x1000n)).toBe('the range: not a PCI BAR but anonymous memory')
    expect(range(0x3ff0n)).toBe('the range: not a PCI BAR but /a b')
    expect(range(0x2000n)).toBe('the range: not mapped in this process')
    expect(registrationFacts(0n, 1, { root: '/nonexistent' })[0]).toBe(
      'driver: no NVIDIA kernel module reports its version in /proc/driver/nvidia/version',
    )
  })
})

describe.skipIf(!hasStandin)(`registers for the GPU${skippedWithoutStandin}`, () => {
  test('are reached until they are unregistered, once, before they are unmapped', async () => {
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
      /Try: install the current open variant of .*; or use the engine 'cpu-kernel' or 'host', where the CPU rings doorbells$/,
    ],
    ['cuMemHostRegister_v2=800', 'CUDA_ERROR_NOT_PERMITTED', 'privilege', /Try: run as root, .*PeerMappingOverride=1/],
    [
      'cuMemHostGetDevicePointer_v2=801',
      'CUDA_ERROR_NOT_SUPPORTED',
      'infeasible',
      /Try: install the current open variant/,
    ],
  ])(
    'that are refused by %s are a CudaRegistrationError with what it depends on',
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
