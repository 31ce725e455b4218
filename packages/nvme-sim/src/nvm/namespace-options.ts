import { mediaField } from '../media/check.js'
import { bytes, flag, number, optional, whole, type Field, type Fields } from '../options.js'
import type { NamespaceOptions } from './namespace.js'

/** The namespace checks which block sizes and metadata sizes can be combined. */
const formatBytes = number(Number.isInteger, 'a whole number of bytes')

const identifier = (lengthBytes: number): Field => ({
  expected: `a Uint8Array of ${lengthBytes} bytes`,
  isFit: (value) => value instanceof Uint8Array && [0, lengthBytes].includes(value.length),
})

/** Valid values of each option of a namespace. */
export const namespaceFields: Fields<NamespaceOptions> = {
  nsid: optional(whole(1, 0xffff_fffe, 'an NSID from 1 to FFFFFFFEh')),
  blockBytes: optional(formatBytes),
  metadataBytes: optional(formatBytes),
  extendedLba: optional(flag),
  capacityBytes: optional(bytes(1)),
  media: optional(mediaField),
  attached: optional(flag),
  eui64: optional(identifier(8)),
  nguid: optional(identifier(16)),
}
