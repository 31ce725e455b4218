import { GpuNvmeError } from '../error.js'

const { process: node } = globalThis as { readonly process?: { getBuiltinModule?(name: string): unknown } }

/** Returns a module of Node; undefined in a browser. The caller states its type: this package has no Node typings. */
export function optionalNodeModule(name: `node:${string}`): unknown {
  return node?.getBuiltinModule?.(name)
}

/**
 * Returns a module of Node, for code that requires it. Call it where the module is used, not at the top of a file,
 * which would then fail to load in a browser.
 * @throws NodeRequiredError in a browser.
 */
export function nodeModule(name: `node:${string}`): unknown {
  const found = optionalNodeModule(name)
  if (found === undefined) throw new NodeRequiredError(name)
  return found
}

/** Thrown if a call needs a module of Node and this runtime is not Node. */
export class NodeRequiredError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_NODE_REQUIRED'
  readonly category = 'usage'
  readonly module: string

  constructor(module: string) {
    super(`This call requires ${module}, which this runtime does not provide`, {
      next: 'run it in Node 20.19 or later; in a browser, use a simulated drive and checksums of your own (`checksummer`)',
    })
    this.module = module
  }
}
