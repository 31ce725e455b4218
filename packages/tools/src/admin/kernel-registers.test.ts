import { CAP } from '@gpunvme/nvme-spec'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FakeKernel } from '../../test/fake-kernel.js'
import { scratch } from '../../test/gpunvme.js'
import { openKernelRegisters } from './kernel-registers.js'

const folder = scratch()
writeFileSync(
  join(folder, 'resource0'),
  Buffer.concat([Buffer.from('ff0301142000000000040100', 'hex'), Buffer.alloc(4084)]),
)

test('openKernelRegisters reads registers, and close unmaps them', () => {
  const kernel = new FakeKernel()
  const registers = openKernelRegisters(kernel, '0000:0b:00.0', folder)
  expect(registers.read(CAP)).toBe(0x20_1401_03ffn)
  registers.close()
  expect(kernel.live.size).toBe(0)
})

test.each([
  ['EINVAL', 'privilege', 'IO_STRICT_DEVMEM'],
  ['EPERM', 'privilege', 'locked down'],
  ['EACCES', 'privilege', 'Try: run as root'],
  ['ENXIO', 'device', 'may have left the bus'],
])('a mapping that fails with %s is reported with its cause', (code, category, words) => {
  const kernel = new FakeKernel()
  kernel.mapRefusal = code
  const open = () => openKernelRegisters(kernel, '0000:0b:00.0', folder)
  expect(open).toThrow(
    expect.objectContaining({
      code: 'ERR_GPUNVME_REGISTERS_REFUSED',
      category,
      message: expect.stringContaining(`(${code})`) as string,
    }) as Error,
  )
  expect(open).toThrow(words)
})

test('openKernelRegisters rejects a removed drive', () => {
  expect(() => openKernelRegisters(new FakeKernel(), '0000:0b:00.0', join(folder, 'gone'))).toThrow('(ENOENT)')
})
