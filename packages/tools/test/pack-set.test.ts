import { writeDemoModel } from '@gpunvme/layer-loader/formats'
import { closeSync, copyFileSync, existsSync, openSync, readFileSync, symlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { gpunvme, json, scratch, type Ended, type RunOptions } from './gpunvme.js'
import { emptyImage, imageBytes } from './simulated-drive.js'

const MIB = 1024 * 1024
const LAYERS = 6
const cwd = scratch()
const at = (name: string) => join(cwd, name)
const images = (...names: readonly string[]) => names.flatMap((name) => ['--image', name])

const run = (args: readonly string[], options: Partial<RunOptions> = {}): Promise<Ended> =>
  gpunvme(args, { cwd, ...options })
const pack = (names: readonly string[], ...args: readonly string[]) =>
  run(['pack', 'model.gguf', ...images(...names), ...args])

/** Runs a verb that must succeed, and returns its result. */
async function done(...args: readonly string[]): Promise<unknown> {
  const ended = await run([...args, '--json'])
  if (ended.code !== 0) throw new Error(ended.stderr + ended.stdout)
  return json(ended)
}

/** Creates image files of zeros. */
function empty(names: readonly string[], mib = 32): string[] {
  for (const name of names) emptyImage(at(name), mib * MIB)
  return [...names]
}

function mark(image: string, offsetBytes: number, ...bytes: readonly number[]): void {
  const fd = openSync(at(image), 'r+')
  writeSync(fd, Uint8Array.from(bytes), 0, bytes.length, offsetBytes)
  closeSync(fd)
}

const isUntouched = (name: string) => readFileSync(at(name)).every((byte) => byte === 0)

beforeAll(() => writeDemoModel(at('model.gguf'), { layers: 4, targetBytes: 4 * MIB }))

describe.each([
  ['stripe', ['--stripe', '--stripe-unit', '64KiB'], '6 MiB'],
  ['mirror', ['--mirror'], '9 MiB'],
] as const)('a %s', (kind, options, size) => {
  const [one, other, three] = [`${kind}1.img`, `${kind}2.img`, `${kind}3.img`] as const

  test('a set is created on new files, has a byte-identical model, and opens in any order of drives', async () => {
    expect((await run(['pack', 'model.gguf', ...images(one, other), ...options, '--dry-run'])).stdout).toContain(
      `Needs 2 drives of ${size}; `,
    )
    expect(existsSync(at(one))).toBe(false)
    const drives = images(other, one)
    const packed = await done('pack', 'model.gguf', ...images(one, other), ...options, '--capacity', '32MiB')
    expect(packed).toMatchObject({
      place: `${one}, ${other}`,
      set: { kind, id: expect.stringMatching(/^[0-9a-f]{32}$/) as string, degraded: false },
      created: true,
      drive: { members: [{ simulated: true }, { simulated: true }] },
    })
    expect(await done('models', 'verify', ...drives)).toMatchObject({ ok: true, place: `${other}, ${one}` })
    expect(await done('models', 'ls', ...drives)).toMatchObject({ models: [{ layers: LAYERS }] })
    expect(await done('plan', ...drives, '--vram', '8MiB')).toMatchObject({ model: 'gpunvme demo' })
    // --compare reads every tensor back and compares its SHA-256 with that of the file.
    const loaded = await done('load', 'model.gguf', ...drives, '--compare', '--to', 'host')
    expect(loaded).toMatchObject({ layersVerified: LAYERS })
  })

  test('supports further models and rm, and accepts the options of its creation again', async () => {
    const drives = images(one, other)
    const named = { name: 'two', set: { kind }, created: false }
    expect(await done('pack', 'model.gguf', ...drives, '--name', 'two')).toMatchObject(named)
    const again = ['pack', 'model.gguf', ...drives, '--name', 'two', '--replace', ...options]
    expect(await done(...again)).toMatchObject(named)
    expect(await done('models', 'rm', 'two', ...drives)).toMatchObject({ models: ['gpunvme demo'] })
  })

  const refusesOne = async (...words: readonly string[]) => {
    const before = readFileSync(at(one))
    const ended = await run([...words, '--image', one])
    expect(ended.code).toBeGreaterThan(1)
    expect(ended.stderr).toContain('Try: name every drive of the set: --drive A --drive B')
    expect(readFileSync(at(one)).equals(before)).toBe(true)
  }

  test.each([
    ['models', 'rm', 'gpunvme demo'],
    ['pack', 'model.gguf'],
    ['pack', 'model.gguf', '--replace-image'],
  ])('%s does not write to a set of which only one drive is named', refusesOne)

  test.each([
    ['models', 'verify'],
    ['models', 'ls'],
    ['load', '--to', 'host'],
    ['plan', '--vram', '8MiB'],
  ])('%s reads a set of which only one drive is named if that drive has all data', async (...words) => {
    if (kind === 'stripe') return refusesOne(...words)
    const ended = await run([...words, '--image', one])
    expect([ended.code, ended.stderr]).toEqual([
      0,
      expect.stringContaining('Problem with the set: member 1 is missing') as string,
    ])
  })

  test('a set is not replaced by another set without --replace-image', async () => {
    const [shape, name] = kind === 'stripe' ? ['--mirror', 'mirror'] : ['--stripe', 'stripe']
    const refused = await pack([one, other], shape)
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringMatching(
        new RegExp(`The drives already form a ${kind} of 2.*\\n {2}Try: omit ${shape}.*--replace-image`),
      ) as string,
    ])
    expect(await done('models', 'verify', ...images(one, other))).toMatchObject({ ok: true })
    expect(await done('pack', 'model.gguf', ...images(one, other), shape, '--replace-image')).toMatchObject({
      set: { kind: name },
      created: true,
    })
    expect(await done('models', 'verify', ...images(one, other))).toMatchObject({ ok: true, models: [{}] })
    await done('pack', 'model.gguf', ...images(one, other), ...options, '--replace-image')
  })

  test('a missing and a foreign drive are rejected with the contents of each drive', async () => {
    empty([three])
    const refused = await pack([one, three], ...options)
    expect([refused.code, refused.stderr]).toEqual([
      4,
      expect.stringMatching(
        new RegExp(
          `Refused to create a ${kind}: drives are in use\\n {2}${one} is member 0 of 2 of ${kind} [0-9a-f]{8}\\n` +
            ` {2}${three} is free\\n {2}Try: name every drive of that set`,
        ),
      ) as string,
    ])
    expect(isUntouched(three)).toBe(true)
  })

  test('a drive of another set is rejected', async () => {
    empty([`${kind}4.img`, `${kind}5.img`])
    await done('pack', 'model.gguf', ...images(`${kind}4.img`, `${kind}5.img`), ...options)
    const mixed = await pack([one, `${kind}5.img`])
    expect([mixed.code, mixed.stderr]).toEqual([
      2,
      expect.stringMatching(
        new RegExp(`different sets\\n {2}${one} is member 0 of .*\\n {2}${kind}5.img is member 1 of `),
      ) as string,
    ])
    expect((await pack([one, `${kind}5.img`], ...options)).stderr).toContain('Try: use free drives')
  })
})

test('ls, rm and pack reject a stripe of three without one of its drives', async () => {
  const drives = empty(['s1.img', 's2.img', 's3.img'])
  await done('pack', 'model.gguf', ...images(...drives), '--stripe')
  for (const words of [
    ['models', 'ls'],
    ['models', 'rm', 'gpunvme demo'],
    ['pack', 'model.gguf'],
  ]) {
    const ended = await run([...words, ...images('s1.img', 's3.img')])
    expect([ended.code, ended.stderr]).toEqual([
      3,
      expect.stringMatching(/cannot be opened without member 1\n[^]*Try: name every drive of the set/) as string,
    ])
  }
})

test('a mirror without one of its drives is read with a warning, and not written', async () => {
  const drives = empty(['m1.img', 'm2.img', 'm3.img'])
  await done('pack', 'model.gguf', ...images(...drives), '--mirror')
  const left = images('m3.img', 'm1.img')
  const read = await run(['models', 'verify', ...left])
  expect([read.code, read.stderr]).toEqual([0, 'Problem with the set: member 1 is missing\n'])
  for (const verb of ['verify', 'ls'])
    expect(await done('models', verb, ...left)).toMatchObject({ set: { degraded: true } })
  expect((await run(['load', ...left, '--to', 'host'])).stderr).toContain('Problem with the set: member 1 is missing')
  for (const words of [
    ['models', 'rm', 'gpunvme demo'],
    ['pack', 'model.gguf', '--name', 'two'],
  ]) {
    const written = await run([...words, ...left])
    expect([written.code, written.stderr]).toEqual([
      7,
      expect.stringMatching(/The mirror of 3 is degraded; nothing was written\n {2}member 1 is missing/) as string,
    ])
  }
  expect(await run(['models', 'verify', ...images(...drives)])).toMatchObject({ code: 0, stderr: '' })
})

describe('pack onto drives with data', () => {
  test('drives with data of unknown format are rejected before any write', async () => {
    const drives = empty(['u1.img', 'u2.img'])
    mark('u2.img', 3 * MIB, 7)
    const refused = await pack(drives, '--mirror')
    expect([refused.code, refused.stderr]).toEqual([
      4,
      expect.stringMatching(
        /u2\.img: Refused to overwrite data of unknown format\n {2}byte 3145728 is nonzero[^]*--overwrite 'unknown data'/,
      ) as string,
    ])
    expect(isUntouched('u1.img')).toBe(true)
    expect(imageBytes(at('u2.img'), 3 * MIB, 1)).toEqual(Buffer.of(7))
    await done('pack', 'model.gguf', ...images(...drives), '--mirror', '--overwrite', 'unknown data')
  })

  test('beyond the image keeps that data, also for a second model', async () => {
    const drives = empty(['b1.img', 'b2.img'], 24)
    mark('b2.img', 9 * MIB, 7)
    await done('pack', 'model.gguf', ...images(...drives), '--mirror')
    const second = await pack(drives, '--name', 'two')
    expect([second.code, second.stderr]).toEqual([
      4,
      expect.stringContaining('Refused to overwrite data of unknown format') as string,
    ])
    expect(imageBytes(at('b2.img'), 9 * MIB, 1)).toEqual(Buffer.of(7))
  })

  test('drives with data of a known format are rejected before any write', async () => {
    const drives = empty(['e1.img', 'e2.img'])
    mark('e2.img', 1024 + 0x38, 0x53, 0xef)
    const refused = await pack(drives, '--stripe')
    expect([refused.code, refused.stderr]).toEqual([
      4,
      expect.stringMatching(/^e2\.img: Refused to write [^]*ext2\/3\/4[^]*--overwrite 'ext2\/3\/4'/m) as string,
    ])
    expect(isUntouched('e1.img')).toBe(true)
    await done('pack', 'model.gguf', ...images(...drives), '--stripe', '--overwrite', 'ext2/3/4')
  })

  test('drives with a model image are rejected without --replace-image', async () => {
    empty(['i2.img'])
    await done('pack', 'model.gguf', '--image', 'i1.img', '--capacity', '32MiB')
    const refused = await pack(['i1.img', 'i2.img'], '--stripe')
    expect([refused.code, refused.stderr]).toEqual([
      4,
      expect.stringMatching(/i1\.img has a model image\n {2}i2\.img is free\n {2}Try: .*--replace-image/) as string,
    ])
    expect(await done('models', 'verify', '--image', 'i1.img')).toMatchObject({ ok: true })
    await done('pack', 'model.gguf', ...images('i1.img', 'i2.img'), '--stripe', '--replace-image')
    expect(await done('models', 'verify', ...images('i1.img', 'i2.img'))).toMatchObject({ ok: true })
  })

  test('a drive with data of unknown format after a replaced image is rejected', async () => {
    empty(['j1.img', 'j2.img'], 64)
    await done('pack', 'model.gguf', '--image', 'j1.img')
    mark('j1.img', 64 * MIB - 1, 7)
    const refused = await pack(['j1.img', 'j2.img'], '--mirror', '--replace-image')
    expect(refused.stderr).toContain('j1.img: Refused to overwrite data of unknown format')
    expect(await done('models', 'verify', '--image', 'j1.img')).toMatchObject({ ok: true })
  })
})

test('drives without a set are rejected with the options that create one', async () => {
  const drives = empty(['n1.img', 'n2.img'])
  const { code, stderr } = await pack(drives)
  expect([code, stderr]).toEqual([
    3,
    expect.stringMatching(/No set on these stores\n {2}n1\.img has .*--stripe or --mirror/s) as string,
  ])
  expect(drives.every(isUntouched)).toBe(true)
})

test('drives and stripe units that are too small or too large for a set are rejected', async () => {
  empty(['t1.img'], 3)
  empty(['t2.img', 't3.img'], 4)
  const small = await pack(['t1.img', 't2.img'], '--mirror')
  expect([small.code, small.stderr]).toEqual([
    7,
    't1.img is too small to be a member of the set\n  it has 3 MiB; a member requires at least 4 MiB\n  Try: use another drive\n',
  ])
  const full = await pack(['t2.img', 't3.img'], '--mirror')
  expect([full.code, full.stderr]).toEqual([7, expect.stringContaining('The model does not fit') as string])
  const unit = await pack(['t2.img', 't3.img'], '--stripe', '--stripe-unit', '8MiB')
  expect([unit.code, unit.stderr]).toEqual([7, expect.stringContaining('a member requires at least 10 MiB') as string])
  expect(['t1.img', 't2.img', 't3.img'].every(isUntouched)).toBe(true)
})

test('the unused size of a larger drive is reported', async () => {
  empty(['l1.img'], 16)
  empty(['l2.img'], 32)
  const { code, stderr } = await pack(['l1.img', 'l2.img'], '--mirror')
  expect([code, stderr]).toEqual([0, expect.stringContaining('l2.img: 16 MiB remain unused') as string])
})

describe('Ctrl-C', () => {
  /** Sends SIGINT once, at the begin of this stage. */
  const interruptAt = (stage: string): Pick<RunOptions, 'onStderr'> => {
    let sent = false
    return {
      onStderr(text, running) {
        if (sent || !text.includes(stage)) return
        sent = true
        running.kill('SIGINT')
      },
    }
  }

  test.each(['Creating a', 'Packing'])(
    'Ctrl-C at "%s" removes image files that were created for the set',
    async (stage) => {
      const args = ['pack', 'model.gguf', ...images('x1.img', 'x2.img'), '--stripe']
      const ended = await run(args, interruptAt(stage))
      expect([ended.code, existsSync(at('x1.img')), existsSync(at('x2.img'))]).toEqual([130, false, false])
    },
  )

  test.each(['Creating a', 'Packing'])(
    'Ctrl-C at "%s" leaves the set complete or absent, and pack can be repeated',
    async (stage) => {
      const drives = empty(['y1.img', 'y2.img'])
      const args = ['pack', 'model.gguf', ...images(...drives), '--mirror']
      const ended = await run(args, interruptAt(stage))
      expect(ended.code).toBe(130)
      await done(...args)
      expect(await run(['models', 'verify', ...images(...drives)])).toMatchObject({ code: 0, stderr: '' })
    },
  )

  test('between two labels of a creation lets pack be repeated without another option', async () => {
    const drives = empty(['k1.img', 'k2.img'])
    await done('pack', 'model.gguf', ...images(...drives), '--stripe')
    // The state after the first label: copy B on the first drive, nothing on the second.
    const label = imageBytes(at('k1.img'), MIB, 4096)
    empty(drives)
    mark('k1.img', MIB, ...label)
    expect((await run(['models', 'ls', ...images(...drives)])).stderr).toContain(
      'Creation of the set on these stores was interrupted',
    )
    expect(await done('pack', 'model.gguf', ...images(...drives), '--stripe')).toMatchObject({ created: true })
    expect(await done('models', 'verify', ...images(...drives))).toMatchObject({ ok: true })
  })
})

test('pack completes missing first label copies before it writes a model', async () => {
  const drives = empty(['h1.img', 'h2.img', 'h3.img'])
  const [one, other, three] = drives as [string, string, string]
  await done('pack', 'model.gguf', ...images(one, other), '--mirror')
  for (const name of [one, other]) mark(name, 0, ...new Uint8Array(4096))
  expect(await done('pack', 'model.gguf', ...images(one, other), '--mirror', '--name', 'two')).toMatchObject({
    created: false,
  })
  expect(imageBytes(at(one), 0, 8).toString()).toBe('GPUNVSET')
  expect((await pack([one, three], '--mirror')).stderr).toContain('drives are in use')
})

test('pack rejects one file under two names', async () => {
  empty(['same.img'])
  symlinkSync(at('same.img'), at('link.img'))
  const { code, stderr } = await pack(['same.img', 'link.img'], '--stripe')
  expect([code, stderr]).toEqual([
    2,
    '--image same.img and --image link.img are the same\n  Try: name each drive of the set once\n',
  ])
})

test('pack rejects a copy of a drive beside the drive', async () => {
  const drives = empty(['c1.img', 'c2.img'])
  await done('pack', 'model.gguf', ...images(...drives), '--mirror')
  copyFileSync(at('c1.img'), at('c3.img'))
  const { code, stderr } = await pack(['c1.img', 'c3.img'], '--name', 'two')
  expect([code, stderr]).toEqual([2, expect.stringContaining('Two stores are member 0 of this set') as string])
})

test.each([
  ['--image a.img --stripe', '--stripe requires 2 to 16 drives, got 1'],
  ['--image a.img --image b.img --stripe --mirror', '--stripe and --mirror are mutually exclusive'],
  ['--image a.img --image b.img --mirror --stripe-unit 1MiB', '--stripe-unit requires --stripe'],
  ['--image a.img --image b.img --stripe --stripe-unit 3MiB', 'power of two from 4 KiB to 64 MiB'],
  ['--image a.img --image b.img --stripe --stripe-unit 128MiB', 'power of two from 4 KiB to 64 MiB'],
  ['--image a.img --image a.img --stripe', '--image a.img is given more than once'],
  ['--image a.img --socket b.sock --stripe', '--socket and --image are mutually exclusive'],
  ['--image a.img --image b.img --mirror --serial S1', '--serial is given 1 times for 2 drives'],
  ['--image a.img --image b.img', 'a.img does not exist'],
  ['--image a.img --image model.gguf --mirror', 'model.gguf is the model itself'],
])('pack rejects %s, and creates no file', async (args, headline) => {
  const { code, stderr } = await run(['pack', 'model.gguf', ...args.split(' ')])
  expect([code, stderr]).toEqual([2, expect.stringContaining(headline) as string])
  expect([existsSync(at('a.img')), existsSync(at('b.img'))]).toEqual([false, false])
})
