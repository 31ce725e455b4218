import { Namespace, type WritableNamespace } from '@gpunvme/host-driver'
import { namespaceStore } from './namespace-store.js'
import type { BlockStore, WritableBlockStore } from './store.js'

/** What holds an image or a model: a namespace of a controller, or any other store. */
export type Readable = Namespace | BlockStore

/** What a model can be packed to. */
export type Writable = WritableNamespace | WritableBlockStore

export function asStore(target: Writable): WritableBlockStore
export function asStore(target: Readable): BlockStore
export function asStore(target: Readable): BlockStore {
  return target instanceof Namespace ? namespaceStore(target) : target
}
