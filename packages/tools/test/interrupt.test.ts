import { pack as packModel, type PackProgress } from '@gpunvme/layer-loader/image'
import { openWritableFileStore } from '@gpunvme/layer-loader/store'
import { openModelFile, writeDemoModel } from '@gpunvme/layer-loader/formats'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { gpunvme, json, scratch, type Running } from './gpunvme.js'

const cwd = scratch()

/** Returns a listener that sends signals once stderr contains a word. */
function when(word: string, ...signals: NodeJS.Signals[]) {
  return (text: string, running: Running) => {
    if (!text.includes(word)) return
    for (const signal of signals.splice(0)) running.kill(signal)
  }
}

test('SIGINT ends the demo with exit code 130, and its files are removed', async () => {
  for (const word of ['A model', '2 Packing', '3 Streaming']) {
    const temporary = scratch()
    const ended = await gpunvme(['demo'], { cwd, env: { TMPDIR: temporary }, onStderr: when(word, 'SIGINT') })
    expect(ended.stderr).toContain('Interrupted by SIGINT')
    expect(ended.code).toBe(130)
    expect(readdirSync(temporary)).toEqual([])
  }
})

test('SIGTERM ends the demo with exit code 130, and an error object with --json', async () => {
  const env = { TMPDIR: scratch() }
  const ended = await gpunvme(['demo', '--json'], { cwd, env, onStderr: when('A model', 'SIGTERM') })
  expect(ended.code).toBe(130)
  expect(json(ended)).toMatchObject({ error: { code: 'ERR_GPUNVME_INTERRUPTED', category: 'interrupted' } })
})

test('SIGINT during the creation of the model leaves no file of --keep', async () => {
  const folder = scratch()
  const args = ['demo', '--size', '512MiB', '--keep', join(folder, 'kept.gguf')]
  const ended = await gpunvme(args, { cwd, onStderr: when('A model', 'SIGINT') })
  expect(ended.code).toBe(130)
  expect(ended.stderr).not.toContain('1 Made')
  expect(readdirSync(folder)).toEqual([])
})

test('an interrupted pack removes the image file that it created', async () => {
  await writeDemoModel(join(cwd, 'model.gguf'))
  const args = ['pack', 'model.gguf', '--image', 'drive.img']
  const ended = await gpunvme(args, { cwd, onStderr: when('Packing', 'SIGINT') })
  expect(ended.code).toBe(130)
  expect(existsSync(join(cwd, 'drive.img'))).toBe(false)
})

test('an interrupted pack reports that the old model was removed', async () => {
  await writeDemoModel(join(cwd, 'small.gguf'), { layers: 2, targetBytes: 4 * 1024 * 1024 })
  await writeDemoModel(join(cwd, 'large.gguf'))
  const { endBytes } = json(await gpunvme(['pack', 'large.gguf', '--dry-run', '--json'], { cwd })) as {
    endBytes: number
  }
  // The drive has room for either image, but not for both.
  await gpunvme(['pack', 'small.gguf', '--image', 'tight.img', '--capacity', String(endBytes)], { cwd })
  const args = ['pack', 'large.gguf', '--image', 'tight.img', '--replace']
  const ended = await gpunvme(args, { cwd, onStderr: when('and is removed now', 'SIGINT') })
  expect(ended.code).toBe(130)
  expect(ended.stderr).toContain(
    'The old model was removed before this error. If gpunvme models verify --image tight.img finds no model',
  )
  expect((await gpunvme(['models', 'verify', '--image', 'tight.img'], { cwd })).code).not.toBe(0)
})

test('a killed pack is resumed by the same model only', async () => {
  const path = join(cwd, 'killed.gguf')
  await writeDemoModel(path, { layers: 2, targetBytes: 8 * 1024 * 1024 })
  await writeDemoModel(join(cwd, 'another.gguf'), { layers: 3, targetBytes: 8 * 1024 * 1024 })
  {
    // Like the command, but with checkpoints, which the command omits for a small model.
    await using model = await openModelFile(path)
    await using store = await openWritableFileStore(join(cwd, 'killed.img'), { sizeBytes: 16 * 1024 * 1024 })
    const controller = new AbortController()
    const onProgress = ({ doneBytes }: PackProgress) => {
      if (doneBytes > 4 * 1024 * 1024) controller.abort('killed')
    }
    const { signal } = controller
    await expect(packModel(model, store, { checkpointBytes: 1, signal, onProgress })).rejects.toBe('killed')
  }
  const other = await gpunvme(['pack', 'another.gguf', '--image', 'killed.img'], { cwd })
  expect(other).toMatchObject({ code: 4, stderr: expect.stringContaining("--overwrite 'unknown data'") as string })
  const ended = await gpunvme(['pack', 'killed.gguf', '--image', 'killed.img', '--json'], { cwd })
  expect(ended.code).toBe(0)
  expect((json(ended) as { resumedBytes: number }).resumedBytes).toBeGreaterThan(1024 * 1024)
  expect((await gpunvme(['models', 'verify', '--image', 'killed.img'], { cwd })).code).toBe(0)
})
