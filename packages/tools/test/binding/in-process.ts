import './fake-kernel.mjs'
import { gpunvme, type Ended } from '../gpunvme.js'
import type { Tree } from './tree.js'

/** Runs a command on a tree and its fake kernel, in this process. */
export function inProcess(tree: Tree, ...[verb = '', ...rest]: readonly string[]): Promise<Ended> {
  return gpunvme([verb, '--root', tree.root, ...rest], { cwd: tree.root, env: { FAKE_KERNEL_ROOT: tree.root } })
}
