import './fake-kernel.mjs'
import { vi } from 'vitest'
import { run } from '../../src/cli.js'
import type { Ended } from '../gpunvme.js'
import type { Tree } from './tree.js'

/** Runs a command on a tree in this process, which has the tree's kernel: much faster than in one of its own. */
export async function inProcess(tree: Tree, ...args: readonly string[]): Promise<Ended> {
  process.env['FAKE_KERNEL_ROOT'] = tree.root
  const written = (stream: NodeJS.WriteStream) => {
    // Each run listens for pipes that are closed.
    stream.setMaxListeners(0)
    return vi.spyOn(stream, 'write').mockReturnValue(true)
  }
  const [verb = '', ...rest] = args
  const argv = [verb, '--root', tree.root, ...rest]
  const { argv: before } = process
  process.argv = [process.execPath, 'gpunvme', ...argv]
  const [stdout, stderr] = [written(process.stdout), written(process.stderr)]
  try {
    const code = await run(argv)
    const text = (spy: typeof stdout) => spy.mock.calls.map(([chunk]) => String(chunk)).join('')
    return { code, stdout: text(stdout), stderr: text(stderr) }
  } finally {
    process.argv = before
    stdout.mockRestore()
    stderr.mockRestore()
  }
}
