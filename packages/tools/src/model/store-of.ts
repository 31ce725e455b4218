import type { Namespace } from '@gpunvme/host-driver'
import { hasCode } from '@gpunvme/layer-loader'
import { asStore, namespaceStore, type BlockStore } from '@gpunvme/layer-loader/store'
import { openSet, type BlockSet, type SetProblem } from '@gpunvme/layer-loader/sets'

export interface StoreOptions {
  /** Names of the drives in messages about a set. */
  readonly names?: readonly string[]
  /** Called with problems of a set that is still usable. */
  readonly onSetProblem?: (problem: SetProblem) => void
  readonly signal?: AbortSignal
}

/** Member `set` of a JSON result; absent for a single drive. */
export function setOf(store: BlockStore | BlockSet) {
  if (!('setId' in store)) return {}
  const { kind, setId: id, degraded } = store
  return { set: { kind, id, degraded } }
}

/**
 * Calls `read` with the store of models: one namespace, or the set of several. A single namespace of a mirror is opened
 * as a degraded mirror: `read` is called again after its LoaderError (MEMBER_OF_SET).
 * @throws errors of `openSet`; for one namespace of a stripe LoaderError (STRIPE_MEMBER_MISSING)
 */
export async function readStore<T>(
  namespaces: readonly Namespace[],
  { names = [], onSetProblem, signal }: StoreOptions,
  read: (store: BlockStore) => Promise<T>,
): Promise<T> {
  const [first, ...others] = namespaces
  if (first === undefined) throw new TypeError('readStore: expected a namespace, got none')
  const stores = namespaces.map((namespace, at) => namespaceStore(namespace, names[at]))
  const open = () => openSet(stores, { ...(onSetProblem && { onProblem: onSetProblem }), ...(signal && { signal }) })
  if (others.length > 0) return read(await open())
  try {
    return await read(asStore(first))
  } catch (error) {
    if (!hasCode(error, 'ERR_GPUNVME_MEMBER_OF_SET')) throw error
    return read(await open())
  }
}
