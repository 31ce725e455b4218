import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { UsageError } from '../command-line/tools-error.js'
import { ImageFileError } from '../drive/image-file.js'
import { UnknownProfileError } from '../drive/sim-transport.js'
import { chooseDrive } from './served-drive.js'

const folder = scratch()
const at = (name: string) => join(folder, name)

test('chooseDrive without an image uses memory of the given capacity', async () => {
  const drive = await chooseDrive({ profile: '990pro', capacity: 999_936 })
  expect(drive.profile.name).toBe('990pro')
  expect(drive.namespace).toEqual({ blockBytes: 512, capacityBytes: 999_936 })
  expect((await chooseDrive({})).capacityBytes).toBe(512_110_190_592)
  expect((await chooseDrive({})).profile.name).toBe('sn740')
})

test('chooseDrive rejects a partial block of capacity, and suggests valid ones', async () => {
  await expect(chooseDrive({ capacity: 1000 })).rejects.toThrow('Try: --capacity 512 or --capacity 1024')
  await expect(chooseDrive({ image: at('odd.img'), capacity: 100 })).rejects.toThrow('Try: --capacity 512')
  expect(existsSync(at('odd.img'))).toBe(false)
})

test('chooseDrive with a serial number changes nothing else', async () => {
  const [{ profile }, { profile: preset }] = [await chooseDrive({ serial: 'S2' }), await chooseDrive({})]
  expect(preset.identify.SN).toBe('GPUNVME-SIM-SN740')
  expect(profile).toEqual({ ...preset, identify: { ...preset.identify, SN: 'S2' } })
})

test('chooseDrive creates an image with the given capacity, and opens it again', async () => {
  const image = at('made.img')
  await expect(chooseDrive({ image })).rejects.toThrow('--capacity 16GiB')
  await expect(chooseDrive({ image, capacity: 4096, readOnly: true })).rejects.toThrow(ImageFileError)
  expect(existsSync(image)).toBe(false)
  await chooseDrive({ image, capacity: 1024 * 1024 })
  expect(statSync(image).size).toBe(1024 * 1024)
  expect(await chooseDrive({ image, readOnly: true })).toMatchObject({
    namespace: { blockBytes: 512, file: { path: image, readOnly: true } },
    capacityBytes: 1024 * 1024,
    isReadOnly: true,
  })
})

test('chooseDrive rejects contradictory options and unusable images', async () => {
  writeFileSync(at('small.img'), new Uint8Array(100))
  await expect(chooseDrive({ image: at('small.img') })).rejects.toThrow('100 bytes are too few for a drive')
  await expect(chooseDrive({ image: folder })).rejects.toThrow('it is a directory')
  writeFileSync(at('whole.img'), new Uint8Array(4096))
  await expect(chooseDrive({ image: at('whole.img'), capacity: 8192 })).rejects.toThrow('expected 8192 bytes, got 4096')
  await expect(chooseDrive({ readOnly: true })).rejects.toThrow(UsageError)
  await expect(chooseDrive({ profile: 'sn750' })).rejects.toThrow(UnknownProfileError)
})
