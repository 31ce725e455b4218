import { unknown, type Known } from '../machine/known.js'

const MAGIC = Buffer.from('~Module signature appended~\n', 'latin1')
const DESCRIPTOR_BYTES = 12
/** Maximum length of a signature; a certificate chain has some kilobytes. */
const MAX_BYTES = 1024 * 1024
const PKEY_ID_PKCS7 = 2
/** DER encoding of commonName, 2.5.4.3 (X.520 6.2.2). */
const COMMON_NAME = Buffer.from([0x06, 0x03, 0x55, 0x04, 0x03])
/** UTF8String, PrintableString, TeletexString, IA5String: readable without conversion. */
const TEXT_TAGS = [0x0c, 0x13, 0x14, 0x16]

/**
 * Returns the signer of a module: the name in the PKCS #7 message appended by scripts/sign-file (Linux,
 * include/linux/module_signature.h). The signature is not verified, which is the kernel's task.
 * @returns undefined for a file without a signature.
 */
export function signerOf(file: Buffer): Known<string> | undefined {
  const descriptorAt = file.length - MAGIC.length - DESCRIPTOR_BYTES
  if (descriptorAt < 0 || !file.subarray(-MAGIC.length).equals(MAGIC)) return undefined
  const kind = file[descriptorAt + 2]
  if (kind !== PKEY_ID_PKCS7) return unknown(`its signature is of kind ${kind}, not PKCS #7`)
  const lengthBytes = file.readUInt32BE(descriptorAt + 8)
  if (lengthBytes > MAX_BYTES || lengthBytes > descriptorAt) return unknown(`its signature claims ${lengthBytes} bytes`)
  const message = file.subarray(descriptorAt - lengthBytes, descriptorAt)
  const at = message.indexOf(COMMON_NAME) + COMMON_NAME.length
  if (at < COMMON_NAME.length) return unknown('its signature names no signer')
  const [tag = 0, textBytes = 0] = message.subarray(at)
  if (!TEXT_TAGS.includes(tag) || textBytes >= 0x80) return unknown("the signer's name has an unknown encoding")
  return message.toString('utf8', at + 2, at + 2 + textBytes)
}
