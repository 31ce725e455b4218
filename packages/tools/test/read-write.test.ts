import { writeDemoModel } from '@gpunvme/layer-loader/formats'
import { copyFileSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseHexDump } from '@gpunvme/nvme-spec/hex-dump'
import { failureIn, failureOf, gpunvme, json, scratch, type Running } from './gpunvme.js'
import { emptyImage, imageBytes, pattern } from './simulated-drive.js'

const cwd = scratch()
const at = (name: string) => join(cwd, name)
const MIB = 1024 * 1024
const LIMIT = { timeout: 120_000 }

test('read returns written bytes in a file, as a hex dump and in JSON', LIMIT, async () => {
  const bytes = pattern(5 * MIB + 100)
  writeFileSync(at('some.bin'), bytes)
  const placed = ['--image', 'made.img']
  const words = [
    'nvme',
    'write',
    'some.bin',
    ...placed,
    '--capacity',
    '16MiB',
    '--lba',
    '0x800',
    '--pad',
    'zero',
    '--verify',
  ]
  const written = await gpunvme([...words, '--json'], { cwd })
  expect([written.code, json(written)]).toEqual([
    0,
    expect.objectContaining({
      ...{ schema: 'gpunvme.write/1', nsid: 1, blockBytes: 512, slba: 2048, blocks: 10_241, source: 'some.bin' },
      ...{ offsetBytes: MIB, lengthBytes: 5 * MIB + 512, paddedBytes: 412, verified: true },
    }),
  ])
  expect(imageBytes(at('made.img'), MIB, bytes.length).equals(bytes)).toBe(true)

  const range = ['--offset', '1MiB', '--length', String(bytes.length)]
  const read = await gpunvme(['nvme', 'read', ...placed, ...range, '-o', 'back.bin'], { cwd })
  expect([read.code, read.stdout]).toEqual([0, expect.stringContaining(`(${bytes.length} bytes) into back.bin`)])
  expect(readFileSync(at('back.bin')).equals(bytes)).toBe(true)

  const dump = await gpunvme(['nvme', 'read', ...placed, '--lba', '0x800', '--no-squeeze', '-q'], { cwd })
  expect([dump.code, dump.stderr]).toEqual([0, ''])
  expect(parseHexDump(dump.stdout, 'stdout')).toEqual(bytes.subarray(0, 512))
  expect(dump.stdout.split('\n')[1]).toMatch(/^00100000 {2}/)

  const object = await gpunvme(['nvme', 'read', ...placed, '--offset', '1048577', '--length', '3', '--json'], { cwd })
  expect(json(object)).toEqual({
    ...{ schema: 'gpunvme.read/1', nsid: 1, blockBytes: 512, slba: 2048, blocks: 1 },
    drive: { transport: 'sim', simulated: true, profile: 'sn740' },
    ...{ offsetBytes: MIB + 1, lengthBytes: 3, data: Buffer.from(bytes.subarray(1, 4)).toString('hex') },
  })
})

test('write - writes stdin to its end, and rejects an empty stdin', LIMIT, async () => {
  emptyImage(at('stdin.img'), 16 * MIB)
  const input = pattern(3 * MIB)
  const words = ['nvme', 'write', '-', '--image', 'stdin.img', '--lba', '8']
  const ended = await gpunvme([...words, '--verify'], { cwd, input })
  expect([ended.code, ended.stdout]).toEqual([0, expect.stringContaining('verified  read back and compared')])
  expect(imageBytes(at('stdin.img'), 4096, input.length).equals(input)).toBe(true)
  const none = await gpunvme([...words, '--overwrite', 'unknown data'], { cwd })
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('No data on stdin')])
})

describe('an interrupt', () => {
  test('an interrupt of a read keeps the old file, and leaves no partial one', LIMIT, async () => {
    emptyImage(at('endless.img'), 8192 * MIB)
    writeFileSync(at('kept.bin'), 'before')
    const onStderr = (text: string, running: Running) => {
      if (/^Namespace 1[^\n]*\n$/.test(text)) running.kill('SIGINT')
    }
    const ended = await gpunvme(['nvme', 'read', '--image', 'endless.img', '--blocks', 'all', '-o', 'kept.bin'], {
      cwd,
      onStderr,
    })
    expect([ended.code, ended.stderr]).toEqual([130, expect.stringContaining('Interrupted by SIGINT')])
    expect(readFileSync(at('kept.bin'), 'utf8')).toBe('before')
    expect(readdirSync(cwd).filter((name) => name.includes('partial'))).toEqual([])
  })
})

describe('write does not overwrite', () => {
  async function refuses(image: string, options: string[], headline: string, next: string): Promise<void> {
    writeFileSync(at('block.bin'), new Uint8Array(512).fill(1))
    copyFileSync(at(image), at('before.img'))
    for (const words of [options, [...options, '--dry-run']]) {
      const error = await failureOf('nvme', 'write', at('block.bin'), '--image', at(image), ...words, '-q')
      expect(error).toMatchObject({ category: 'privilege' })
      expect(error.message).toContain(headline)
      expect(error.message).toContain(next)
      expect(readFileSync(at(image)).equals(readFileSync(at('before.img')))).toBe(true)
    }
  }

  test('packed models', LIMIT, async () => {
    await writeDemoModel(at('model.gguf'), { layers: 2, targetBytes: 4 * MIB })
    await gpunvme(['pack', 'model.gguf', '--image', 'models.img'], { cwd })
    await refuses('models.img', ['--lba', '9000'], 'it has a model image', '--overwrite models')
    const words = ['nvme', 'write', 'block.bin', '--image', 'models.img', '--lba', '9000']
    expect((await gpunvme(words, { cwd })).stderr).toContain('or gpunvme models ls --image models.img, which lists')
    expect((await gpunvme([...words, '--overwrite', 'models'], { cwd })).code).toBe(0)
  })

  test('a file system, at any offset of its drive', LIMIT, async () => {
    emptyImage(at('disk.img'), 16 * MIB)
    const disk = readFileSync(at('disk.img'))
    disk.set([0x53, 0xef], 0x438) // ext2/3/4
    writeFileSync(at('disk.img'), disk)
    await refuses('disk.img', ['--lba', '30000'], 'it holds other data', 'ext2/3/4')
  })

  test('data of unknown format', LIMIT, async () => {
    writeFileSync(at('thesis.txt'), Buffer.alloc(MIB, 'all my work '))
    await refuses(
      'thesis.txt',
      ['--lba', '100'],
      'Refused to overwrite data of unknown format',
      "--overwrite 'unknown data'",
    )
  })
})

describe('read and write reject invalid arguments before any access:', () => {
  test.each([
    [
      'the range in blocks and in bytes',
      ['nvme', 'read', '--lba', '1', '--offset', '512'],
      'Ranges in blocks and in bytes are mutually exclusive',
    ],
    [
      'a range beyond the end',
      ['nvme', 'read', '--lba', '32768', '--image', 'small.img'],
      'are not all inside namespace 1',
    ],
    ['raw bytes to stdout and to a file', ['nvme', 'read', '--raw', '-o', 'x'], '--raw and -o are mutually exclusive'],
    ['raw bytes in JSON', ['nvme', 'read', '--raw', '--json'], '--raw and --json are mutually exclusive'],
    [
      'too many bytes for JSON',
      ['nvme', 'read', '--sim', '--blocks', '4096', '--json'],
      '2 MiB exceed the limit of a JSON result',
    ],
    ['the drive as output file', ['nvme', 'read', '--image', 'small.img', '-o', './small.img'], 'is the drive itself'],
    ['a device as the file', ['nvme', 'read', '--sim', '-o', '/dev/null'], '/dev/null is not a regular file'],
    [
      'a write without an offset',
      ['nvme', 'write', 'small.img', '--image', 'other.img'],
      '--lba or --offset is required',
    ],
    ['a write without a drive', ['nvme', 'write', 'small.img', '--lba', '0'], 'No drive is named'],
    [
      'a drive written to itself',
      ['nvme', 'write', 'small.img', '--image', 'small.img', '--lba', '0'],
      'is the drive itself',
    ],
    [
      'a write that begins inside a block',
      ['nvme', 'write', 'odd.bin', '--image', 'small.img', '--offset', '513'],
      'use --offset 512 or --offset 1024',
    ],
    [
      'a write that ends inside a block',
      ['nvme', 'write', 'odd.bin', '--image', 'small.img', '--lba', '0'],
      'the last one has 100 bytes of 512',
    ],
    [
      'a write beyond the end',
      ['nvme', 'write', 'odd.bin', '--image', 'small.img', '--lba', '2048', '--pad', 'zero'],
      'are not all inside namespace 1',
    ],
    [
      'more blocks than the file has',
      ['nvme', 'write', 'odd.bin', '--image', 'small.img', '--lba', '0', '--blocks', '2'],
      'has only 100 bytes',
    ],
    ['a folder', ['nvme', 'write', '.', '--image', 'small.img', '--lba', '0'], 'is a directory'],
    [
      'an empty file',
      ['nvme', 'write', '/dev/null', '--image', 'small.img', '--lba', '0', '--blocks', '1'],
      'has no bytes',
    ],
    [
      'an unknown padding',
      ['nvme', 'write', 'odd.bin', '--image', 'small.img', '--lba', '0', '--pad', 'ones'],
      'Allowed choices are zero',
    ],
  ])('%s', LIMIT, async (_, words, text) => {
    emptyImage(at('small.img'), MIB)
    emptyImage(at('other.img'), MIB)
    writeFileSync(at('odd.bin'), new Uint8Array(100))
    expect((await failureIn(cwd, ...words, '-q')).message).toContain(text)
    expect(readFileSync(at('small.img')).equals(Buffer.alloc(MIB))).toBe(true)
    expect(existsSync(at('x'))).toBe(false)
  })

  test('raw bytes to a terminal', async () => {
    const { code, stderr } = await gpunvme(['nvme', 'read', '--raw'], { cwd, columns: 80 })
    expect([code, stderr]).toEqual([2, expect.stringContaining('--raw does not write to a terminal')])
  })
})
