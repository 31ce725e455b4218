import type { VfioUserHost } from '@gpunvme/nvme-spec/transport'

const FUNCTIONS = [
  'view',
  'yield',
  'listen',
  'accept',
  'connect',
  'receive',
  'send',
  'poll',
  'mapForeign',
  'lostForeignBytes',
  'eventfd',
  'signalEventfd',
  'drainEventfd',
] as const satisfies readonly (keyof VfioUserHost)[]

/**
 * Imports a module whose default export is a `VfioUserHost`.
 * @throws TypeError, naming what is missing, if it is not one.
 */
export async function importVfioUserHost(module: string): Promise<VfioUserHost> {
  const { default: host } = (await import(module)) as { readonly default?: Partial<VfioUserHost> }
  const missing = FUNCTIONS.filter((name) => typeof host?.[name] !== 'function')
  if (missing.length > 0) {
    throw new TypeError(`${module}: expected a VfioUserHost as its default export, missing ${missing.join(', ')}`)
  }
  return host as VfioUserHost
}
