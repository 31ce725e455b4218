import { writeDemoModel } from '@gpunvme/layer-loader/formats'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import { gpunvme, scratch, type Running } from './gpunvme.js'

const cwd = scratch()
const onStderr = (text: string, running: Running) => {
  if (text.endsWith('brought up by the driver of gpunvme.\n')) running.kill('SIGTERM')
}

beforeAll(() => writeDemoModel(join(cwd, 'model.gguf'), { layers: 2, targetBytes: 4 * 1024 * 1024 }))

/** Counts the timers, sockets, files and requests that keep the process alive, by their kind. */
async function handles(): Promise<ReadonlyMap<string, number>> {
  await setImmediate()
  const kinds = process.getActiveResourcesInfo()
  return new Map(kinds.map((kind) => [kind, kinds.filter((each) => each === kind).length]))
}

// gpunvme() checks listeners and the environment after every run.
test.each([
  ['a result', 'load model.gguf --sim', 0],
  ['a new image', 'pack model.gguf --image made.img --replace', 0],
  ['an error', 'inspect missing.gguf', 3],
  ['a usage error', 'inspect', 2],
  ['help', 'help nvme regs', 0],
  ['a trace', 'nvme trace -o trace.txt nvme identify --sim', 0],
  ['a signal', 'nvme regs --sim --watch --interval 10', 0],
])('%s leaves no open handle in the process', async (_, words, code) => {
  const run = () => gpunvme(words.split(' '), { cwd, onStderr })
  // Modules that the first run loads stay loaded.
  await run()
  const before = await handles()
  expect((await run()).code).toBe(code)
  const more = [...(await handles())].filter(([kind, count]) => count > (before.get(kind) ?? 0))
  expect(more).toEqual([])
})
