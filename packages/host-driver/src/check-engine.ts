import type { Transport } from '@gpunvme/nvme-spec/transport'
import type { OpenOptions } from './open-options.js'

/**
 * An engine rings the doorbells of the transport that it was made on: of another device, they are somebody else's, and
 * past a wrapper nothing of them is traced, and no fault strikes them.
 * @throws TypeError; nothing was touched then.
 */
export function checkEngine(transport: Transport, { engine, engineBelow = false }: OpenOptions): void {
  if (engine?.transport === undefined) return
  const { bar } = engine.transport
  if (transport.bar === bar) return
  const below = isBelow(transport, bar)
  if (below && engineBelow) return
  const { name } = transport
  const expected = `engine: expected one that was made on the transport ${name}`
  if (!below) {
    throw new TypeError(`${expected}, got '${engine.name}' of other registers; a wrapper says its own by \`wraps\``)
  }
  throw new TypeError(
    `${expected}, got '${engine.name}' of what that wraps, whose doorbells pass by the wrapper: open the transport that ` +
      'is wrapped, leave `engine` out, for then the host engine rings them here, or allow it with { engineBelow: true }',
  )
}

function isBelow({ wraps }: Transport, bar: Transport['bar']): boolean {
  return wraps !== undefined && (wraps.bar === bar || isBelow(wraps, bar))
}
