import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { gpunvme, json, scratch } from './gpunvme.js'

const cwd = scratch()
const at = (name: string) => join(cwd, name)

// A Read of 8 blocks at LBA 3B9F8000h into 123456000h, encoded by hand after Base 2.1 Figure 92 and NVM 1.2 §3.3.4.
const READ = `02001204 01000000 00000000 00000000 00000000 00000000 00604523 01000000
00000000 00000000 00809f3b 00000000 07000000 00000000 00000000 00000000`
const READ_TEXT = 'Read CID=0x0412 NSID=1 PRP1=0x123456000 SLBA=0x3b9f8000 NLB=7'
const CQE = '00000000 00000000 04000100 12040181'

/** Runs the command with these bytes on stdin. */
const piped = (args: string[], input: string | Uint8Array) => gpunvme(args, { cwd, input })

describe('decode', () => {
  test('explains every field with its unit, each bit with its meaning, and identifiers in hexadecimal', async () => {
    const identify = Buffer.alloc(4096)
    identify.set([0x86, 0x80], 0)
    identify[77] = 8
    identify[256] = 0x02
    identify[200] = 0xab // reserved in Base 2.1 Figure 312
    const { stdout } = await piped(['nvme', 'decode', 'identify'], identify)
    const lines = stdout.split('\n').map((line) => line.trim().replace(/ {2,}/g, '  '))
    expect(lines[0]).toBe('Identify Controller (Base 2.1 §5.1.13.2.1)')
    expect(lines).toContain('1:0  VID=0x8086  PCI Vendor ID')
    expect(lines).toContain(
      '77  MDTS=8: 1 MiB at 4 KiB pages  Maximum Data Transfer Size: 2 ^ n pages of CAP.MPSMIN; 0 means no limit',
    )
    expect(lines).toContain('[0]  SSRS=0: not supported  Security Send Receive Supported')
    expect(lines).toContain('[1]  FNVMS=1: supported  Format NVM Supported')
    expect(lines).toContain('200  reserved=ab  Bits that no field declares')
  })

  test('explains entries and registers row by row, under their name and source', async () => {
    const cqes = (await gpunvme(['nvme', 'decode', 'cqe', CQE, CQE], { cwd })).stdout.split('\n')
    expect(cqes.filter((line) => !line.startsWith(' '))).toEqual([
      '0: Completion Queue Entry (Base 2.1 §4.2.1)',
      '1: Completion Queue Entry (Base 2.1 §4.2.1)',
      '',
    ])
    expect(cqes.find((line) => line.includes('STATUS='))).toContain(
      'STATUS=0x8101: LBA Out of Range (SCT 0h SC 80h, DNR)  Phase Tag and Status',
    )
    expect((await gpunvme(['nvme', 'decode', 'csts', '0x80000009'], { cwd })).stdout).toBe(
      `CSTS=0x80000009  Controller Status; only NSSRO is writable (Base 2.1 §3.1.4.6)
  [0]    RDY=1: ready         Ready
  [1]    CFS=0: clear         Controller Fatal Status
[3:2]    SHST=2: COMPLETE     Shutdown Status
  [4]    NSSRO=0: clear       NVM Subsystem Reset Occurred; writing 1 clears it
  [5]    PP=0: clear          Processing Paused
  [6]    ST=0: clear          Shutdown Type: 1 if SHST refers to the NVM subsystem
 [31]    reserved=0x80000000  Bits that no row declares
`,
    )
  })

  test('shows bytes after a structure, and empty error entries', async () => {
    const errors = Buffer.alloc(128)
    errors.writeBigUInt64LE(9n, 64)
    const { stdout } = await piped(['nvme', 'decode', 'log', '--lid', '1'], errors)
    expect(stdout).toMatch(
      /^0: no error\n1: Error Information Log Entry \(Base 2\.3 §[\d.]+\)\n +7:0 {2}ECNT=9 +Error Count/,
    )
    expect((await piped(['nvme', 'decode', 'log'], Buffer.alloc(520))).stdout).toContain(
      '\n  and 8 bytes after it: 00000000',
    )
  })

  test('takes bytes from the arguments, a file of bytes, a file of digits and stdin', async () => {
    const digits = READ.split(/\s+/)
    writeFileSync(at('read.bin'), Buffer.from(digits.join(''), 'hex'))
    writeFileSync(at('read.txt'), READ)
    const expected = { code: 0, stdout: `${READ_TEXT}\n`, stderr: '' }
    expect(await gpunvme(['nvme', 'decode', 'sqe', '--brief', ...digits], { cwd })).toEqual(expected)
    expect(await gpunvme(['nvme', 'decode', 'sqe', '--brief', '--file', 'read.bin'], { cwd })).toEqual(expected)
    expect(await gpunvme(['nvme', 'decode', 'sqe', '--brief', '--file', 'read.txt'], { cwd })).toEqual(expected)
    expect(await piped(['nvme', 'decode', 'sqe', '--brief'], READ)).toEqual(expected)
    expect(await piped(['nvme', 'decode', 'sqe', '--brief', '-'], Buffer.from(digits.join(''), 'hex'))).toEqual(
      expected,
    )
    expect(
      await piped(['nvme', 'decode', 'SQE', '--brief', '--file', '-'], Buffer.from(digits.join(''), 'hex')),
    ).toEqual(expected)
  })

  // Output of each tool for the Read above.
  test.each([
    [
      'xxd',
      `00000000: 0200 1204 0100 0000 0000 0000 0000 0000  ................
00000010: 0000 0000 0000 0000 0060 4523 0100 0000  .........\`E#....
00000020: 0000 0000 0000 0000 0080 9f3b 0000 0000  ...........;....
00000030: 0700 0000 0000 0000 0000 0000 0000 0000  ................
`,
    ],
    [
      'hexdump -v -C',
      `00000000  02 00 12 04 01 00 00 00  00 00 00 00 00 00 00 00  |................|
00000010  00 00 00 00 00 00 00 00  00 60 45 23 01 00 00 00  |.........\`E#....|
00000020  00 00 00 00 00 00 00 00  00 80 9f 3b 00 00 00 00  |...........;....|
00000030  07 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|
00000040
`,
    ],
    [
      'od -A x -t x1',
      `000000 02 00 12 04 01 00 00 00 00 00 00 00 00 00 00 00
000010 00 00 00 00 00 00 00 00 00 60 45 23 01 00 00 00
000020 00 00 00 00 00 00 00 00 00 80 9f 3b 00 00 00 00
000030 07 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
000040
`,
    ],
    [
      'nvme',
      `       0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f
0000: 02 00 12 04 01 00 00 00 00 00 00 00 00 00 00 00 "................"
0010: 00 00 00 00 00 00 00 00 00 60 45 23 01 00 00 00 ".........\`E#...."
0020: 00 00 00 00 00 00 00 00 00 80 9f 3b 00 00 00 00 "...........;...."
0030: 07 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "................"
`,
    ],
    ['xxd -i', `  ${READ.replace(/\s/g, '').replace(/../g, '0x$&, ')}\n`],
  ])('accepts the output of %s', async (_, text) => {
    expect(await piped(['nvme', 'decode', 'sqe', '--brief'], text)).toEqual({
      code: 0,
      stdout: `${READ_TEXT}\n`,
      stderr: '',
    })
  })

  const digitsHint = '  Try: use plain digits as printed by `xxd -p`, or a binary file\n'
  const dumpHint = '  Try: use `xxd -p` for plain digits, or `hexdump -v -C`\n'
  test.each([
    ['hexdump', '0000000 0002 0412\n0000004\n', 'stdin is a dump of words, whose bytes may be swapped\n', dumpHint],
    [
      'hexdump -C, without the lines that repeat',
      '00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n*\n00000040\n',
      'stdin, line 2: repeated lines are omitted\n',
      '  Try: use -v, as in `hexdump -v -C`, or use `xxd -p`\n',
    ],
    [
      'lspci -xxxx',
      '00:00.0 Host bridge: QEMU\n00: 86 80 37 12\n',
      "Expected hexadecimal digits in stdin, got '00.0'\n",
      digitsHint,
    ],
    [
      'xxd -i of a file',
      'unsigned char a_bin[] = {\n  0x02\n};\n',
      "Expected hexadecimal digits in stdin, got 'unsigned'\n",
      digitsHint,
    ],
    // All characters are digits if the offset is counted as data.
    [
      'xxd -e',
      '00000000: 30303030 30303030  00000000\n',
      "Expected hexadecimal digits in stdin, got '00000000:'\n",
      digitsHint,
    ],
    [
      'hexdump -c',
      '0000000 002  \\0\n',
      "Expected pairs of hexadecimal digits in stdin, got 7 digits in '0000000'\n",
      digitsHint,
    ],
  ])('rejects the output of %s', async (_, text, message, hint) => {
    expect(await piped(['nvme', 'decode', 'log'], text)).toEqual({ code: 2, stdout: '', stderr: message + hint })
  })

  test('accepts bytes and words after 0x, and single digits as bytes', async () => {
    const args = ['0x0,0x0,0x0,0x0', '0x00000000', '0x4,00,0x1,0x0', '0x12040181']
    expect(await gpunvme(['nvme', 'decode', 'cqe', '--brief', ...args], { cwd })).toMatchObject({
      code: 0,
      stdout: 'CID=0x0412 SQID=1 SQHD=4 P=1 LBA Out of Range (SCT 0h SC 80h, DNR)\n',
    })
  })

  test('numbers several entries, and decodes admin commands with --set admin', async () => {
    const { stdout } = await gpunvme(['nvme', 'decode', 'sqe', '--brief', '--set', 'admin', READ, READ], { cwd })
    const lines = stdout.trimEnd().split('\n')
    // Opcode 02h is Get Log Page on the admin queue.
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatch(/^0: Get Log Page CID=0x0412 NSID=1 PRP1=0x123456000 /)
    expect(lines[1]).toMatch(/^1: Get Log Page /)
  })

  test('names the status of a completion, and has its fields in JSON', async () => {
    const { stdout } = await gpunvme(['nvme', 'decode', 'cqe', '--brief', CQE], { cwd })
    expect(stdout).toBe('CID=0x0412 SQID=1 SQHD=4 P=1 LBA Out of Range (SCT 0h SC 80h, DNR)\n')
    expect(json(await gpunvme(['nvme', 'decode', 'cqe', CQE, '--json'], { cwd }))).toMatchObject({
      schema: 'gpunvme.decode/1',
      what: 'cqe',
      entries: [{ CID: 0x0412, status: { sct: 0, sc: 0x80, name: 'LBA Out of Range', dnr: true } }],
    })
  })

  test('accepts register names in any case, and prints reserved bits', async () => {
    const { stdout } = await gpunvme(['nvme', 'decode', 'csts', '0x80000009', '--brief'], { cwd })
    expect(stdout).toBe('CSTS=0x80000009 { RDY=1 CFS=0 SHST=COMPLETE NSSRO=0 PP=0 ST=0 reserved=0x80000000 }\n')
    const ended = await gpunvme(['nvme', 'decode', 'CAP', '0x20_0103_0800_03ff', '--json'], { cwd })
    expect(json(ended)).toMatchObject({ name: 'CAP', spec: 'Base 2.1 §3.1.4.1', fields: { MQES: 1023 } })
  })

  test('reads the value of a register from stdin, and prints it with all digits in JSON', async () => {
    const text = 'CC=0x00460001 { EN=1 CSS=NVM MPS=0 AMS=ROUND_ROBIN SHN=NONE IOSQES=6 IOCQES=4 CRIME=0 }'
    for (const args of [['CC'], ['cc', '-'], ['CC', '--file', '-']])
      expect(await piped(['nvme', 'decode', '--brief', ...args], '0x460001\n')).toEqual({
        code: 0,
        stdout: `${text}\n`,
        stderr: '',
      })
    const { stdout } = await piped(['nvme', 'decode', 'cc', '0x460001', '--json'], '')
    expect(JSON.parse(stdout)).toMatchObject({ what: 'CC', name: 'CC', value: '0x00460001', text })
    expect(JSON.parse((await piped(['nvme', 'decode', 'ASQ', '1000', '--json'], '')).stdout)).toMatchObject({
      value: '0x0000000000001000',
      text: 'ASQ=0x0000000000001000 { ASQB=0x1 }',
    })
  })

  test('decodes the identifiers of a namespace', async () => {
    const list = Buffer.alloc(4096)
    Buffer.from('0208' + '0000', 'hex').copy(list) // NGUID of 16 bytes, whose length is wrong
    const refused = await piped(['nvme', 'decode', 'identify', '--cns', '3'], list)
    expect(refused.stderr).toContain(
      'Namespace Identification Descriptor at byte 0: expected NIDL 16 for NIDT 2, got 8',
    )
    expect([refused.code, refused.stdout]).toEqual([2, ''])
    Buffer.from('01080000' + '0011223344556677' + '04010000' + '02', 'hex').copy(list) // EUI-64, CSI
    const { stdout } = await piped(['nvme', 'decode', 'identify', '--cns', '03h'], list)
    expect(stdout).toBe(
      'Namespace Identification Descriptor list (Base 2.1 §5.1.13.2.3)\n  EUI64=0011223344556677\n  CSI=02\n',
    )
    expect(
      JSON.parse((await piped(['nvme', 'decode', 'identify', '--cns', '3', '--json'], list)).stdout),
    ).toMatchObject({
      identifiers: [
        { type: 1, name: 'EUI64', id: '0011223344556677' },
        { type: 4, name: 'CSI', id: '02' },
      ],
    })
    expect((await piped(['nvme', 'decode', 'identify', '--cns', '3'], Buffer.alloc(4096))).stdout).toContain(
      '\n  no identifier\n',
    )
    expect((await piped(['nvme', 'decode', 'identify', '--cns', '3', '00'], '')).stderr).toContain(
      'expected 4096 bytes, got 1',
    )
  })

  test('decodes Identify by CNS, including reserved bytes', async () => {
    const identify = Buffer.alloc(4096)
    identify.write('SN1'.padEnd(20), 4)
    identify[77] = 7
    identify[200] = 0xab // reserved in Base 2.1 Figure 312
    writeFileSync(at('controller.bin'), identify)
    const { stdout } = await gpunvme(['nvme', 'decode', 'identify', '--brief', '--file', 'controller.bin'], { cwd })
    expect(stdout.split('\n').slice(0, 4)).toEqual([
      'Identify Controller (Base 2.1 §5.1.13.2.1); zero fields omitted',
      '  SN="SN1"',
      '  MDTS=7',
      '  reserved[200]=ab',
    ])
    const list = Buffer.alloc(4096)
    list.writeUInt32LE(3, 0)
    writeFileSync(at('list.bin'), list)
    const ended = await gpunvme(['nvme', 'decode', 'identify', '--cns', '0x02', '--file', 'list.bin', '--json'], {
      cwd,
    })
    expect((json(ended) as { fields: { NSID: number[] } }).fields.NSID.slice(0, 2)).toEqual([3, 0])
  })

  test('decodes a log page, shows what follows its structure, and lists error entries', async () => {
    const smart = Buffer.alloc(520)
    smart.writeUInt16LE(310, 1)
    smart[519] = 1
    const { stdout } = await piped(['nvme', 'decode', 'log', '--brief'], smart)
    expect(stdout).toContain('\n  CTEMP=310\n')
    expect(stdout).toContain('\n  and 8 bytes after it: 0000000000000001\n')
    const errors = Buffer.alloc(128)
    errors.writeBigUInt64LE(9n, 64)
    const { stdout: listed } = await piped(['nvme', 'decode', 'log', '--brief', '--lid', '0x01'], errors)
    expect(listed).toMatch(/^0: no error\n1: ECNT=\w+\n$/)
  })

  test('prints how many bytes follow a header, and all of them in JSON', async () => {
    const page = Buffer.alloc(8 + 33, 0)
    page[0] = 1
    page[40] = 7
    const args = ['nvme', 'decode', 'log', '--brief', '--lid', '0Bh']
    expect((await piped(args, page)).stdout).toMatch(
      /^Predictable Latency Event Aggregate header .*\n {2}\w+=1\n {2}and 33 bytes of entries or data after it \(complete with --json\)\n$/,
    )
    expect(JSON.parse((await piped([...args, '--json'], page)).stdout)).toMatchObject({ rest: `${'00'.repeat(32)}07` })
  })

  test('integers that a JavaScript number cannot represent are strings in JSON', async () => {
    const namespace = Buffer.alloc(4096)
    namespace.writeBigUInt64LE(4096n, 0)
    namespace.writeBigUInt64LE(2n ** 53n, 8)
    expect(
      JSON.parse((await piped(['nvme', 'decode', 'identify', '--cns', '0', '--json'], namespace)).stdout),
    ).toMatchObject({
      fields: { NSZE: 4096, NCAP: '9007199254740992' },
    })
  })

  test.each([
    [['nvme', 'decode'], 'nvme decode requires the argument WHAT'],
    [['nvme', 'decode', 'sqx', '00'], "Unknown WHAT 'sqx'\n  structures: sqe cqe identify log\n  registers: CAP VS "],
    [['nvme', 'decode', 'sqe', '00'], 'SQE: expected a multiple of 64 bytes, got 1\n  Base 2.1 §4.1.1'],
    [['nvme', 'decode', 'cqe', '0'], 'Expected pairs of hexadecimal digits in the arguments, got 1 digit'],
    [['nvme', 'decode', 'cqe', 'hello'], "Expected hexadecimal digits in the arguments, got 'hello'"],
    [['nvme', 'decode', 'cqe', 'é'], "Expected hexadecimal digits in the arguments, got 'é'"],
    [
      ['nvme', 'decode', 'cqe', '0x1,0x123'],
      "Expected pairs of hexadecimal digits in the arguments, got 3 digits in '0x123'",
    ],
    [['nvme', 'decode', 'cqe', '0x'], "Expected pairs of hexadecimal digits in the arguments, got 0 digits in '0x'"],
    [['nvme', 'decode', 'cqe', '0', '1'], "Expected pairs of hexadecimal digits in the arguments, got 1 digit in '0'"],
    [
      ['nvme', 'decode', 'cqe', ''],
      'No bytes to decode\n  Try: pass bytes in hexadecimal, use --file FILE, or pipe them into stdin',
    ],
    [['nvme', 'decode', 'cqe', ' , '], 'No bytes to decode'],
    [['nvme', 'decode', 'cqe', '--lid', '2', '00'], 'cqe: --lid requires log\n  Try: gpunvme help nvme decode'],
    [['nvme', 'decode', 'log', '--cns', '1', '00'], 'log: --cns requires identify'],
    [['nvme', 'decode', 'CC', '0', '--set', 'nvm'], 'CC: --set requires sqe'],
    [['nvme', 'decode', 'cqe', '00', '-'], "Bytes and '-' for stdin are mutually exclusive"],
    [['nvme', 'decode', 'cqe', '00', '--file', 'x'], 'Bytes and --file are mutually exclusive'],
    [['nvme', 'decode', 'identify', '0000'], 'Identify Controller: expected 4096 bytes, got 2'],
    [
      ['nvme', 'decode', 'identify', '--cns', '256', '00'],
      'expected a number from 0 to 255, 0x00 to 0xff or 00h to FFh',
    ],
    [['nvme', 'decode', 'identify', '--cns', '100h', '00'], 'expected a number from 0 to 255'],
    // Suggests the help of decode, not of identify.
    [['nvme', 'decode', 'identify', '--cns', 'x'], '\n  Try: gpunvme help nvme decode\n'],
    [
      ['nvme', 'decode', 'identify', '--cns', '0xff', '00'],
      'Unknown structure: --cns 255 --csi 0\n  known --cns: 0x00=NAMESPACE 0x01=CONTROLLER ',
    ],
    [['nvme', 'decode', 'identify', '--cns', '20h', '00'], ' 0x03=NAMESPACE_DESCRIPTOR_LIST 0x04=NVM_SET_LIST '],
    [
      ['nvme', 'decode', 'identify', '--cns', '05h', '--csi', '1', '00'],
      '\n  --cns 5 is known with --csi 0x00=NVM 0x02=ZNS\n',
    ],
    [
      ['nvme', 'decode', 'log', '--lid', '0xc0', '00'],
      'Unknown structure: --lid 192\n  known --lid: 0x00=SUPPORTED_LOG_PAGES 0x01=',
    ],
    [
      ['nvme', 'decode', 'log', '--lid', '70h', '00'],
      ' 0x81=SANITIZE_STATUS 0xbf=CHANGED_ZONE_LIST\n  Try: gpunvme help nvme decode',
    ],
    [['nvme', 'decode', 'CC'], 'stdin is empty\n  Try: pass bytes in hexadecimal'],
    [
      ['nvme', 'decode', 'CC', ''],
      "CC: expected a value in hexadecimal, got ''\n  Try: gpunvme nvme decode CC 0x00000000",
    ],
    [['nvme', 'decode', 'CC', '1', '2'], "CC: expected a value in hexadecimal, got '1 2'"],
    [
      ['nvme', 'decode', 'CC', '0x123456789'],
      'CC: expected at most 8 hexadecimal digits, got 9\n  Try: gpunvme nvme decode CC 0x00000000',
    ],
    [
      ['nvme', 'decode', 'CC', '0x12', '--file', 'x'],
      'CC: --file requires a structure\n  Try: gpunvme nvme decode CC -, to read stdin',
    ],
    [['nvme', 'decode', 'sqe', '--set', 'io', '00'], 'expected admin, nvm, zns'],
  ])('%j is a usage error', async (args, message) => {
    const { code, stdout, stderr } = await piped(args, '')
    expect(stderr).toContain(message)
    expect(stderr).not.toMatch(/^ {4}at /m)
    expect([code, stdout]).toEqual([2, ''])
  })

  test('rejects a file that is missing, empty or too long', async () => {
    expect((await gpunvme(['nvme', 'decode', 'sqe', '--file', 'missing'], { cwd })).code).toBe(3)
    writeFileSync(at('empty'), '')
    expect(await gpunvme(['nvme', 'decode', 'sqe', '--file', 'empty'], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('empty is empty') as string,
    })
    writeFileSync(at('large'), '')
    truncateSync(at('large'), 5 * 1024 * 1024)
    expect(await gpunvme(['nvme', 'decode', 'identify', '--file', 'large'], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('large is longer than 4 MiB') as string,
    })
    expect(await gpunvme(['nvme', 'decode', 'identify', '--file', '.'], { cwd })).toMatchObject({ code: 2 })
  })

  test('recognizes text with a byte order mark, in UTF-16, and with a non-ASCII character', async () => {
    const expected = { code: 0, stdout: `${READ_TEXT}\n`, stderr: '' }
    expect(await piped(['nvme', 'decode', 'sqe', '--brief'], Buffer.from(`\ufeff${READ}`))).toEqual(expected)
    expect(await piped(['nvme', 'decode', 'sqe', '--brief'], Buffer.from(`\ufeff${READ}`, 'utf16le'))).toEqual(expected)
    const { code, stderr } = await piped(['nvme', 'decode', 'log'], 'temperature : 38 °C\n'.repeat(40))
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("Expected hexadecimal digits in stdin, got 'temperature'"),
    ])
  })
})
