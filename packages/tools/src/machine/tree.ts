import { isKnown } from './known.js'
import type { Machine } from './machine.js'
import type { LinkShape, PciFunction } from './pci-function.js'

/** A function with the functions below it. */
export interface Branch {
  readonly found: PciFunction
  readonly behind: readonly Branch[]
}

/** Returns the functions below each host bridge as trees. */
export function treeOf({
  functions,
}: Machine): { readonly hostBridge: string; readonly branches: readonly Branch[] }[] {
  const branch = (found: PciFunction, above: ReadonlySet<string>): Branch => {
    const around = new Set([...above, found.address])
    // A manipulated copy may have a cycle.
    const below = functions.filter(({ address, parent }) => parent === found.address && !around.has(address))
    return { found, behind: below.map((inner) => branch(inner, around)) }
  }
  const addresses = new Set(functions.map(({ address }) => address))
  const tops = functions.filter(({ parent }) => parent === undefined || !addresses.has(parent))
  const hostBridges = [...new Set(tops.map(({ hostBridge }) => hostBridge))]
  return hostBridges.map((hostBridge) => ({
    hostBridge,
    branches: tops.filter((found) => found.hostBridge === hostBridge).map((found) => branch(found, new Set())),
  }))
}

export function functionAt(machine: Machine, address: string): PciFunction | undefined {
  return machine.functions.find((found) => found.address === address)
}

/** Returns the bridges above a function, the nearest first, its root port last. */
export function ancestorsOf(machine: Machine, address: string): PciFunction[] {
  const above: PciFunction[] = []
  let next = functionAt(machine, address)?.parent
  while (next !== undefined) {
    const found = functionAt(machine, next)
    if (found === undefined || above.includes(found)) break
    above.push(found)
    next = found.parent
  }
  return above
}

/** The link of a root port or downstream port is that of the function below it. */
export function hasLinkAbove({ kind }: PciFunction): boolean {
  return kind !== 'root-port' && kind !== 'switch-downstream'
}

/** Returns the best link that both ends support. */
export function bestOf(machine: Machine, found: PciFunction): LinkShape | undefined {
  const port = found.parent === undefined ? undefined : functionAt(machine, found.parent)
  const [own, other] = [maxOf(found), port && maxOf(port)]
  if (own === undefined || other === undefined) return own
  return { gen: Math.min(own.gen, other.gen), lanes: Math.min(own.lanes, other.lanes) }
}

/** Returns the best link that this end supports. */
export function maxOf({ link }: PciFunction): LinkShape | undefined {
  return isKnown(link) ? link?.max : undefined
}

/** Returns the current link; undefined if unknown. */
export function nowOf({ link }: PciFunction): LinkShape | undefined {
  return isKnown(link) && link !== undefined && isKnown(link.now) ? link.now : undefined
}
