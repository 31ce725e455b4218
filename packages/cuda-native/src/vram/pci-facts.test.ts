import { expect, it } from 'vitest'
import { fakeSysfs, GPU, resourceLine } from '../../test/vram/fake-sysfs.js'
import { gpuBar1 } from './pci-facts.js'

const MIB = 1024 * 1024
const GIB = 1024 * MIB
const NONE = resourceLine(0, 0)

it('BAR1 is the second BAR after 32-bit registers, as on an RTX 3090', () => {
  const lines = [resourceLine(0xfb00_0000, 16 * MIB, 0x40200), resourceLine(0x70_0000_0000, 32 * GIB), NONE]
  expect(gpuBar1(fakeSysfs({ resource: lines.join('\n') }), GPU)).toEqual({
    number: 1,
    iova: 0x70_0000_0000,
    lengthBytes: 32 * GIB,
  })
})

it('BAR1 is the third BAR after 64-bit registers, as on an H100', () => {
  const lines = [resourceLine(0x2_4200_0000, 16 * MIB), NONE, resourceLine(0x26_0000_0000, 128 * GIB), NONE]
  expect(gpuBar1(fakeSysfs({ resource: lines.join('\n') }), GPU)).toEqual({
    number: 2,
    iova: 0x26_0000_0000,
    lengthBytes: 128 * GIB,
  })
})
