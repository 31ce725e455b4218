/** `ignoreBOM` keeps a byte order mark as a character: dropping it would make two different names equal. */
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of a key or a name; undefined when the bytes are not UTF-8, since replacing them could make two names equal. */
export function decodeStrictUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes)
  } catch {
    return undefined
  }
}
