import { IdentifyController } from '@gpunvme/nvme-spec'
import { expect, test } from 'vitest'
import { controllerFacts, describeController, describeNamespace, namespaceFacts } from './identity-facts.js'

/** Returns an Identify structure with these bytes in hexadecimal, by offset. */
function structureOf(bytes: Readonly<Record<number, string>>): DataView {
  const data = Buffer.alloc(4096)
  for (const [offset, hex] of Object.entries(bytes)) data.write(hex, Number(offset), 'hex')
  return new DataView(new Uint8Array(data).buffer)
}

const ascii = (text: string, length: number) => Buffer.from(text.padEnd(length)).toString('hex')

// Offsets: Base 2.1 Figure 312, NVM 1.2 Figure 114.
test('controllerFacts decodes Identify Controller, and control characters are escaped', () => {
  const raw = structureOf({
    4: ascii('S\u001b[31mN', 20),
    24: ascii('A drive', 40),
    64: ascii('1.0', 8),
    77: '05', // MDTS
    80: '00030100', // VER 1.3.0
    272: '00040000', // HMPRE: 1024 units of 4 KiB
    525: '01', // VWC
  })
  const facts = controllerFacts(raw, undefined)
  expect(facts).toMatchObject({
    model: 'A drive',
    version: '1.3.0',
    maxTransferBytes: 131_072,
    maxQueueEntries: undefined,
  })
  const lines = describeController(facts)
  expect(lines).toContain('  serial number     S\\u{1b}[31mN')
  expect(lines).toContain('  queue entries     unknown (CAP)')
  expect(lines).toContain('  host memory       prefers 4 MiB (HMPRE)')
})

test('MDTS is in pages of CAP.MPSMIN, and the version is undefined before NVMe 1.2', () => {
  // MPSMIN 1: pages of 8 KiB. MQES 1023.
  const facts = controllerFacts(structureOf({ 77: '05' }), (1n << 48n) | 1023n)
  expect(facts).toMatchObject({ maxTransferBytes: 262_144, maxQueueEntries: 1024, version: undefined })
  expect(controllerFacts(IdentifyController.create().data, undefined).maxTransferBytes).toBeUndefined()
})

test('namespaceFacts lists the available formats, and marks the one in use', () => {
  const raw = structureOf({
    0: '0010000000000000', // NSZE
    16: '0001000000000000', // NUSE
    25: '03', // NLBAF: four formats
    26: '02', // FLBAS
    128: '00000902', // 512 bytes, good
    132: '00000000', // listed, and not available
    136: '00000c00', // 4096 bytes, best
    140: '08000c03', // 4096 bytes and 8 of metadata, degraded
    144: '00000a00', // beyond NLBAF
  })
  const facts = namespaceFacts(3, raw)
  expect(facts).toMatchObject({
    nsid: 3,
    blocks: 4096,
    blockBytes: 4096,
    capacityBytes: 16_777_216,
    unsupported: undefined,
  })
  expect(facts.formats).toEqual([
    { index: 0, blockBytes: 512, metadataBytes: 0, performance: 'good', inUse: false },
    { index: 2, blockBytes: 4096, metadataBytes: 0, performance: 'best', inUse: true },
    { index: 3, blockBytes: 4096, metadataBytes: 8, performance: 'degraded', inUse: false },
  ])
  expect(describeNamespace(facts)).toEqual([
    'Namespace 3',
    '  capacity          16 MiB (16777216 bytes)',
    '  blocks            4096 of 4096 bytes (NSZE, LBADS)',
    '  in use            1 MiB (NUSE)',
    '  formats           0: 512 bytes, good',
    '                    2: 4096 bytes, best (in use)',
    '                    3: 4096 bytes + 8 of metadata, degraded',
  ])
})

test('a namespace of all ones is unsupported', () => {
  const facts = namespaceFacts(1, structureOf({ 0: 'ff'.repeat(4096) }))
  expect(facts.unsupported).toContain('LBADS 255')
  expect(facts.formats.length).toBeLessThanOrEqual(64)
})
