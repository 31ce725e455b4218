import { lanesOf } from '../lanes.js'
import type { Machine } from '../machine.js'
import type { LinkShape, PciFunction } from '../pci-function.js'
import { isGpu } from '../path.js'
import { bestOf, functionAt, maxOf, nowOf } from '../tree.js'
import { shapeText, shortAddress } from './names.js'

/**
 * Returns remarks on links of GPUs and drives below their maximum, with advice.
 * @param about address of the only GPU or drive to look at.
 */
export function linkNotes(machine: Machine, about?: string): string[] {
  const all = [...machine.gpus, ...machine.drives].map(({ address }) => address)
  const addresses = all.filter((address) => about === undefined || address === about)
  const notes = addresses.flatMap((address) => {
    const found = functionAt(machine, address)
    return found === undefined ? [] : [...ownNotes(machine, found), ...sharedLanes(machine, found)]
  })
  return [...new Set(notes)]
}

function ownNotes(machine: Machine, found: PciFunction): string[] {
  const best = bestOf(machine, found)
  const max = maxOf(found)
  if (best === undefined || max === undefined) return []
  const at = shortAddress(found.address)
  const notes: string[] = []
  const isVirtual = machine.virtualisation.hypervisor !== undefined
  if (!isVirtual && isLess(best, max)) notes.push(`${at} supports ${shapeText(max)}; its slot has ${shapeText(best)}.`)
  const now = nowOf(found)
  if (now === undefined) return notes
  if (now.lanes < best.lanes)
    notes.push(
      `${at} has trained ${now.lanes} of ${best.lanes} lanes: check its seat, its riser, and lane sharing in firmware.`,
    )
  if (now.gen < best.gen)
    notes.push(
      isGpu(found)
        ? `${at} is at Gen${now.gen}: an idle GPU lowers its link speed. Check again under load.`
        : `${at} is at Gen${now.gen}, but both ends support Gen${best.gen}: the link trained slower, or firmware limits it.`,
    )
  return notes
}

/** A GPU's slot and its neighbour often share one slot's lanes: ports of one device number indicate that. */
function sharedLanes(machine: Machine, found: PciFunction): string[] {
  const port = found.parent === undefined ? undefined : functionAt(machine, found.parent)
  const lanes = port && maxOf(port)?.lanes
  if (!isGpu(found) || port?.kind !== 'root-port' || lanes === undefined || lanes >= 16) return []
  if (lanesOf(machine, found.address).of !== 'cpu') return []
  const device = port.address.slice(0, -2)
  const others = machine.functions.filter(
    ({ kind, address }) => kind === 'root-port' && address !== port.address && address.startsWith(device),
  )
  return others.map((other) => {
    const [first, second] = [port.address, other.address].sort().map(shortAddress)
    return `${first} and ${second} probably share the 16 lanes of one slot (bifurcation).`
  })
}

function isLess(a: LinkShape, b: LinkShape): boolean {
  return a.gen < b.gen || a.lanes < b.lanes
}
