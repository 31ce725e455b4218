import { Namespace, type WritableNamespace } from '@gpunvme/host-driver'
import { namespaceStore } from './namespace-store.js'
import type { BlockStore, WritableBlockStore } from './store.js'

/** A source of images and models: a namespace, or any other store. */
export type Readable = Namespace | BlockStore

/** A target of `pack`. */
export type Writable = WritableNamespace | WritableBlockStore

/** Returns a store itself, or a store over a namespace. */
export function asStore(target: Writable): WritableBlockStore
/** Returns a store itself, or a store over a namespace. */
export function asStore(target: Readable): BlockStore
export function asStore(target: Readable): BlockStore {
  return target instanceof Namespace ? namespaceStore(target) : target
}
