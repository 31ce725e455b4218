import { bytes, callback, flag, isRecord, optional, type Field, type Fields } from '../options.js'
import type { Media } from './media.js'

/** A capacity of at least one logical block. */
export const capacity = bytes(512)

const members: Fields<Media> = {
  capacityBytes: capacity,
  readOnly: optional(flag),
  movesData: optional(flag),
  read: callback,
  write: callback,
  deallocate: optional(callback),
  deallocatePart: optional(callback),
  flush: callback,
  close: callback,
}

/** An object with the members of `Media`; others are allowed. */
export const mediaField: Field = {
  expected: 'media, with a capacityBytes of 512 or more and the functions read, write, flush and close',
  isFit: (value) =>
    isRecord(value) &&
    Object.entries<Field>(members).every(
      ([name, { isOptional, isFit }]) => (isOptional && value[name] === undefined) || isFit(value[name]),
    ),
}
