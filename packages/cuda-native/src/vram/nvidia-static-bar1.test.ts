import type { HardwareHost } from '@gpunvme/nvme-spec/transport'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { fakeRm, type FakeDriver } from '../../test/rm/fake-rm.js'
import { FakeGpu, peerAt, type BackingMemory } from '../../test/vram/fake-gpu.js'
import { GPU, resourceLine } from '../../test/vram/fake-sysfs.js'
import { nvidiaStaticBar1, type NvidiaStaticBar1Options } from './nvidia-static-bar1.js'

const MIB = 1024 * 1024
const BAR = 0x70_0000_0000
/** ENABLED, START_OFFSET 4 MiB, SIZE 28 MiB. */
const AT_4_MIB = new Uint8Array(
  Buffer.from('0101000000000000 0000400000000000 0000c00100000000'.replaceAll(' ', ''), 'hex'),
)

/** Creates a GPU with a 32 MiB BAR1 and a window at 4 MiB, the nodes of its driver and the file of its BAR. */
function gpuWith(driver: Partial<FakeDriver>, options: Partial<NvidiaStaticBar1Options> = {}) {
  const root = scratch()
  const folder = join(root, 'sys/bus/pci/devices', GPU)
  for (const path of [join(root, 'dev'), folder]) mkdirSync(path, { recursive: true })
  for (const node of ['nvidiactl', 'nvidia3']) writeFileSync(join(root, 'dev', node), '')
  const bars = [resourceLine(0xfb00_0000, 16 * MIB, 0x40200), resourceLine(BAR, 32 * MIB)]
  writeFileSync(join(folder, 'resource'), `${bars.join('\n')}\n`)
  writeFileSync(join(folder, 'resource1'), '')
  const bytes = new Uint8Array(32 * MIB)
  const backing: BackingMemory = {
    iova: BAR,
    lengthBytes: bytes.length,
    read: (offsetBytes, lengthBytes) => bytes.slice(offsetBytes, offsetBytes + lengthBytes),
    write: (offsetBytes, from) => {
      bytes.set(from, offsetBytes)
    },
  }
  const gpu = new FakeGpu(backing, 4 * MIB)
  const rm = fakeRm({ statusOffset: 28, gpus: [[0, 1, 0]], staticBar1: AT_4_MIB, ...driver })
  const mapped: string[] = []
  const map: HardwareHost['map'] = (_fd, offsetBytes, lengthBytes, access) => {
    mapped.push(`${access} ${lengthBytes} bytes at ${offsetBytes}`)
    const view = new DataView(bytes.buffer, offsetBytes, lengthBytes)
    return {
      ...rm.host.map(0, 0, 0, 'read'),
      load64: (at) => view.getBigUint64(at, true),
      unmap: () => mapped.push('unmap'),
    }
  }
  const candidate = nvidiaStaticBar1({
    host: { ...rm.host, map },
    sysRoot: root,
    gpu: { bdf: GPU, minor: 3, memoryBytes: 28 * MIB },
    driverVersion: '590.48.01',
    memory: gpu,
    mapPeer: peerAt(BAR),
    ...options,
  })
  return { candidate, gpu, root, mapped, calls: rm.calls }
}

test('takes the window from the driver, and locates each page in BAR1 by its content', () => {
  const { candidate, gpu, mapped, calls } = gpuWith({})
  const { gpuPointer } = gpu.alloc(6 * MIB)
  const provider = candidate.open()
  const { segments } = provider.map(gpuPointer, 6 * MIB)
  expect(segments.map(({ iova }) => iova)).toEqual([...gpu.pages.values()].map((at) => BAR + 4 * MIB + at))
  expect(mapped).toEqual([`read ${28 * MIB} bytes at ${4 * MIB}`])
  candidate.close()
  expect(mapped.at(-1)).toBe('unmap')
  // Client, device and subdevice are created; one control is sent to the subdevice; all are freed with the client.
  expect(calls.slice(-4)).toEqual([
    { escape: 0x2b, lengthBytes: 32, subject: 0x80 },
    { escape: 0x2b, lengthBytes: 32, subject: 0x2080 },
    { escape: 0x2a, lengthBytes: 32, subject: 0x2080_1354 },
    { escape: 0x29, lengthBytes: 16, subject: 0xc1d0_0001 },
  ])
})

test('repeats the query with the shorter structure of driver 565', () => {
  const staticBar1 = new Uint8Array(Buffer.from('01000000000000000000000200000000', 'hex'))
  const { candidate, gpu } = gpuWith({ staticBar1 }, { driverVersion: '565.77' })
  const { gpuPointer } = gpu.alloc(2 * MIB)
  expect(candidate.open().map(gpuPointer, 2 * MIB).segments[0]!.iova).toBe(BAR + 4 * MIB + gpu.pages.get(gpuPointer)!)
  candidate.close()
})

test.each<[string, Partial<FakeDriver>, Partial<NvidiaStaticBar1Options>, RegExp]>([
  [
    'a driver version with unknown structures',
    {},
    { driverVersion: '615.71' },
    /the structures of driver 615.71 are not known[^]*Try: use a driver from 565 to 595/,
  ],
  ['a driver without the control', { staticBar1: undefined }, {}, /does not report its window/],
  [
    'a driver that rejects a device',
    { device: 0x1a },
    {},
    /rejected the request 'device': NV_ERR_INSUFFICIENT_RESOURCES \(0x1a\)/,
  ],
  [
    'a GPU that the driver does not list',
    { gpus: [[0, 2, 0]] },
    {},
    /rejected the request 'list of GPUs': NV_ERR_OBJECT_NOT_FOUND/,
  ],
])('rejects %s with a next step', (_, driver, options, expected) => {
  const { candidate } = gpuWith(driver, options)
  expect(() => candidate.open()).toThrow(
    expect.objectContaining({ reason: 'query-failed', message: expect.stringMatching(expected) as string }),
  )
  expect(() => candidate.open()).toThrow(/\n {2}Try: /)
  candidate.close()
})

test.each(['dev/nvidiactl', 'dev/nvidia3', `sys/bus/pci/devices/${GPU}/resource1`])(
  'rejects a machine without %s',
  (file) => {
    const { candidate, root } = gpuWith({})
    rmSync(join(root, file))
    expect(() => candidate.open()).toThrow(expect.objectContaining({ reason: 'query-failed' }))
    candidate.close()
  },
)
