import { writeDemoModel } from '@gpunvme/layer-loader/formats'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  closeSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { gpunvme, json, scratch } from './gpunvme.js'

const cwd = scratch()
const at = (name: string) => join(cwd, name)
const rootReason = process.getuid?.() === 0 ? ' [skipped as root, which can read every file]' : ''
let layer1: { offsetBytes: number; tensors: { name: string }[] }

beforeAll(async () => {
  await writeDemoModel(at('model.gguf'), { layers: 2, targetBytes: 4 * 1024 * 1024 })
  await gpunvme(['pack', 'model.gguf', '--image', 'drive.img'], { cwd })
  const plan = json(await gpunvme(['pack', 'model.gguf', '--dry-run', '--json'], { cwd }))
  layer1 = (plan as { layers: (typeof layer1)[] }).layers[2]!
})

/** Copies the drive and flips one bit at each of these offsets. Returns the name of the copy. */
function flipped(name: string, ...offsets: number[]): string {
  copyFileSync(at('drive.img'), at(name))
  for (const offset of offsets) flipByte(at(name), offset)
  return name
}

/** Flips one bit of a file. */
function flipByte(path: string, offset: number): void {
  const file = openSync(path, 'r+')
  const byte = new Uint8Array(1)
  readSync(file, byte, 0, 1, offset)
  byte[0]! ^= 0x10
  writeSync(file, byte, 0, 1, offset)
  closeSync(file)
}

async function expectError(args: string[], code: number, ...texts: (string | RegExp)[]): Promise<void> {
  const ended = await gpunvme(args, { cwd })
  for (const text of texts) expect(ended.stderr).toMatch(text)
  expect(ended.stderr).not.toMatch(/^ {4}at /m) // no stack
  expect({ args, code: ended.code }).toEqual({ args, code })
}

describe('exit code 2, invalid arguments:', () => {
  test('an unknown flag, with the nearest one and the help', async () => {
    await expectError(['load', '--jsn'], 2, "Unknown option '--jsn'", 'Did you mean --json?', 'Try: gpunvme help load')
  })

  test('an unknown command, with the nearest one', async () => {
    await Promise.all([
      expectError(['verfy'], 2, "Unknown command 'verfy'", 'Did you mean models verify?', 'Try: gpunvme help'),
      expectError(['help', 'lod'], 2, "Unknown command 'lod'", 'Did you mean load or nvme log?'),
    ])
  })

  test('too many or too few arguments', async () => {
    await Promise.all([
      expectError(['load', 'a', 'b'], 2, 'Too many arguments: load takes 1, got 2'),
      expectError(['inspect'], 2, 'inspect requires the argument MODEL'),
      expectError(['load'], 2, 'load requires a MODEL'),
      expectError(['models', 'verify', '--sim'], 2, 'gpunvme models verify --image FILE'),
      expectError(['pack', 'model.gguf', '--sim'], 2, 'gpunvme pack model.gguf --image FILE'),
    ])
  })

  test('no command, with the help on stderr', async () => {
    const { code, stdout, stderr } = await gpunvme([], { cwd })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('Exit codes:')
  })

  test('invalid numbers and sizes', async () => {
    await Promise.all([
      expectError(['load', 'model.gguf', '--depth', '0'], 2, 'integer from 1 to 4095'),
      expectError(['load', 'model.gguf', '--passes', '2.5'], 2, 'an integer from'),
      expectError(['nvme', 'read', '--lba', '-1'], 2, 'expected an integer from 0 on'),
      expectError(['bench', '--sim', '--offset', '1000', '--size', '1'], 2, 'use --offset 512 --size 512'),
      expectError(['load', 'model.gguf', '--capacity', '16G'], 2, "such as '512MiB'"),
      ...['0', '1', '511'].map((capacity) =>
        expectError(['load', 'model.gguf', '--capacity', capacity], 2, 'at least 512 bytes, one block'),
      ),
      expectError(['demo', '--size', '1KiB'], 2, 'Invalid --size: 1 KiB is too small'),
      expectError(['pack', 'model.gguf', '--name', 'a\u001b[31m'], 2, 'without control characters'),
    ])
  })

  test('one of a few words, without a suggestion of all of them', async () => {
    const { stderr } = await gpunvme(['completion', 'tcsh'], { cwd })
    expect(stderr).toMatch(/^Invalid SHELL: 'tcsh'\n {2}expected bash, zsh, fish\n {2}Try: /)
    await expectError(['completion', 'bsh'], 2, 'Did you mean bash')
  })

  test('an unknown transport, engine or profile, with the known names', async () => {
    await Promise.all([
      expectError(['nvme', 'identify', '--transport', 'smi'], 2, "Unknown transport 'smi'", 'available: sim'),
      expectError(['load', 'model.gguf', '--sim', '--engine', 'hots'], 2, "Unknown engine 'hots'", 'available: host'),
      expectError(
        ['nvme', 'identify', '--profile', 'sn750'],
        2,
        "Unknown profile 'sn750'",
        'ideal, sn740',
        'gpunvme sim',
      ),
    ])
  })

  test('a directory or a device instead of a file', async () => {
    await Promise.all([
      expectError(['inspect', '.'], 2, 'a directory'),
      expectError(['load', '--image', '.'], 2, 'a directory'),
      expectError(['pack', 'model.gguf', '--image', '/dev/null'], 2, 'not a regular file'),
    ])
  })

  test('a capacity that differs from that of the image', async () => {
    await expectError(['load', '--image', 'drive.img', '--capacity', '1GiB'], 2, 'omit the capacity')
  })

  test('an image with an empty or too long name', async () => {
    await Promise.all([
      expectError(['pack', 'model.gguf', '--image', ''], 2, '--image requires the name of a file'),
      expectError(['load', '--image', 'x'.repeat(300)], 2, 'as a drive: the name is too long', 'Try: '),
    ])
  })

  test('ls and rm without a drive, or rm without a name', async () => {
    await expectError(['models', 'ls'], 2, 'No drive is named')
    await expectError(['models', 'rm', 'chat'], 2, 'No drive is named')
    await expectError(['models', 'rm', '--image', 'drive.img'], 2, 'model')
    await expectError(['models', 'ls', 'extra', '--image', 'drive.img'], 2)
  })

  test('a model packed onto itself', async () => {
    await expectError(['pack', 'model.gguf', '--image', './model.gguf'], 2, 'the model itself')
  })

  test('--keep with an existing file or an invalid name', async () => {
    await expectError(['demo', '--keep', 'model.gguf'], 2, 'already exists')
    await expectError(['demo', '--keep', ''], 2, '--keep requires the name of a file')
    await expectError(['demo', '--keep', 'x'.repeat(300)], 2, 'the name is too long (ENAMETOOLONG)', 'Try: ')
  })
})

describe('exit code 3, not found:', () => {
  test('a missing directory for --keep or for temporary files', async () => {
    await expectError(['demo', '--keep', 'missing/kept.gguf'], 3, 'disk of missing', 'ENOENT', 'Try: ')
    const ended = await gpunvme(['demo'], { cwd, env: { TMPDIR: at('missing') } })
    expect([ended.code, ended.stderr]).toEqual([3, expect.stringContaining(at('missing')) as string])
  })

  test('a missing model, image, directory or name', async () => {
    await Promise.all([
      expectError(['inspect', 'missing.gguf'], 3, 'no such file'),
      expectError(['load', 'missing.gguf', '--sim'], 3, 'no such file'),
      expectError(['models', 'verify', '--image', 'missing.img'], 3, 'gpunvme pack MODEL --image missing.img'),
      expectError(['pack', 'model.gguf', '--image', 'missing/drive.img'], 3, 'no such directory'),
      expectError(['load', 'missing', '--image', 'drive.img'], 3, 'has no model "missing"', 'gpunvme demo'),
      expectError(['models', 'rm', 'missing', '--image', 'drive.img'], 3, 'has no model "missing"', 'gpunvme demo'),
      expectError(['models', 'ls', '--image', 'missing.img'], 3, 'no such file'),
      expectError(['models', 'rm', 'any', '--image', 'missing.img'], 3, 'no such file'),
      expectError(['nvme', 'write', 'model.gguf', '--lba', '0', '--image', 'missing.img'], 3, 'add --capacity SIZE'),
    ])
  })

  test('a missing model before missing GPU memory, for plan', async () => {
    await expectError(['plan', 'missing.gguf'], 3, 'no such file')
    await expectError(['plan', '--image', 'missing.img', '--measure'], 3, 'no such file')
    await expectError(['plan', 'model.gguf'], 2, '--vram')
  })

  test('a file without an image', async () => {
    writeFileSync(at('empty.img'), new Uint8Array(4 * 1024 * 1024))
    await Promise.all([
      expectError(['models', 'verify', '--image', 'empty.img'], 3, 'No model image', 'gpunvme pack MODEL'),
      expectError(['load', '--image', 'empty.img'], 3, 'No model image'),
      expectError(['models', 'ls', '--image', 'empty.img'], 3, 'No model image'),
      expectError(['models', 'rm', 'any', '--image', 'empty.img'], 3, 'No model image'),
    ])
  })
})

describe('exit code 7, an invalid model file:', () => {
  test('a truncated GGUF, with the position', async () => {
    copyFileSync(at('model.gguf'), at('short.gguf'))
    truncateSync(at('short.gguf'), 3000)
    await Promise.all([
      expectError(['inspect', 'short.gguf'], 7, 'short.gguf', /at byte \d+/),
      expectError(['pack', 'short.gguf', '--image', 'short.img'], 7, 'short.gguf'),
    ])
    expect(existsSync(at('short.img'))).toBe(false)
  })

  test('another kind of file, and a drive image', async () => {
    writeFileSync(at('page.gguf'), '<!DOCTYPE html><html></html>')
    await Promise.all([
      expectError(['inspect', 'page.gguf'], 7, 'Unknown format of'),
      expectError(['inspect', 'drive.img'], 7, 'gpunvme load --image drive.img'),
    ])
  })
})

describe('exit code 4, refused or not permitted:', () => {
  test('an existing image', async () => {
    const before = readFileSync(at('drive.img'))
    await expectError(['pack', 'model.gguf', '--image', 'drive.img'], 4, 'namespace 1 already has a model', '--replace')
    expect(readFileSync(at('drive.img')).equals(before)).toBe(true)
  })

  test('a kind of data for --overwrite that no refusal names', async () => {
    const words = ['pack', 'model.gguf', '--image', 'drive.img', '--overwrite']
    await expectError([...words, 'foo'], 2, "Invalid --overwrite: 'foo'", 'such as GPT or unknown data')
    await expectError([...words, 'nfts'], 2, 'Did you mean NTFS?')
  })

  test('a file system without --overwrite for its kind', async () => {
    const disk = new Uint8Array(16 * 1024 * 1024)
    disk.set([0x53, 0xef], 0x438) // ext2/3/4
    writeFileSync(at('disk.img'), disk)
    await expectError(['pack', 'model.gguf', '--image', 'disk.img'], 4, "--overwrite 'ext2/3/4'")
    expect(readFileSync(at('disk.img')).equals(disk)).toBe(true)
    expect(
      (await gpunvme(['pack', 'model.gguf', '--image', 'disk.img', '--overwrite', 'ext2/3/4'], { cwd })).code,
    ).toBe(0)
  })

  test.each([
    ['in the range of the image', 3 * 1024 * 1024],
    ['at its end, which pack clears', 16 * 1024 * 1024 - 1000],
  ])('a file of unknown format with a nonzero byte %s', async (_, position) => {
    const disk = new Uint8Array(16 * 1024 * 1024)
    disk.set([1], position)
    writeFileSync(at('sparse.img'), disk)
    await expectError(['pack', 'model.gguf', '--image', 'sparse.img'], 4, `byte ${position} is nonzero`)
    expect(readFileSync(at('sparse.img')).equals(disk)).toBe(true)
  })

  test('a file of unknown format without --overwrite', async () => {
    const thesis = Buffer.alloc(8 * 1024 * 1024, 'all my work ')
    writeFileSync(at('thesis.txt'), thesis)
    await expectError(['pack', 'model.gguf', '--image', 'thesis.txt'], 4, "--overwrite 'unknown data'")
    expect(readFileSync(at('thesis.txt')).equals(thesis)).toBe(true)
    const args = ['pack', 'model.gguf', '--image', 'thesis.txt', '--overwrite', 'unknown data']
    expect((await gpunvme(args, { cwd })).code).toBe(0)
  })

  test('the serial number of another drive', async () => {
    const args = ['pack', 'model.gguf', '--image', 'serial.img', '--serial', 'S123']
    await expectError(args, 4, "its serial number is not 'S123'", 'gpunvme nvme identify')
    expect((await gpunvme([...args, '--json'], { cwd })).stdout).not.toContain('GPUNVME-SIM-SN740')
    expect(existsSync(at('serial.img'))).toBe(false)
  })

  test.skipIf(rootReason !== '')(`an unreadable file${rootReason}`, async () => {
    for (const name of ['secret.gguf', 'secret.img']) {
      copyFileSync(at(name.endsWith('.img') ? 'drive.img' : 'model.gguf'), at(name))
      chmodSync(at(name), 0)
    }
    await Promise.all([
      expectError(['inspect', 'secret.gguf'], 4, 'permission denied'),
      expectError(['load', '--image', 'secret.img'], 4, 'permission to read denied'),
    ])
  })
})

describe('exit code 6, failed verification:', () => {
  test('a flipped bit in a tensor, which is named and whose layer is not loaded', async () => {
    const name = layer1.tensors[0]!.name
    flipped('flip.img', layer1.offsetBytes + 10)
    await expectError(['load', '--image', 'flip.img'], 6, 'Verification failed: "layer 1"', `"${name}"`)
    const { stdout } = await gpunvme(['load', '--image', 'flip.img'], { cwd })
    expect(stdout).not.toMatch(/^layer 1/m)
    const verified = await gpunvme(['models', 'verify', '--image', 'flip.img', '--json'], { cwd })
    expect(verified.code).toBe(6)
    expect(json(verified)).toMatchObject({
      schema: 'gpunvme.verify/1',
      ok: false,
      problemCount: 1,
      problems: [{ code: 'ERR_GPUNVME_VERIFICATION', extent: 'layer 1', chunk: 0 }],
    })
  })

  test('one damaged superblock copy, by verify only; load warns', async () => {
    flipped('one.img', 100)
    const repair = 'gpunvme pack MODEL --image one.img --replace, which writes the model again'
    const loaded = await gpunvme(['load', '--image', 'one.img', '-q'], { cwd })
    expect(loaded.code).toBe(0)
    expect(loaded.stderr).toMatch(/^Superblock copy A is damaged/)
    expect(loaded.stderr).toContain(repair)
    expect(json(await gpunvme(['load', '--image', 'one.img', '--json'], { cwd }))).toMatchObject({
      problems: [{ code: 'ERR_GPUNVME_IMAGE_SUPERBLOCK', next: repair }],
    })
    const { code, stdout } = await gpunvme(['models', 'verify', '--image', 'one.img'], { cwd })
    expect(code).toBe(6)
    expect(stdout).toContain('one.img: 1 problem')
    expect(stdout).toContain(repair)
  })

  test('two damaged superblock copies, or a truncated image', async () => {
    flipped('both.img', 100, 1024 * 1024 + 100)
    const repair = 'pack MODEL --image both.img --replace-image, which discards all models on it'
    await expectError(['load', '--image', 'both.img'], 6, 'Superblock copy A is damaged', repair)
    const verified = await gpunvme(['models', 'verify', '--image', 'both.img'], { cwd })
    expect(verified.stdout.split(repair)).toHaveLength(3)
    const packed = await gpunvme(['pack', 'model.gguf', '--image', 'both.img', '--replace-image'], { cwd })
    expect(packed.stderr).toContain('The old image is unusable and is removed now.')
    expect(packed.stdout).toContain('; the unusable image was removed first\n')
    copyFileSync(at('drive.img'), at('cut.img'))
    truncateSync(at('cut.img'), 3 * 1024 * 1024)
    await expectError(['load', '--image', 'cut.img'], 6, 'USED_END')
    expect((await gpunvme(['models', 'verify', '--image', 'cut.img'], { cwd })).code).toBe(6)
  })

  test('a model file that differs from the packed one', async () => {
    await writeDemoModel(at('other.gguf'), { layers: 3, targetBytes: 4 * 1024 * 1024 })
    await expectError(
      ['load', 'other.gguf', '--image', 'drive.img'],
      6,
      'does not have the model',
      'blk.0.ffn_up.weight: Q4_0',
      /and \d+ more/,
    )
  })
})

describe('load --compare', () => {
  test('rejects a model file with one changed byte with exit code 6 before it loads', async () => {
    copyFileSync(at('model.gguf'), at('tuned.gguf'))
    flipByte(at('tuned.gguf'), statSync(at('tuned.gguf')).size - 1)
    const args = ['load', 'tuned.gguf', '--image', 'drive.img']
    expect((await gpunvme(args, { cwd })).code).toBe(0)
    await expectError([...args, '--compare'], 6, 'tuned.gguf differs from', 'SHA-256 of 1 tensor', 'output.weight')
    expect((await gpunvme([...args, '--compare'], { cwd })).stdout).toMatch(/^SIMULATED.*\n$/)
  })

  test('ends with exit code 2 without a model file', async () => {
    await Promise.all([
      expectError(['load', 'model.gguf', '--compare'], 2, '--compare requires a MODEL file'),
      expectError(['load', '--image', 'drive.img', '--compare'], 2, '--compare requires a MODEL file'),
      expectError(['load', 'gpunvme demo', '--image', 'drive.img', '--compare'], 2, 'no file to compare with'),
    ])
  })
})

describe('exit code 7, infeasible:', () => {
  test('a demo that does not fit into memory or on the disk, before any write', async () => {
    await expectError(
      ['demo', '--size', '1024TiB', '--keep', 'huge.gguf'],
      7,
      'The demo would take 2 PiB of memory',
      'this machine has',
      'Try: use --size 64MiB',
    )
    expect(readdirSync(cwd).filter((name) => /huge|gpunvme-/.test(name))).toEqual([])
  })

  test('a drive that is too small, which is removed', async () => {
    const args = ['pack', 'model.gguf', '--image', 'small.img', '--capacity', '3MiB']
    await expectError(args, 7, 'does not fit', /needed: \d+ bytes/, '--capacity')
    expect(existsSync(at('small.img'))).toBe(false)
    await expectError(['load', 'model.gguf', '--sim', '--capacity', '3MiB'], 7, 'does not fit')
  })

  test('an existing file that is too small, which keeps its size', async () => {
    writeFileSync(at('tiny.img'), new Uint8Array(3 * 1024 * 1024))
    await expectError(['pack', 'model.gguf', '--image', 'tiny.img'], 7, 'does not fit')
    expect(existsSync(at('tiny.img'))).toBe(true)
    writeFileSync(at('none.img'), '')
    await expectError(['pack', 'model.gguf', '--image', 'none.img'], 7, '0 bytes are too few for a drive')
  })

  test('engines that cannot drive the simulator, with the alternative', async () => {
    await Promise.all([
      ...['cpu-kernel', 'cuda'].flatMap((name) =>
        [
          ['load', 'model.gguf', '--sim'],
          ['demo', '--size', '64MiB'],
        ].map((args) =>
          expectError([...args, '--engine', name], 7, `The engine '${name}' cannot drive`, 'Try: use --engine host'),
        ),
      ),
    ])
    // The error precedes the creation of the model.
    const demo = await gpunvme(['demo', '--engine', 'cpu-kernel'], { cwd })
    expect(demo.stdout + demo.stderr).not.toMatch(/model/)
    await expectError(['pack', 'model.gguf', '--image', 'cuda.img', '--engine', 'cuda'], 7, 'cannot drive')
    expect(existsSync(at('cuda.img'))).toBe(false)
  })
})

test('with --json, an error is one object on stdout and text on stderr', async () => {
  for (const [args, category] of [
    [['inspect', 'missing.gguf', '--json'], 'not-found'],
    [['load', '--json', '--nonsense'], 'usage'],
    [['load', '--image', 'drive.img', 'other', '--json'], 'not-found'],
  ] as const) {
    const ended = await gpunvme(args, { cwd })
    const { schema, error } = json(ended) as { schema: string; error: { message: string; next: string } }
    expect(schema).toBe('gpunvme.error/1')
    expect(error).toMatchObject({ category, code: expect.stringMatching(/^ERR_GPUNVME_/) as string })
    expect(ended.stderr).toBe(`${error.message}\n  Try: ${error.next}\n`)
  }
})
