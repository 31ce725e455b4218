import { spawnSync } from 'node:child_process'
import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { BIN, gpunvme, json, scratch } from './gpunvme.js'

const cwd = scratch()
const at = (name: string) => join(cwd, name)

// A Read of 8 blocks at LBA 3B9F8000h into 123456000h, put together by hand from Base 2.1 Figure 92 and NVM 1.2 §3.3.4.
const READ = `02001204 01000000 00000000 00000000 00000000 00000000 00604523 01000000
00000000 00000000 00809f3b 00000000 07000000 00000000 00000000 00000000`
const READ_TEXT = 'Read CID=0x0412 NSID=1 PRP1=0x123456000 SLBA=0x3b9f8000 NLB=7'
const CQE = '00000000 00000000 04000100 12040181'

/** What a user types, with bytes on stdin. */
function piped(args: string[], input: string | Uint8Array) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args], { cwd, input, encoding: 'utf8' })
  return { code: status, stdout, stderr }
}

describe('decode', () => {
  test('takes bytes from the arguments, a file of bytes, a file of digits and stdin', async () => {
    const digits = READ.split(/\s+/)
    writeFileSync(at('read.bin'), Buffer.from(digits.join(''), 'hex'))
    writeFileSync(at('read.txt'), READ)
    const expected = { code: 0, stdout: `${READ_TEXT}\n`, stderr: '' }
    expect(await gpunvme(['decode', 'sqe', ...digits], { cwd })).toEqual(expected)
    expect(await gpunvme(['decode', 'sqe', '--file', 'read.bin'], { cwd })).toEqual(expected)
    expect(await gpunvme(['decode', 'sqe', '--file', 'read.txt'], { cwd })).toEqual(expected)
    expect(piped(['decode', 'sqe'], READ)).toEqual(expected)
    expect(piped(['decode', 'sqe', '-'], Buffer.from(digits.join(''), 'hex'))).toEqual(expected)
  })

  test('numbers the entries where there are several, and knows the queue', async () => {
    const { stdout } = await gpunvme(['decode', 'sqe', '--set', 'admin', READ, READ], { cwd })
    const lines = stdout.trimEnd().split('\n')
    // Opcode 02h is Get Log Page on the admin queue.
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatch(/^0: Get Log Page CID=0x0412 NSID=1 PRP1=0x123456000 /)
    expect(lines[1]).toMatch(/^1: Get Log Page /)
  })

  test('names the status of a completion, and gives its bits to programs', async () => {
    const { stdout } = await gpunvme(['decode', 'cqe', CQE], { cwd })
    expect(stdout).toBe('CID=0x0412 SQID=1 SQHD=4 P=1 LBA Out of Range (SCT 0h SC 80h, DNR)\n')
    expect(json(await gpunvme(['decode', 'cqe', CQE, '--json'], { cwd }))).toMatchObject({
      schema: 'gpunvme.decode/1',
      what: 'cqe',
      entries: [{ CID: 0x0412, status: { sct: 0, sc: 0x80, name: 'LBA Out of Range', dnr: true } }],
    })
  })

  test('explains a register by its name in any case, reserved bits too', async () => {
    const { stdout } = await gpunvme(['decode', 'csts', '0x80000009'], { cwd })
    expect(stdout).toBe('CSTS=0x80000009 { RDY=1 CFS=0 SHST=COMPLETE NSSRO=0 PP=0 ST=0 reserved=0x80000000 }\n')
    const ended = await gpunvme(['decode', 'CAP', '0x20_0103_0800_03ff', '--json'], { cwd })
    expect(json(ended)).toMatchObject({ name: 'CAP', spec: 'Base 2.1 §3.1.4.1', fields: { MQES: 1023 } })
  })

  test('decodes Identify by CNS, and hides nothing that is set', async () => {
    const identify = Buffer.alloc(4096)
    identify.write('SN1'.padEnd(20), 4)
    identify[77] = 7
    identify[200] = 0xab // reserved in Base 2.1 Figure 312
    writeFileSync(at('controller.bin'), identify)
    const { stdout } = await gpunvme(['decode', 'identify', '--file', 'controller.bin'], { cwd })
    expect(stdout.split('\n').slice(0, 4)).toEqual([
      'Identify Controller (Base 2.1 §5.1.13.2.1); fields that are zero are left out',
      '  SN="SN1"',
      '  MDTS=7',
      '  reserved[200]=ab',
    ])
    const list = Buffer.alloc(4096)
    list.writeUInt32LE(3, 0)
    writeFileSync(at('list.bin'), list)
    const ended = await gpunvme(['decode', 'identify', '--cns', '0x02', '--file', 'list.bin', '--json'], { cwd })
    expect((json(ended) as { fields: { NSID: number[] } }).fields.NSID.slice(0, 2)).toEqual([3, 0])
  })

  test('decodes a log page, shows what follows its structure, and lists error entries', () => {
    const smart = Buffer.alloc(520)
    smart.writeUInt16LE(310, 1)
    smart[519] = 1
    const { stdout } = piped(['decode', 'log'], smart)
    expect(stdout).toContain('\n  CTEMP=310\n')
    expect(stdout).toContain('\n  and 8 bytes after it: 0000000000000001\n')
    const errors = Buffer.alloc(128)
    errors.writeBigUInt64LE(9n, 64)
    const { stdout: listed } = piped(['decode', 'log', '--lid', '0x01'], errors)
    expect(listed).toMatch(/^0: no error\n1: ECNT=\w+\n$/)
  })

  test.each([
    [['decode'], "Missing required argument 'what'"],
    [['decode', 'sqx', '00'], "Unknown WHAT 'sqx'\n  structures: sqe cqe identify log\n  registers: CAP VS "],
    [['decode', 'sqe', '00'], 'SQE: expected a multiple of 64 bytes, got 1\n  Base 2.1 §4.1.1'],
    [['decode', 'cqe', '0'], 'Expected pairs of hexadecimal digits in the arguments, got 1 digit'],
    [['decode', 'cqe', 'hello'], "Expected hexadecimal digits in the arguments, got 'h'"],
    [['decode', 'cqe', '00', '-'], "Give the bytes or '-' for stdin, not both"],
    [['decode', 'cqe', '00', '--file', 'x'], 'Give the bytes or --file, not both'],
    [['decode', 'identify', '0000'], 'Identify Controller: expected 4096 bytes, got 2'],
    [['decode', 'identify', '--cns', '256', '00'], 'Expected a number from 0 to 255, or 0x00 to 0xff.'],
    [['decode', 'identify', '--cns', '0xff', '00'], 'No structure is known for --cns 255 --csi 0'],
    [['decode', 'log', '--lid', '0xc0', '00'], 'No structure is known for --lid 192'],
    [['decode', 'CC'], "CC: expected its value in hexadecimal, got ''\n  Try: gpunvme decode CC 0x00000000"],
    [['decode', 'CC', '0x123456789'], 'CC: expected at most 8 hexadecimal digits, got 9'],
    [['decode', 'CC', '0x12', '--file', 'x'], 'CC: a value is given as an argument, --file is for structures'],
    [['decode', 'sqe', '--set', 'io', '00'], 'Allowed choices are admin, nvm, zns'],
  ])('%j is refused as a wrong use, in words', (args, message) => {
    const { code, stdout, stderr } = piped(args, '')
    expect(stderr).toContain(message)
    expect(stderr).not.toMatch(/^ {4}at /m)
    expect([code, stdout]).toEqual([2, ''])
  })

  test('a file that is missing, empty or endless is refused', async () => {
    expect((await gpunvme(['decode', 'sqe', '--file', 'missing'], { cwd })).code).toBe(3)
    writeFileSync(at('empty'), '')
    expect(await gpunvme(['decode', 'sqe', '--file', 'empty'], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('empty is empty') as string,
    })
    writeFileSync(at('large'), '')
    truncateSync(at('large'), 5 * 1024 * 1024)
    expect(await gpunvme(['decode', 'identify', '--file', 'large'], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('large holds more than 4 MiB') as string,
    })
    expect(await gpunvme(['decode', 'identify', '--file', '.'], { cwd })).toMatchObject({ code: 2 })
  })
})
