import { nodeModule } from '@gpunvme/nvme-spec/runtime'

/**
 * Node's modules for the files of a machine. The main entry reaches them when it opens a drive of this machine; with a
 * simulated drive it runs in a browser, which has none of them. So they are looked up when they are used, not imported.
 */
export const nodeJs = {
  get fs() {
    return nodeModule('node:fs') as typeof import('node:fs')
  },
  get promises() {
    return nodeModule('node:fs/promises') as typeof import('node:fs/promises')
  },
  get path() {
    return nodeModule('node:path') as typeof import('node:path')
  },
  get process() {
    return nodeModule('node:process') as typeof import('node:process')
  },
  get Buffer() {
    return (nodeModule('node:buffer') as typeof import('node:buffer')).Buffer
  },
}
