import { execFileSync } from 'node:child_process'
import { copyFile, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { openFileSource, openModel, openModelFile, rangeSource } from './index.js'

const vector = fileURLToPath(new URL('../../test/formats/vectors/aligned.gguf', import.meta.url))
const VECTOR_BYTES = 3328

/** Returns the reason why no loop device can be created, which requires root; undefined if it is possible. */
function skipReasonOf(): string | undefined {
  if (process.getuid?.() !== 0) return '[loop] only root may make loop devices'
  try {
    execFileSync('losetup', ['--find'], { stdio: 'pipe' })
    return undefined
  } catch (error) {
    return `[loop] no loop device can be made here: ${String(error).split('\n')[0] ?? ''}`
  }
}
const skipReason = skipReasonOf()

/** Runs `use` on a read-only loop device of this size that has the vector at this offset. */
async function onDevice(sizeBytes: number, startBytes: number, use: (path: string) => Promise<void>): Promise<void> {
  const folder = scratch()
  const file = join(folder, 'disk')
  await copyFile(vector, file)
  if (startBytes > 0) {
    await truncate(file, 0)
    execFileSync('dd', [`if=${vector}`, `of=${file}`, 'bs=1', `seek=${startBytes}`, 'conv=notrunc'], {
      stdio: 'pipe',
    })
  }
  await truncate(file, sizeBytes)
  const device = execFileSync('losetup', ['--find', '--show', '--read-only', file], { encoding: 'utf8' }).trim()
  try {
    await use(device)
  } finally {
    execFileSync('losetup', ['--detach', device])
  }
}

describe.skipIf(skipReason !== undefined)(
  `a block device${skipReason === undefined ? '' : ` (skipped: ${skipReason})`}`,
  () => {
    test.each([512 * 7, 512 * 2049, 64 * 1024 * 1024])(
      'a block device of %i bytes has this size as a source',
      async (sizeBytes) => {
        await onDevice(sizeBytes, 0, async (path) => {
          await using source = await openFileSource(path)
          expect(source.sizeBytes).toBe(sizeBytes)
          await source.read(sizeBytes - 1, new Uint8Array(1))
        })
      },
      60_000,
    )

    test('a block device with a GGUF at its start opens with the same tensors as the file', async () => {
      await onDevice(1024 * 1024, 0, async (path) => {
        await using onDisk = await openModelFile(path)
        await using inFile = await openModelFile(vector)
        expect(onDisk.tensors).toEqual(inFile.tensors)
      })
    }, 60_000)

    test('a block device with a GGUF at any offset opens through rangeSource', async () => {
      await onDevice(1024 * 1024, 7 * 512 + 1, async (path) => {
        await using source = await openFileSource(path)
        await using inFile = await openModelFile(vector)
        const model = await openModel(rangeSource(source, 7 * 512 + 1, VECTOR_BYTES))
        expect(model.tensors).toEqual(inFile.tensors)
      })
    }, 60_000)
  },
)
