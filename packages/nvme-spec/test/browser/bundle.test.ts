import { beforeAll, describe, expect, test } from 'vitest'
import { bundle, type Bundle } from './bundle.js'
import { nodeNeeds } from './globals.js'

const KB = 1000

/** Bundles with the maximum of their minified and gzipped size. */
const promises = [
  [
    'registers, SQE, CQE and status',
    12 * KB,
    `export { registers, SQE, CQE, formatCqe, STATUS, formatStatus } from '@gpunvme/nvme-spec'`,
  ],
  ['Read and Write encoding alone', 3 * KB, `export { Read, Write, zeroBased } from '@gpunvme/nvme-spec'`],
  ['link arithmetic', 0.8 * KB, `export * from '@gpunvme/nvme-spec/pcie'`],
  [
    'every trace writer',
    2.85 * KB,
    `export { jsonlTrace, parseTraceLine, perfettoTrace, recentEvents, textTrace } from '@gpunvme/nvme-spec/trace'`,
  ],
  ['the engine helpers', 7.55 * KB, `export * from '@gpunvme/nvme-spec/engine'`],
  ['the messages of vfio-user', 7.4 * KB, `export * from '@gpunvme/nvme-spec/vfio-user'`],
  ['NVMe over Fabrics', 14.5 * KB, `export * from '@gpunvme/nvme-spec/fabrics'`],
  ['CRC-32C', 0.2 * KB, `export * from '@gpunvme/nvme-spec/crc32c'`],
  ['hex dumps', 2.25 * KB, `export * from '@gpunvme/nvme-spec/hex-dump'`],
  ['explanations of entries and registers', 28.4 * KB, `export * from '@gpunvme/nvme-spec/explain'`],
  ['fault plans, with the registers that they name', 11.3 * KB, `export * from '@gpunvme/nvme-spec/faults'`],
  [
    'registers, status, and every command and completion as text',
    27.2 * KB,
    `export { registers, CQE, decodeCqe, formatCqe, formatSqe, decodeSqe, STATUS, formatStatus } from '@gpunvme/nvme-spec'`,
  ],
  [
    'the whole wire format',
    60.5 * KB,
    `export * from '@gpunvme/nvme-spec'
    export * from '@gpunvme/nvme-spec/layout'
    export * from '@gpunvme/nvme-spec/pci'
    export * from '@gpunvme/nvme-spec/transport'`,
  ],
] as const

/** Globals of Node that all browsers have as well, used by code that reads text. */
const ofBrowsers = ['TextDecoder']

describe.each(promises)('a browser bundle of %s', (name, limitBytes, entry) => {
  let made: Bundle
  beforeAll(async () => {
    made = await bundle(entry)
  })

  test(`is at most ${limitBytes} bytes, minified and gzipped`, () => {
    const { code, gzipBytes, files } = made
    const largest = Object.entries(files).sort(([, a], [, b]) => b - a)
    process.stdout.write(`bundle of ${name}: ${code.length} bytes, ${gzipBytes} gzipped (limit ${limitBytes})\n`)
    expect(gzipBytes, largest.map(([file, bytes]) => `${bytes} ${file}`).join('\n')).toBeLessThanOrEqual(limitBytes)
  })

  test('needs no global and no module of Node', () => {
    expect(nodeNeeds(made.code).filter((need) => !ofBrowsers.includes(need))).toEqual([])
  })
})

test('nodeNeeds finds globals and modules of Node', () => {
  const code = `import { join } from 'node:path'
    export const pid = process.pid, text = Buffer.from(join('a')), member = text.process, { Buffer: other } = text
    export const why = 'Host Memory Buffer'`
  expect(nodeNeeds(code)).toEqual(['Buffer', 'import node:path', 'process'])
})

test('an import without bindings adds no code', async () => {
  const { code } = await bundle(`import '@gpunvme/nvme-spec'`)
  expect(code.trim()).toBe('')
})

test('one register adds no other declaration', async () => {
  const { code, files, gzipBytes } = await bundle(`export { VS } from '@gpunvme/nvme-spec'`)
  const descriptions = [
    'Controller Capabilities',
    'Tertiary Version',
    'Admin Queue Attributes',
    'Opcode',
    'Serial Number',
  ]
  expect(descriptions.filter((text) => code.includes(text))).toEqual(['Tertiary Version'])
  expect(Object.keys(files).filter((file) => !file.startsWith('dist/layout/'))).toEqual(['dist/registers.js'])
  expect(gzipBytes).toBeLessThanOrEqual(2.3 * KB)
})

test('a helper adds no declarations', async () => {
  const { files, gzipBytes } = await bundle(`export { zeroBased } from '@gpunvme/nvme-spec'`)
  expect(Object.keys(files).sort()).toEqual(['dist/layout/facts.js', 'dist/layout/rows.js'])
  expect(gzipBytes).toBeLessThanOrEqual(0.3 * KB)
})
