import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { failureOf } from '../../test/gpunvme.js'

const folder = scratch()

test.each(['-o', '--csv', '--report'])(
  '%s rejects the path of an input file, and does not change it',
  async (option) => {
    const path = join(folder, 'x')
    for (const source of [
      ['--image', path],
      ['--file', path],
      ['--merge', join(folder, 'none'), path],
    ]) {
      writeFileSync(path, Buffer.alloc(65_536, 7))
      const error = await failureOf('bench', option, path, ...source)
      expect(error).toMatchObject({ category: 'usage' })
      expect(error.message).toContain('is measured or read')
      expect(readFileSync(path)).toEqual(Buffer.alloc(65_536, 7))
    }
  },
  60_000,
)
