import type { Namespace } from '@gpunvme/host-driver'
import { asStore, namespaceStore, openSet, type BlockStore, type SetProblem } from '@gpunvme/layer-loader'

export interface StoreOptions {
  /** Names of the drives in messages about a set. */
  readonly names?: readonly string[]
  /** Called with what is wrong with a set that can be used all the same. */
  readonly onSetProblem?: (problem: SetProblem) => void
  readonly signal?: AbortSignal
}

/** Returns what models lie on: one namespace, or the set that several form. @throws as `openSet` */
export async function storeOf(
  namespaces: readonly Namespace[],
  { names = [], onSetProblem, signal }: StoreOptions,
): Promise<BlockStore> {
  const [first, ...others] = namespaces
  if (first === undefined) throw new TypeError('storeOf: expected a namespace, got none')
  if (others.length === 0) return asStore(first)
  return openSet(
    namespaces.map((namespace, at) => namespaceStore(namespace, names[at])),
    { ...(onSetProblem && { onProblem: onSetProblem }), ...(signal && { signal }) },
  )
}
