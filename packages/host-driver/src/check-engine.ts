import type { Transport } from '@gpunvme/nvme-spec/transport'
import type { OpenOptions } from './open-options.js'

/**
 * Checks that an engine was made on the given transport. Otherwise it would ring doorbells of another device, or bypass
 * a wrapper, which could then neither trace doorbells nor inject faults.
 * @throws TypeError before anything is accessed.
 */
export function checkEngine(transport: Transport, { engine, engineBelow = false }: OpenOptions): void {
  if (engine?.transport === undefined) return
  const { bar } = engine.transport
  if (transport.bar === bar) return
  const below = isBelow(transport, bar)
  if (below && engineBelow) return
  const { name } = transport
  const expected = `engine: expected one made on transport ${name}`
  if (!below) {
    throw new TypeError(`${expected}, got '${engine.name}' on another device; a wrapper must set \`wraps\``)
  }
  throw new TypeError(
    `${expected}, got '${engine.name}' on the transport below it, which bypasses the wrapper: open the wrapped ` +
      'transport, omit `engine` to use the host engine, or pass { engineBelow: true }',
  )
}

function isBelow({ wraps }: Transport, bar: Transport['bar']): boolean {
  return wraps !== undefined && (wraps.bar === bar || isBelow(wraps, bar))
}
