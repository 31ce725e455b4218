import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { describedModule } from '../../test/nvidia/described-driver.js'
import { elfModule } from '../../test/nvidia/elf-module.js'
import { isKnown } from '../machine/known.js'
import { readElf } from './elf.js'
import { LOOKUP_SYMBOLS, readModule, signerOf } from './module-file.js'

const UNSIGNED = { version: '580.142', flavour: 'open', pfn: 'follow_pfnmap_start' } as const
const MODULE = describedModule({ ...UNSIGNED, signer: 'a key' }, '6.12.43')

test('readModule agrees with modinfo and nm', async ({ skip }) => {
  const folder = scratch()
  const path = join(folder, 'nvidia.ko')
  writeFileSync(path, MODULE)
  const modinfo = spawnSync('modinfo', [path], { encoding: 'utf8' })
  const nm = spawnSync('nm', ['-u', path], { encoding: 'utf8' })
  if (modinfo.error || nm.error) return skip('[unpackers] modinfo or nm is not installed')
  const field = (name: string) => new RegExp(`^${name}:\\s+(.*?)\\s*$`, 'm').exec(modinfo.stdout)?.[1]
  expect(await readModule(MODULE)).toMatchObject({
    version: field('version'),
    license: field('license'),
    srcversion: field('srcversion'),
    signer: field('signer'),
    vermagicRelease: field('vermagic')?.split(' ')[0],
  })
  expect(field('version')).toBe('580.142')
  expect(nm.stdout.match(/follow_\w+/g)).toEqual(['follow_pfnmap_start'])
})

test('readElf does not match symbols by parts of their names', () => {
  const elf = readElf(
    elfModule({ modinfo: ['license=GPL'], undefinedSymbols: ['my_follow_pte', 'follow_pte_of'] }),
    LOOKUP_SYMBOLS,
  )
  expect(isKnown(elf) && [...elf.calls]).toEqual([])
})

test('readElf returns unknown for a file cut at any byte', () => {
  const file = elfModule({ modinfo: ['version=1'], undefinedSymbols: ['follow_pte'] })
  for (let length = 0; length < file.length; length++) {
    const elf = readElf(file.subarray(0, length), LOOKUP_SYMBOLS)
    expect(isKnown(elf)).toBe(false)
  }
  expect(isKnown(readElf(file, LOOKUP_SYMBOLS))).toBe(true)
})

test('readElf does not throw for any changed byte', () => {
  const file = elfModule({ modinfo: ['version=1'], undefinedSymbols: ['follow_pte'] })
  for (let at = 0; at < file.length; at++) {
    for (const [value, count] of [[0xff, 1] as const, [0x80, 1] as const, [0xff, 8] as const]) {
      const hostile = Buffer.from(file)
      hostile.fill(value, at, Math.min(at + count, file.length))
      const elf = readElf(hostile, LOOKUP_SYMBOLS)
      expect(typeof elf).toBe('object')
    }
  }
})

test('signerOf returns the signer, undefined or a reason for an invalid signature', () => {
  expect(signerOf(MODULE)).toBe('a key')
  expect(signerOf(describedModule(UNSIGNED, '6.12.43'))).toBeUndefined()
  const hostile = Buffer.from(MODULE)
  hostile.writeUInt32BE(0xffffffff, hostile.length - 32)
  expect(signerOf(hostile)).toEqual({ unknown: 'its signature claims 4294967295 bytes' })
})
