import { Flush, Read, Write } from '@gpunvme/nvme-spec'
import { parseTraceLine } from '@gpunvme/nvme-spec/trace'
import type { TraceEvent } from '@gpunvme/nvme-spec/transport'
import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { failureIn, failureOf, gpunvme, json, scratch, type Running } from './gpunvme.js'
import { completion, linesOf, submission } from './trace-lines.js'

const cwd = scratch()
const at = (name: string) => join(cwd, name)
const LIMIT = { timeout: 120_000 }

function eventsOf(name: string): TraceEvent[] {
  return readFileSync(at(name), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => parseTraceLine(line))
}

beforeAll(() => {
  writeFileSync(at('drive.img'), '')
  truncateSync(at('drive.img'), 64 * 1024 * 1024)
})

describe('a traced verb', () => {
  test('a traced verb has the same output, and its trace is a separate file', LIMIT, async () => {
    const words = ['nvme', 'read', '--image', 'drive.img', '--lba', '0x10', '--blocks', '8', '--json']
    const plain = await gpunvme(words, { cwd })
    const traced = await gpunvme(['nvme', 'trace', '--format', 'jsonl', '-o', 'read.jsonl', '--', ...words], { cwd })
    expect([traced.code, traced.stdout]).toEqual([0, plain.stdout])
    const events = eventsOf('read.jsonl')
    expect(traced.stderr).toBe(`${plain.stderr}Traced ${events.length} events into read.jsonl\n`)
    expect(events[0]).toMatchObject({ track: 'trace', name: 'open', details: { time: 'modelled' } })
    const reads = events.filter(({ track, name }) => track === 'sq 1' && name === 'submit')
    expect(reads.map(({ command }) => command)).toMatchObject([
      {
        ...{ qid: 1, opcode: 2, name: 'Read', nsid: 1, slba: 0x10, nlb: 7 },
        ...{
          prp1: expect.stringMatching(/^0x[\da-f]+$/) as string,
          raw: expect.stringMatching(/^02[\da-f]{126}$/) as string,
        },
        text: expect.stringMatching(/^Read .*NSID=1 .*SLBA=0x10 NLB=7$/) as string,
      },
    ])
  })

  test('a traced verb is traced on stderr without -o', LIMIT, async () => {
    const { code, stdout, stderr } = await gpunvme(
      ['nvme', 'trace', '--only', 'commands', 'nvme', 'identify', '--sim', '--json'],
      {
        cwd,
      },
    )
    expect([code, (JSON.parse(stdout) as { schema: string }).schema]).toEqual([0, 'gpunvme.identify/1'])
    expect(stderr).toMatch(/^ +\d+\.\d{6} ms {2}sq 0 {7}submit {8}Identify .*CNS=CONTROLLER/m)
    expect(stderr).not.toContain('ring tail')
  })

  test('a traced verb is quiet if trace is', LIMIT, async () => {
    const words = [
      'nvme',
      'trace',
      '--format',
      'jsonl',
      '-o',
      'quiet.jsonl',
      '--json',
      '-q',
      'nvme',
      'identify',
      '--sim',
    ]
    const { code, stdout, stderr } = await gpunvme(words, { cwd })
    expect([code, stderr, (JSON.parse(stdout) as { schema: string }).schema]).toEqual([0, '', 'gpunvme.identify/1'])
  })

  test('a traced verb that fails leaves its trace, and keeps its exit code', LIMIT, async () => {
    const words = [
      'nvme',
      'trace',
      '--format',
      'perfetto',
      '-o',
      'failed.json',
      'nvme',
      'read',
      '--image',
      'drive.img',
      '--lba',
      '9999999',
    ]
    const { code, stderr } = await gpunvme(words, { cwd })
    expect([code, stderr]).toEqual([2, expect.stringContaining('are not all inside namespace 1')])
    const shown = JSON.parse(readFileSync(at('failed.json'), 'utf8')) as { name: string; ph: string }[]
    expect(shown.filter(({ name, ph }) => name === 'Identify' && ph === 'X').length).toBeGreaterThan(2)
  })

  test('a traced verb that receives SIGINT leaves a complete trace', LIMIT, async () => {
    const signals: NodeJS.Signals[] = ['SIGINT']
    const onStderr = (text: string, running: Running) => {
      if (text.includes('Namespace 1,')) for (const signal of signals.splice(0)) running.kill(signal)
    }
    const words = ['nvme', 'read', '--capacity', '1TB', '--transport', 'sim', '--blocks', 'all', '-o', 'never.bin']
    const ended = await gpunvme(['nvme', 'trace', '--format', 'jsonl', '-o', 'ended.jsonl', ...words], {
      cwd,
      onStderr,
    })
    expect(ended.code).toBe(130)
    // Each line is parsed.
    expect(eventsOf('ended.jsonl').some(({ command }) => command?.name === 'Read')).toBe(true)
    expect(existsSync(at('never.bin'))).toBe(false)
    expect(readdirSync(cwd).filter((name) => name.includes('partial'))).toEqual([])
  })

  test('a traced verb without a controller reports that nothing was traced', LIMIT, async () => {
    const { code, stdout, stderr } = await gpunvme(['nvme', 'trace', 'nvme', 'decode', 'CC', '0x00460001'], { cwd })
    expect([code, stderr]).toEqual([0, 'nvme decode accessed no controller through gpunvme: nothing was traced\n'])
    expect(stdout).toContain('EN=1')
  })

  test.each([
    [['nvme', 'trace', 'raed'], "Unknown command 'raed'\n  Did you mean nvme read?"],
    [['nvme', 'trace', 'nvme', 'trace', 'nvme', 'read'], 'trace cannot trace itself'],
    [['nvme', 'trace', '--only', 'everything', 'nvme', 'read'], 'Expected kinds from registers, doorbells, commands'],
    [['nvme', 'trace', '--format', 'xml', 'nvme', 'read'], 'Allowed choices are text, jsonl, perfetto'],
    [
      ['nvme', 'trace', 'nvme', 'read', '--lbaa', '1'],
      "Unknown option '--lbaa'\n  Did you mean --lba?\n  Try: gpunvme help nvme read",
    ],
    [['nvme', 'trace', '-o', '/dev/null', 'nvme', 'read'], '/dev/null is not a regular file'],
    [['nvme', 'trace', '-o', 'no/such/folder', 'nvme', 'read'], 'no such file or directory'],
    [['nvme', 'trace'], "missing required argument 'verb'"],
  ])('trace rejects %j', async (words, text) => {
    expect((await failureOf(...words)).message).toContain(text)
  })

  test('a traced verb does not overwrite its drive with the trace', async () => {
    for (const given of [['--image', at('drive.img')], [`--image=${at('drive.img')}`]]) {
      const { message } = await failureOf('nvme', 'trace', '-o', at('drive.img'), 'nvme', 'read', ...given)
      expect(message).toContain('is used by nvme read and would be overwritten')
    }
    expect(statSync(at('drive.img')).size).toBe(64 * 1024 * 1024)
  })
})

describe('a replay', () => {
  test('repeats the reads of a trace on another drive, and prints the comparison', LIMIT, async () => {
    const read = ['nvme', 'read', '--image', 'drive.img', '--blocks', '10000', '-o', 'some.bin']
    await gpunvme(['nvme', 'trace', '--format', 'jsonl', '-o', 'ten.jsonl', ...read], { cwd })
    const words = ['nvme', 'replay', 'ten.jsonl', '--profile', '990pro']
    const shown = await gpunvme(words, { cwd })
    expect([shown.code, shown.stdout]).toEqual([
      0,
      expect.stringMatching(/^SIMULATED .*\nReplayed 5 of \d+ commands of ten\.jsonl\n/),
    ])
    expect(shown.stdout).toMatch(/^Read {5}5 of 5 {2}in the trace, modelled +\d/m)
    expect(shown.stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
    expect(json(await gpunvme([...words, '--json'], { cwd }))).toMatchObject({
      ...{ schema: 'gpunvme.replay/1', trace: 'ten.jsonl', time: { trace: 'modelled', replay: 'modelled' } },
      commands: { replayed: 5, different: 0 },
      names: { Read: { same: 5, different: 0, unanswered: 0, trace: { count: 5 }, replay: { count: 5 } } },
      differences: [],
    })
  })

  test('a replay with a different status ends with exit code 6, and names the line', LIMIT, async () => {
    const read = submission(Read, { CID: 7, NSID: 1, SLBA: 0x20 })
    writeFileSync(at('odd.jsonl'), linesOf(read, completion(7, { SC: 0x80, DNR: 1 })))
    const { code, stdout } = await gpunvme(['nvme', 'replay', 'odd.jsonl', '--image', 'drive.img'], { cwd })
    expect([code, stdout]).toEqual([
      6,
      expect.stringContaining(
        'Different outcome: 1\n  line 2: Read LBA 0x20\n' +
          '    in the trace  LBA Out of Range (SCT 0h SC 80h, DNR)\n' +
          '    here          Successful Completion (SCT 0h SC 00h)\n',
      ),
    ])
  })

  test('a replay without replayable commands ends with exit code 7', LIMIT, async () => {
    writeFileSync(at('flush.jsonl'), linesOf(submission(Flush, { CID: 1, NSID: 1 })))
    const { code, stdout, stderr } = await gpunvme(['nvme', 'replay', 'flush.jsonl', '--image', 'drive.img'], { cwd })
    expect([code, stdout]).toEqual([7, expect.stringContaining('Replayed 0 of 1 command of flush.jsonl\n')])
    expect(stderr).toContain('No command was sent.\n')
  })

  test.each([
    [['nvme', 'replay', '/dev/zero'], '/dev/zero is not a regular file'],
    [['nvme', 'replay', 'missing.jsonl'], 'no such file or directory'],
    [['nvme', 'replay', 'nonsense.jsonl'], 'line 2'],
    [
      ['nvme', 'replay', 'old.jsonl'],
      'older version, which kept commands as text; record it again\n  Try: gpunvme nvme trace',
    ],
    [['nvme', 'replay', 'writes.jsonl', '--allow-writes'], 'No drive is named'],
    [['nvme', 'replay', 'writes.jsonl', '--allow-writes', '--image', 'text.img'], 'data of unknown format'],
    [['nvme', 'replay', 'writes.jsonl', '--opened', '2'], '--opened 2: it has commands of drive 1 alone'],
    [['nvme', 'replay', 'writes.jsonl', '--opened', '0'], 'Expected an integer from 1'],
  ])('replay rejects %j', async (words, text) => {
    writeFileSync(at('nonsense.jsonl'), `${linesOf(submission(Read, { NSID: 1 }))}<html>\n`)
    writeFileSync(at('writes.jsonl'), linesOf(submission(Write, { NSID: 1, SLBA: 8, NLB: 7 })))
    writeFileSync(
      at('old.jsonl'),
      linesOf({
        timeNs: 1,
        track: 'sq 1',
        name: 'submit',
        details: { entry: 'Read CID=0x0001 NSID=1 SLBA=0x10 NLB=7' },
      }),
    )
    writeFileSync(at('text.img'), Buffer.alloc(1024 * 1024, 'all my work '))
    expect((await failureIn(cwd, ...words, '-q')).message).toContain(text)
    expect(readFileSync(at('text.img')).equals(Buffer.alloc(1024 * 1024, 'all my work '))).toBe(true)
  })
})
