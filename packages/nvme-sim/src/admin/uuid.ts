/**
 * A UUID of version 8 (RFC 9562: vendor defined contents); the same for the same drive and namespace. `generation`
 * distinguishes namespaces that had the same NSID one after the other.
 */
export function uuid(serial: string, nsid: number, generation = 0): Uint8Array {
  const bytes = new Uint8Array(16)
  for (let i = 0; i < serial.length; i++) bytes[i % 11] = (bytes[i % 11]! * 31 + serial.charCodeAt(i)) & 0xff
  const view = new DataView(bytes.buffer)
  view.setUint32(8, view.getUint32(8) + generation)
  view.setUint32(12, nsid)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes
}

/** 8-4-4-4-12 digits. */
export function uuidText(bytes: Uint8Array): string {
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
