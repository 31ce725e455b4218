import { expect, test } from 'vitest'
import { budgetOf, readOriginalEnvironment } from './index.js'

test('readOriginalEnvironment reads variables that are set, and omits the others', () => {
  expect(readOriginalEnvironment({})).toEqual({})
  expect(readOriginalEnvironment({ GPUNVME_PCI_BDF: ' ', GPUNVME_GGUF_LBA: '' })).toEqual({})
  expect(
    readOriginalEnvironment({
      GPUNVME_PCI_BDF: '0b:00.0',
      GPUNVME_GGUF_LBA: '0x800',
      GPUNVME_MAX_VRAM_LAYERS: '20',
      GPUNVME_MAX_RAM_LAYERS: '30',
    }),
  ).toEqual({ pciBdf: '0000:0b:00.0', ggufLba: 2048, maxVramLayers: 20, maxRamLayers: 30 })
})

test.each([
  ['GPUNVME_PCI_BDF', 'nvme0'],
  ['GPUNVME_PCI_BDF', '0000:0b:00.8'],
  ['GPUNVME_GGUF_LBA', '-1'],
  ['GPUNVME_GGUF_LBA', '12 blocks'],
  ['GPUNVME_MAX_VRAM_LAYERS', '1.5'],
  ['GPUNVME_MAX_RAM_LAYERS', '9007199254740992'],
])('%s=%s is rejected with the name of the variable', (name, value) => {
  expect(() => readOriginalEnvironment({ [name]: value })).toThrow(new RegExp(`^${name}: expected`))
})

test('budgetOf converts limits in layers to bytes, including slots', () => {
  expect(budgetOf({ maxVramLayers: 20 }, 1000, { vram: 2, ram: 1 })).toEqual({ vramBytes: 22_000, ramBytes: 1000 })
})
