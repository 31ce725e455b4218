/** `ignoreBOM` keeps a byte order mark: dropping it would make two different names equal. */
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decodes a key or name; undefined for invalid UTF-8, since replacement could make two names equal. */
export function decodeStrictUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes)
  } catch {
    return undefined
  }
}
