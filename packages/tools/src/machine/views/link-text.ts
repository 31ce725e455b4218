import type { Machine } from '../machine.js'
import type { PciFunction } from '../pci-function.js'
import { bestOf, nowOf } from '../tree.js'
import { isKnown } from '../known.js'
import { shapeText } from './names.js'

/** Returns 'Gen1 x8 of Gen3 x8': the current link, and the best of both ends; undefined for a function without a link. */
export function linkText(machine: Machine, found: PciFunction | undefined): string | undefined {
  if (found === undefined || (isKnown(found.link) && found.link === undefined)) return undefined
  if (!found.isResponding && found.power.state !== 'D3cold') return 'off the bus'
  const best = bestOf(machine, found)
  if (best === undefined) return 'link unknown'
  const now = nowOf(found)
  if (now === undefined) return `${found.power.state === 'D3cold' ? 'asleep' : 'down'}, ${shapeText(best)}`
  return now.gen === best.gen && now.lanes === best.lanes ? shapeText(now) : `${shapeText(now)} of ${shapeText(best)}`
}
