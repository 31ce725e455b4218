import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { gpunvme, json, scratch } from '../gpunvme.js'
import { qemuNote } from '../qemu.js'
import { emptyImage, pattern } from '../simulated-drive.js'

const cwd = scratch()
const at = (name: string) => join(cwd, name)
const LIMIT = { timeout: 120_000 }
const MIB = 1024 * 1024

describe.skipIf(qemuNote !== '')(`QEMU's controller${qemuNote}`, () => {
  test('writes bytes to the right offset of the image file', LIMIT, async () => {
    emptyImage(at('qemu.img'), 64 * MIB)
    const bytes = pattern(3 * MIB)
    writeFileSync(at('qemu.bin'), bytes)
    const placed = ['--transport', 'qtest', '--image', 'qemu.img', '--lba', '4096']
    const written = await gpunvme(['nvme', 'write', 'qemu.bin', ...placed, '--verify'], { cwd })
    expect([written.code, written.stdout]).toEqual([0, expect.stringContaining('verified  read back')])
    expect(written.stdout).not.toContain('modelled')
    expect(
      readFileSync(at('qemu.img'))
        .subarray(2 * MIB, 2 * MIB + bytes.length)
        .equals(bytes),
    ).toBe(true)
    const read = await gpunvme(['nvme', 'read', ...placed, '--length', '5000', '-o', 'qemu.out'], { cwd })
    expect([read.code, read.stderr]).toEqual([
      2,
      expect.stringContaining('Ranges in blocks and in bytes are mutually exclusive'),
    ])
    expect((await gpunvme(['nvme', 'read', ...placed, '--blocks', '6144', '-o', 'qemu.out'], { cwd })).code).toBe(0)
    expect(readFileSync(at('qemu.out')).equals(bytes)).toBe(true)
  })

  test('a traced QEMU controller replays on itself and on the simulator with the same statuses', LIMIT, async () => {
    emptyImage(at('drive.img'), 64 * MIB)
    const placed = ['--transport', 'qtest', '--image', 'drive.img']
    const read = ['nvme', 'read', ...placed, '--blocks', '3000', '--raw']
    const traced = await gpunvme(['nvme', 'trace', '--format', 'jsonl', '-o', 'qemu.jsonl', ...read], { cwd })
    expect(traced.code).toBe(0)
    const [opened = ''] = readFileSync(at('qemu.jsonl'), 'utf8').split('\n')
    expect((JSON.parse(opened) as { details: object }).details).toMatchObject({ time: 'wall' })
    const again = await gpunvme(['nvme', 'replay', 'qemu.jsonl', ...placed, '--json'], { cwd })
    expect(json(again)).toMatchObject({ time: { trace: 'wall', replay: 'wall' }, commands: { different: 0 } })
    const elsewhere = await gpunvme(['nvme', 'replay', 'qemu.jsonl', '--profile', 'ideal'], { cwd })
    expect([elsewhere.code, elsewhere.stderr]).toEqual([
      0,
      'Do not compare the times: those of the trace are wall, those of this drive modelled.\n',
    ])
  })
})
