import { Namespace, type WritableNamespace } from '@gpunvme/host-driver'
import { LoaderError } from '../error.js'
import { describeValue, invalidArgument } from '../formats/invalid-argument.js'
import { namespaceStore } from './namespace-store.js'
import type { BlockStore, WritableBlockStore } from './store.js'

/** A source of images and models: a namespace, or any other store. */
export type Readable = Namespace | BlockStore

/** A target of `pack`. */
export type Writable = WritableNamespace | WritableBlockStore

/** Returns a store itself, or a store over a namespace. @throws LoaderError (INVALID_ARGUMENT) */
export function asStore(target: Writable): WritableBlockStore
/** Returns a store itself, or a store over a namespace. @throws LoaderError (INVALID_ARGUMENT) */
export function asStore(target: Readable): BlockStore
export function asStore(target: Readable): BlockStore {
  if (target instanceof Namespace) return namespaceStore(target)
  if (typeof target !== 'object' || (target as unknown) === null || !('blockBytes' in target) || !('read' in target)) {
    throw invalidArgument(
      'target',
      'a namespace or a block store',
      describeValue(target),
      'pass controller.namespace(1); for a file, await openFileStore(path), or await openWritableFileStore(path) to write to it',
    )
  }
  return target
}

/** Returns the store of a target of writes. @throws LoaderError (INVALID_ARGUMENT, READ_ONLY) */
export function asWritableStore(target: Writable): WritableBlockStore {
  const store = asStore(target)
  refuseReadOnly(store)
  return store
}

/** @throws LoaderError (READ_ONLY): a namespace or a file that was opened for reading has another class. */
export function refuseReadOnly(store: Partial<WritableBlockStore> & Pick<BlockStore, 'name'>): void {
  if (store.write === undefined || store.flush === undefined) throw readOnly(store)
}

/** Error of a write to a store that was opened for reading. */
export function readOnly({ name }: Pick<BlockStore, 'name'>): LoaderError {
  const headline = `Cannot write to ${name}: it was opened for reading`
  return new LoaderError('ERR_GPUNVME_READ_ONLY', 'usage', headline, {
    next: 'open the controller with { write: { serial } }; for a file, use openWritableFileStore(path)',
  })
}
