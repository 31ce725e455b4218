import type { NativeHost } from '@gpunvme/nvme-spec/transport'

/** Imports a module that shares native memory. @throws TypeError if it has no `view` and `yield`. */
export async function importNativeHost(module: string): Promise<NativeHost> {
  const imported = (await import(module)) as Partial<NativeHost> & { default?: Partial<NativeHost> }
  const host = typeof imported.view === 'function' ? imported : imported.default
  if (typeof host?.view !== 'function' || typeof host.yield !== 'function') {
    throw new TypeError(`${module}: expected the functions view and yield, as named exports or in the default export`)
  }
  return host as NativeHost
}
